#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace heddle::lab::jacobi {

/// (n + 2) × (n + 2) values; rows and columns 0 and n + 1 are the boundary. Each row begins a cache
/// line, so that strips of rows share none.
class grid {
 public:
  explicit grid(int n)
      : n_(n),
        stride_((static_cast<std::size_t>(n) + 2 + per_line - 1) / per_line * per_line),
        values_(new (alignment) double[stride_ * (static_cast<std::size_t>(n) + 2)]()) {}

  [[nodiscard]] int n() const { return n_; }
  [[nodiscard]] double* row(int i) { return values_.get() + stride_ * static_cast<std::size_t>(i); }
  [[nodiscard]] const double* row(int i) const {
    return values_.get() + stride_ * static_cast<std::size_t>(i);
  }

 private:
  static constexpr std::size_t per_line = 64 / sizeof(double);
  static constexpr std::align_val_t alignment{64};
  struct freed {
    void operator()(double* values) const { operator delete[](values, alignment); }
  };

  int n_;
  std::size_t stride_;  // values from one row to the next
  std::unique_ptr<double[], freed> values_;
};

}  // namespace heddle::lab::jacobi

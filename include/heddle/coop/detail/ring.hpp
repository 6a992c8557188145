#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace heddle::coop::detail {

/// A queue of values in one array that doubles when it is full, and is kept.
///
/// Invariant: the values are those at positions [head, head + size), modulo the array's length, a
/// power of two.
template <class T>
class ring {
  static_assert(std::is_nothrow_move_constructible_v<T>,
                "a value whose move may throw could be lost; hand on a pointer to it");

 public:
  ring() = default;
  ring(const ring&) = delete;
  ring& operator=(const ring&) = delete;
  ~ring() {
    while (size_ != 0) static_cast<void>(pop());
    if (slots_ != nullptr) std::allocator<T>().deallocate(slots_, length_);
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  void push(T&& value) {
    if (size_ == length_) [[unlikely]] {
      grow();
    }
    std::construct_at(slots_ + ((head_ + size_) & (length_ - 1)), std::move(value));
    ++size_;
  }

  /// The oldest; not if there is none.
  T pop() noexcept {
    T* const oldest = slots_ + head_;
    T value(std::move(*oldest));
    std::destroy_at(oldest);
    head_ = (head_ + 1) & (length_ - 1);
    --size_;
    return value;
  }

 private:
  static constexpr std::size_t first_length = 8;

  void grow() {
    const std::size_t longer = length_ == 0 ? first_length : 2 * length_;
    T* const larger = std::allocator<T>().allocate(longer);
    const std::size_t values = size_;
    for (std::size_t i = 0; i < values; ++i) std::construct_at(larger + i, pop());
    if (slots_ != nullptr) std::allocator<T>().deallocate(slots_, length_);
    slots_ = larger;
    length_ = longer;
    head_ = 0;
    size_ = values;
  }

  T* slots_ = nullptr;
  std::size_t length_ = 0;
  std::size_t head_ = 0;
  std::size_t size_ = 0;
};

}  // namespace heddle::coop::detail

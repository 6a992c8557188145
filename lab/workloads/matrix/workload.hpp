#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "harness/model.hpp"

namespace heddle::lab::matrix {

/// An n × n matrix of int as the function-tracer paper stores it, `int**`: an array of rows, each
/// an array of its own ("use int** instead of vector<vector<int>>").
class square {
 public:
  explicit square(int n);
  ~square();
  square(const square&) = delete;
  square& operator=(const square&) = delete;

  [[nodiscard]] int** rows() const { return rows_; }
  [[nodiscard]] int size() const { return n_; }

 private:
  int n_;
  int** rows_;
};

/// The unit that is computed between two suspensions.
enum class grain : std::uint8_t {
  element,  ///< an element, by a loop in the coroutine's own body, as the source does it
  dot,      ///< an element, by an ordinary function that the coroutine calls
  row,      ///< a row, its elements by that function
  block,    ///< problem::block_rows rows, by a kernel that keeps to the caches
};

/// C = A · B for n × n matrices of small integers; the paper's pseudo code computes each element as
/// a sum over k, i, j, k in that order.
///
/// The Euro-Par paper's MM is the same on one processor: `concurrent` beside the cooperative
/// models; on two, `concurrent/groups` beside `parallel`.
///
/// Models that never suspend compute the same with the same code: elements in their own bodies, or
/// by the function that coroutines call, or blocked.
class problem {
 public:
  static constexpr std::string_view name = "matrix";
  static std::vector<parameter> declare();
  static parameters small(const parameters& values);

  explicit problem(const parameters& values);

  [[nodiscard]] int n() const { return a.size(); }
  /// Number of threads, goroutines or strands that divide the rows among them.
  [[nodiscard]] int threads() const { return threads_; }
  [[nodiscard]] grain unit() const { return unit_; }
  [[nodiscard]] int groups() const { return groups_; }
  /// The group of strand `i` of threads().
  [[nodiscard]] std::size_t group_of(int i) const {
    return static_cast<std::size_t>(i * groups_ / threads_);
  }
  [[nodiscard]] std::int64_t slice_ns() const { return slice_ns_; }
  /// Rows a unit has, where it has whole rows.
  [[nodiscard]] int unit_rows() const { return unit_ == grain::block ? block_rows : 1; }
  /// Units that all strands together compute.
  [[nodiscard]] std::uint64_t units() const;

  /// Compares all elements with a product computed otherwise up to full_check_limit, above that
  /// checks A · (B · r) = C · r for random vectors r (Freivalds): a wrong C passes each with a
  /// probability below one in a million.
  [[nodiscard]] verdict check() const;
  /// The result is a digest of the product, row by row.
  void report(const region& timed, results& out, const rerun& again) const;

  static constexpr int full_check_limit = 128;
  static constexpr int block_rows = 32;

  square a;
  square b;
  square c;

 private:
  int threads_;
  grain unit_;
  std::uint64_t seed_;
  int groups_;
  std::int64_t slice_ns_;
};

}  // namespace heddle::lab::matrix

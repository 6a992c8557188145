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

/// C = A · B for n × n matrices of small integers; the paper's pseudo code computes each element as
/// a sum over k, i, j, k in that order.
class problem {
 public:
  static constexpr std::string_view name = "matrix";
  static std::vector<parameter> declare();
  static parameters small(const parameters& values);

  explicit problem(const parameters& values);

  [[nodiscard]] int n() const { return a.size(); }
  /// For models that use threads: how many.
  [[nodiscard]] int threads() const { return threads_; }

  /// Compares all elements with a product computed otherwise up to full_check_limit, above that
  /// checks A · (B · r) = C · r for random vectors r (Freivalds): a wrong C passes each with a
  /// probability below one in a million.
  [[nodiscard]] verdict check() const;

  static constexpr int full_check_limit = 128;

  square a;
  square b;
  square c;

 private:
  int threads_;
  std::uint64_t seed_;
};

}  // namespace heddle::lab::matrix

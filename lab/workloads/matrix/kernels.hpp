#pragma once

#include <algorithm>

#include "workloads/matrix/workload.hpp"

// The computations of the models' units except `element`, compiled with each program's flags; not
// inlined, so that all models of a program run the same instructions.
namespace heddle::lab::matrix {

/// Row i of A times column j of B.
[[gnu::noinline]] inline int dot(const problem& work, int i, int j) {
  const int* const row = work.a.rows()[i];
  int* const* const b = work.b.rows();
  const int n = work.n();
  int sum = 0;
  for (int k = 0; k < n; ++k) sum += row[k] * b[k][j];
  return sum;
}

/// Rows `first … last - 1` of the product, in tiles that stay in the caches: the innermost loop
/// walks along a row of B and one of C, never down a column.
[[gnu::noinline]] inline void multiply_blocked(const problem& work, int first, int last) {
  constexpr int tile_k = 64;   // rows of B at a time: 64 × 512 ints are 128 KB
  constexpr int tile_j = 512;  // columns
  const int n = work.n();
  for (int i = first; i < last; ++i) std::fill_n(work.c.rows()[i], n, 0);
  for (int k0 = 0; k0 < n; k0 += tile_k) {
    const int k1 = std::min(n, k0 + tile_k);
    for (int j0 = 0; j0 < n; j0 += tile_j) {
      const int j1 = std::min(n, j0 + tile_j);
      for (int i = first; i < last; ++i) {
        const int* const a = work.a.rows()[i];
        int* const c = work.c.rows()[i];
        for (int k = k0; k < k1; ++k) {
          const int factor = a[k];
          const int* const b = work.b.rows()[k];
          for (int j = j0; j < j1; ++j) c[j] += factor * b[j];
        }
      }
    }
  }
}

/// Rows `first … last - 1`, each element by dot(), or all blocked.
[[gnu::noinline]] inline void multiply_rows(const problem& work, int first, int last) {
  if (work.unit() == grain::block) {
    multiply_blocked(work, first, last);
    return;
  }
  for (int i = first; i < last; ++i) {
    for (int j = 0; j < work.n(); ++j) work.c.rows()[i][j] = dot(work, i, j);
  }
}

/// The rows that strand `i` of `strands` computes: blocks differ by one row at most; with more
/// strands than rows, some are empty.
struct share {
  share(const problem& work, int i, int strands)
      : first(bound(work.n(), i, strands)), last(bound(work.n(), i + 1, strands)) {}

  int first;
  int last;

 private:
  static int bound(int n, int i, int strands) {
    return static_cast<int>(static_cast<std::int64_t>(n) * i / strands);
  }
};

}  // namespace heddle::lab::matrix

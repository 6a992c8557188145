#pragma once

#include "workloads/matrix/kernels.hpp"

namespace heddle::lab::matrix {

template <class Between>
void by_element(int** a, int** b, int** c, int n, share mine, const Between& between) {
  for (int i = mine.first; i < mine.last; ++i) {
    for (int j = 0; j < n; ++j) {
      int sum = 0;
      for (int k = 0; k < n; ++k) sum += a[i][k] * b[k][j];
      c[i][j] = sum;
      between();
    }
  }
}

template <class Between>
void by_dot(const problem& work, share mine, const Between& between) {
  for (int i = mine.first; i < mine.last; ++i) {
    for (int j = 0; j < work.n(); ++j) {
      work.c.rows()[i][j] = dot(work, i, j);
      between();
    }
  }
}

template <class Between>
void by_rows(const problem& work, share mine, const Between& between) {
  for (int i = mine.first; i < mine.last; i += work.unit_rows()) {
    multiply_rows(work, i, std::min(i + work.unit_rows(), mine.last));
    between();
  }
}

/// The body of a fiber that calls `between()` after each unit.
template <class Between>
void multiply(const problem& work, share mine, const Between& between) {
  switch (work.unit()) {
    case grain::element:
      return by_element(work.a.rows(), work.b.rows(), work.c.rows(), work.n(), mine, between);
    case grain::dot:
      return by_dot(work, mine, between);
    case grain::row:
    case grain::block:
      return by_rows(work, mine, between);
  }
}

}  // namespace heddle::lab::matrix

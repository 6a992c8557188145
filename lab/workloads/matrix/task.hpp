#pragma once

#include "heddle/coop/task.hpp"
#include "heddle/coop/yield.hpp"
#include "workloads/matrix/kernels.hpp"

namespace heddle::lab::matrix {

inline coop::task<> by_element(int** a, int** b, int** c, int n, share mine) {
  for (int i = mine.first; i < mine.last; ++i) {
    for (int j = 0; j < n; ++j) {
      int sum = 0;
      for (int k = 0; k < n; ++k) sum += a[i][k] * b[k][j];
      c[i][j] = sum;
      co_await coop::yield();
    }
  }
}

inline coop::task<> by_dot(const problem& work, share mine) {
  for (int i = mine.first; i < mine.last; ++i) {
    for (int j = 0; j < work.n(); ++j) {
      work.c.rows()[i][j] = dot(work, i, j);
      co_await coop::yield();
    }
  }
}

inline coop::task<> by_rows(const problem& work, share mine) {
  for (int i = mine.first; i < mine.last; i += work.unit_rows()) {
    multiply_rows(work, i, std::min(i + work.unit_rows(), mine.last));
    co_await coop::yield();
  }
}

/// The body of a stackless strand; it lets the others run after each unit.
inline coop::task<> multiply(const problem& work, share mine) {
  switch (work.unit()) {
    case grain::element:
      return by_element(work.a.rows(), work.b.rows(), work.c.rows(), work.n(), mine);
    case grain::dot:
      return by_dot(work, mine);
    case grain::row:
    case grain::block:
      break;
  }
  return by_rows(work, mine);
}

}  // namespace heddle::lab::matrix

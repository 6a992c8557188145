// The article's product of matrices by threads (3.2.1), as it was first written: vectors of
// vectors, rows in blocks, one block a thread.
#include <vector>

#include "teams.h"

namespace models {

constexpr int n = 16;
constexpr int threads = 4;
using square = std::vector<std::vector<int>>;

struct matrices {
  square a, b, c;
};

void fill(square& rows, int seed) {
  for (int i = 0; i < n; ++i) {
    std::vector<int> row;
    for (int j = 0; j < n; ++j) row.push_back((i * 7 + j * 3 + seed) % 100);
    rows.push_back(row);
  }
}

int element(const square& a, const square& b, int i, int j) {
  int sum = 0;
  for (int k = 0; k < n; ++k) sum += a[i][k] * b[k][j];
  return sum;
}

std::uint64_t multiply_block(matrices& all, int block) {
  const int rows = n / threads;
  std::uint64_t sum = 0;
  for (int i = block * rows; i < (block + 1) * rows; ++i) {
    for (int j = 0; j < n; ++j) {
      all.c[i][j] = element(all.a, all.b, i, j);
      sum += static_cast<std::uint64_t>(all.c[i][j]);
    }
  }
  return sum;
}

std::uint64_t product(int seed) {
  matrices all;
  fill(all.a, seed);
  fill(all.b, seed + 1);
  all.c = square(n, std::vector<int>(n));
  return teams::run(all, threads, &multiply_block);
}

}  // namespace models

// Not recorded itself: all recorded calls are those in the namespace, and what these call.
__attribute__((no_instrument_function)) uint64_t work(long rounds) {
  uint64_t sum = 0;
  for (long i = 0; i < rounds; ++i) sum += models::product(static_cast<int>(i % 10));
  return sum;
}

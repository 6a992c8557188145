// A product of two small matrices, on vectors of vectors, as it was first written: unoptimised,
// each subscript is a call.
#include <vector>

#include "work.h"

namespace models {

constexpr int n = 20;
using square = std::vector<std::vector<int>>;

square make() { return square(n, std::vector<int>(n)); }

void fill(square& rows, int seed) {
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) rows[i][j] = (i * 7 + j * 3 + seed) % 100;
  }
}

void multiply(const square& a, const square& b, square& c) {
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      int sum = 0;
      for (int k = 0; k < n; ++k) sum += a[i][k] * b[k][j];
      c[i][j] = sum;
    }
  }
}

}  // namespace models

// Not recorded itself: all recorded calls are those in the namespace, and what these call.
__attribute__((no_instrument_function)) uint64_t work(long rounds) {
  models::square a = models::make();
  models::square b = models::make();
  models::square c = models::make();
  models::fill(a, 1);
  models::fill(b, 2);
  uint64_t sum = 0;
  for (long i = 0; i < rounds; ++i) {
    models::multiply(a, b, c);
    sum += static_cast<uint64_t>(c[i % models::n][0]);
  }
  return sum;
}

// A product of two small matrices, on arrays of arrays: "use int** instead of vector<vector<int>>".
#include "work.h"

namespace models {

constexpr int n = 20;

int** make() {
  int** const rows = new int*[n];
  for (int i = 0; i < n; ++i) rows[i] = new int[n]();
  return rows;
}

void remove(int** rows) {
  for (int i = 0; i < n; ++i) delete[] rows[i];
  delete[] rows;
}

void fill(int** rows, int seed) {
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) rows[i][j] = (i * 7 + j * 3 + seed) % 100;
  }
}

void multiply(int** a, int** b, int** c) {
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
  int** const a = models::make();
  int** const b = models::make();
  int** const c = models::make();
  models::fill(a, 1);
  models::fill(b, 2);
  uint64_t sum = 0;
  for (long i = 0; i < rounds; ++i) {
    models::multiply(a, b, c);
    sum += static_cast<uint64_t>(c[i % models::n][0]);
  }
  models::remove(a);
  models::remove(b);
  models::remove(c);
  return sum;
}

// Compiled functions whose results and arguments are in every kind of register there is, a tail
// call among them: none may be changed between the caller and the callee.
#include <complex.h>
#include <immintrin.h>
#include <stdarg.h>

#define CALLED __attribute__((noipa))

struct pair {
  long whole;
  double part;
};
struct large {
  long words[8];
};

CALLED double a_double(double x) { return x * 2; }
CALLED long double a_long_double(long double x) { return x / 3; }
CALLED double complex a_complex(double x) { return x + 2 * x * I; }
CALLED __int128 a_wide(long x) { return (__int128)x << 64 | x; }
CALLED struct pair a_pair(long x) { return (struct pair){x, x / 2.0}; }
CALLED struct large a_large(long x) { return (struct large){{x, 1, 2, 3, 4, 5, 6, x}}; }
CALLED int a_sign(long x) { return x < 0 ? -1 : x > 0; }
CALLED double many(long a, long b, long c, long d, long e, long f, double h, double i, float j) {
  return (double)(a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f) + h + i + j;
}
CALLED double tail(double h, double i, float j) { return many(1, 2, 3, 4, 5, 6, h, i, j); }
CALLED double sum(int count, ...) {
  va_list all;
  va_start(all, count);
  double total = 0;
  for (int i = 0; i < count; i++) total += va_arg(all, double);
  va_end(all);
  return total;
}
__attribute__((noipa, target("avx"))) __m256d a_vector(__m256d x) { return _mm256_add_pd(x, x); }

__attribute__((target("avx"), noipa)) int vectors(void) {
  const __m256d twice = a_vector(_mm256_set_pd(1, 2, 3, 4));
  double out[4];
  _mm256_storeu_pd(out, twice);
  return out[0] == 8 && out[1] == 6 && out[2] == 4 && out[3] == 2;
}

int main(void) {
  for (int i = 1; i <= 20000; i++) {
    const struct large large = a_large(i);
    const int good = a_double(i) == 2.0 * i && a_long_double(i) == (long double)i / 3 &&
                     cimag(a_complex(i)) == 2.0 * i && a_wide(i) == ((__int128)i << 64 | i) &&
                     a_pair(i).part == i / 2.0 && large.words[0] == i && large.words[7] == i &&
                     a_sign(-i) == -1 && tail(i, .5, .25f) == 91 + i + .75 &&
                     sum(3, 1.0, 2.0, (double)i) == 3.0 + i;
    if (!good || (__builtin_cpu_supports("avx") && !vectors())) return 1;
  }
  return 0;
}

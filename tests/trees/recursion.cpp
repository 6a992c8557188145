// One function that calls itself twice, and two that call each other: depth must come out right,
// not only names.
#include <cstdlib>

static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

static bool is_odd(unsigned n);
static bool is_even(unsigned n) { return n == 0 || is_odd(n - 1); }
static bool is_odd(unsigned n) { return n != 0 && is_even(n - 1); }

// The arguments come from outside, so that the compiler cannot work the answers out.
int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 5;
  return fib(n) == 5 && is_even(static_cast<unsigned>(n) + 1) ? 0 : 1;
}

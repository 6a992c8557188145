// Exceptions out of calls that have no arguments on the stack, caught where the next call has some:
// that one's return address is below theirs, and they have no exit of their own.
static volatile long sum;

static void thrower(long value) {
  sum += value;
  throw value;
}

static void passer(long value) { thrower(value + 1); }

static void many(long a, long b, long c, long d, long e, long f, long g, long h) {
  sum += a + b + c + d + e + f + g + h;
}

int main(int argc, char**) {
  for (int i = 0; i < 3; i++) {
    try {
      passer(argc);
    } catch (long) {
      sum++;
    }
    many(1, 2, 3, 4, 5, 6, 7, 8);
  }
  return sum == 3 * (36 + 2 + 1) ? 0 : 1;
}

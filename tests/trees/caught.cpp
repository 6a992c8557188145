// Exceptions leave the inner of two calls of one function, and the outer one goes on to call one
// with arguments on the stack: by -mfentry that call lies below where the inner one was.
static volatile int calls;

#define OUT_OF_LINE __attribute__((noinline))

OUT_OF_LINE static void many(int a, int b, int c, int d, int e, int f, int g, int h) {
  calls = calls + (a + b + c + d + e + f + g + h) / 36;
}

// In the inner call.
OUT_OF_LINE static void few(int a) { calls = calls + a; }

OUT_OF_LINE static void again(int inner) {
  calls = calls + 1;
  if (inner != 0) {
    few(1);
    throw inner;
  }
  try {
    again(1);
  } catch (int) {
    many(1, 2, 3, 4, 5, 6, 7, 8);
  }
  calls = calls + 1;
}

// The arguments of the recursion are on the stack, and those of what it calls are not.
OUT_OF_LINE static void deep(int left, int b, int c, int d, int e, int f, int g, int h) {
  calls = calls + 1;
  if (left != 0) deep(left - 1, b, c, d, e, f, g, h);
  few(1);
  calls = calls + (g + h) / 15;
}

int main() {
  for (volatile int i = 0; i < 3; i = i + 1) again(0);
  deep(2, 2, 3, 4, 5, 6, 7, 8);
  return calls == 24 ? 0 : 1;
}

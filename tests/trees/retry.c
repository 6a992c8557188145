// longjmp out of a function that is then called again from the same place: nothing in the trace
// tells that from a recursion whose inner call was inlined; the function's code does, for it calls
// the hook of its enter once.
#include <setjmp.h>

#define OUT_OF_LINE __attribute__((noinline))

static jmp_buf again;

OUT_OF_LINE static void attempt(int number) {
  if (number < 5) longjmp(again, 1);
}

OUT_OF_LINE static void success(void) { __asm__ volatile(""); }

int main(void) {
  volatile int number = 0;
  setjmp(again);
  number = number + 1;
  attempt(number);
  success();
}

// longjmp out of three frames, which never exit; the calls after it are back at the depth of the
// setjmp.
#include <setjmp.h>

static jmp_buf back;
static volatile int calls;

static void innermost(void) {
  calls++;
  longjmp(back, 1);
}

static void middle(void) {
  calls++;
  innermost();
}

static void outermost(void) {
  calls++;
  middle();
}

static void after(void) { calls++; }

static void jumper(void) {
  if (setjmp(back) == 0) outermost();
  after();
}

int main(void) {
  jumper();
  jumper();
  after();
  return calls == 9 ? 0 : 1;
}

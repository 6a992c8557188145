// Two signals' handlers on one alternate stack, the second within a call that the first one's
// callee has made: siglongjmp goes from there back to that callee, which makes another call.
#include <setjmp.h>

#include "signals.h"

#define OUT_OF_LINE __attribute__((noinline))

static sigjmp_buf back;
static volatile int calls;

OUT_OF_LINE static void large(int at) {
  volatile char bytes[256];
  bytes[at] = 1;
  calls += bytes[at];
}

OUT_OF_LINE static void give_up(void) {
  calls++;
  siglongjmp(back, 1);
}

static void on_second(int signal) {
  (void)signal;
  calls++;
  give_up();
}

OUT_OF_LINE static void raise_second(void) {
  calls++;
  raise(SIGUSR2);
  calls++;
}

OUT_OF_LINE static void try(void) {
  calls++;
  if (sigsetjmp(back, 1) == 0) raise_second();
  large(1);
  calls++;
}

static void on_first(int signal) {
  (void)signal;
  try();
  calls++;
}

int main(void) {
  static char bytes[1 << 16];
  handle_on(bytes, sizeof bytes);
  handle(SIGUSR2, on_second);
  handle(SIGUSR1, on_first);
  for (volatile int i = 0; i < 3; i++) raise(SIGUSR1);
  return calls == 21 ? 0 : 1;
}

// longjmp and siglongjmp out of calls whose frames are smaller than that of the next call, or that
// lie on a signal's alternate stack, which may be an array of the interrupted function: the stack
// pointer of the next call does not say that they are gone.
#include <setjmp.h>
#include <stdlib.h>

#include "signals.h"

#define OUT_OF_LINE __attribute__((noinline))

static jmp_buf back;
static sigjmp_buf back_from_signal;
static volatile int calls;

OUT_OF_LINE static void small(void) {
  calls++;
  longjmp(back, 1);
}

OUT_OF_LINE static void large(int at) {
  volatile char bytes[256];
  bytes[at] = 1;
  calls += bytes[at];
}

OUT_OF_LINE static void give_up(void) {
  calls++;
  siglongjmp(back_from_signal, 1);
}

static void on_signal(int signal) {
  (void)signal;
  calls++;
  give_up();
}

enum { kSignalStack = 1 << 16 };
static char signal_stack[kSignalStack];

OUT_OF_LINE static void handle_signals(char* bytes) {
  handle_on(bytes, kSignalStack);
  handle(SIGUSR1, on_signal);
}

int main(int argc, char** argv) {
  (void)argv;
  char room[kSignalStack];
  for (volatile int i = 0; i < 3; i++) {
    if (setjmp(back) == 0)
      small();
    else
      large(argc);
  }
  for (volatile int i = 0; i < 2; i++) {
    handle_signals(i == 0 ? signal_stack : room);
    if (sigsetjmp(back_from_signal, 1) == 0)
      raise(SIGUSR1);
    else
      large(argc);
  }
  if (calls != 12) return 1;
  // Nothing but the place of these calls shows that the last jump has left the one before.
  if (setjmp(back) == 0) small();
  large(argc);
  exit(calls == 14 ? 0 : 1);
}

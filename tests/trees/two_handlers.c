// Two signals' handlers on one alternate stack, the second within a call that the first one's
// callee has made: siglongjmp goes from there back to that callee, which makes another call.
#include <setjmp.h>
#include <signal.h>
#include <string.h>

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
  stack_t stack;
  memset(&stack, 0, sizeof stack);
  stack.ss_sp = bytes;
  stack.ss_size = sizeof bytes;
  sigaltstack(&stack, NULL);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_flags = SA_ONSTACK;
  action.sa_handler = on_second;
  sigaction(SIGUSR2, &action, NULL);
  action.sa_handler = on_first;
  sigaction(SIGUSR1, &action, NULL);
  for (volatile int i = 0; i < 3; i++) raise(SIGUSR1);
  return calls == 21 ? 0 : 1;
}

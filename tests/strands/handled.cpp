// Signals' handlers on fibers and their thread, right after one has gone to the other: each is
// called by what it interrupts (handled.tree).
#include <signal.h>
#include <ucontext.h>

#define CALLED __attribute__((noinline))

namespace {

volatile int sum;
ucontext_t scheduler;
ucontext_t fibers[2];
char stacks[2][65536];
int current;

}  // namespace

CALLED void leaf() { sum = sum + 1; }

CALLED void handler(int) {
  leaf();
  sum = sum + 1;
}

CALLED void rest() {
  for (;;) {
    swapcontext(&fibers[current], &scheduler);
    raise(SIGUSR1);
    leaf();
  }
}

CALLED void body() {
  rest();
  sum = sum + 1;
}

CALLED void serve() {
  for (int round = 0; round < 4; ++round) {
    for (current = 0; current < 2; ++current) {
      swapcontext(&scheduler, &fibers[current]);
      raise(SIGUSR1);
    }
  }
}

int main() {
  signal(SIGUSR1, handler);
  for (int i = 0; i < 2; ++i) {
    getcontext(&fibers[i]);
    fibers[i].uc_stack.ss_sp = stacks[i];
    fibers[i].uc_stack.ss_size = sizeof stacks[i];
    makecontext(&fibers[i], body, 0);
  }
  serve();
  sum = sum + 1;
}

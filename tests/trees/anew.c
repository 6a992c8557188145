// Each fiber begins where another was left, suspended in its outermost call, also on an array of a
// function.
#include <stdlib.h>
#include <ucontext.h>

#define CALLED __attribute__((noinline))

static ucontext_t scheduler, fiber;
static volatile int steps;

CALLED void first_step(void) { steps = steps + 1; }
CALLED void second_step(void) { steps = steps + 2; }

void first(void) {
  first_step();
  swapcontext(&fiber, &scheduler);
  abort();
}

void second(void) {
  second_step();
  swapcontext(&fiber, &scheduler);
  abort();
}

CALLED void run_six(char* stack, size_t bytes) {
  for (int i = 0; i < 6; i++) {
    getcontext(&fiber);
    fiber.uc_stack.ss_sp = stack;
    fiber.uc_stack.ss_size = bytes;
    fiber.uc_link = NULL;
    makecontext(&fiber, i % 2 == 0 ? first : second, 0);
    swapcontext(&scheduler, &fiber);
  }
}

CALLED void on_an_array(void) {
  char stack[1 << 16];
  run_six(stack, sizeof stack);
  steps = steps + stack[0];
}

int main(void) {
  static char stack[1 << 16];
  run_six(stack, sizeof stack);
  on_an_array();
  return 0;
}

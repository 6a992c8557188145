// A fiber whose stack is an array of main: it lies between the open calls of the thread.
#include <ucontext.h>

#define OUT_OF_LINE __attribute__((noinline))

static ucontext_t scheduler, fiber;
static volatile int calls;

OUT_OF_LINE static void step(void) {
  calls++;
  swapcontext(&fiber, &scheduler);
  calls++;
}

OUT_OF_LINE static void body(void) {
  calls++;
  step();
  step();
  calls++;
}

OUT_OF_LINE static void turn(void) {
  calls++;
  swapcontext(&scheduler, &fiber);
  calls++;
}

OUT_OF_LINE static void between(void) { calls++; }

OUT_OF_LINE static void run(char* stack, unsigned long bytes) {
  getcontext(&fiber);
  fiber.uc_stack.ss_sp = stack;
  fiber.uc_stack.ss_size = bytes;
  fiber.uc_link = &scheduler;
  makecontext(&fiber, body, 0);
  for (int i = 0; i < 3; i++) {
    turn();
    between();
  }
  calls++;
}

int main(void) {
  char stack[1 << 16];
  for (int i = 0; i < 2; i++) {
    run(stack, sizeof stack);
    between();
  }
  return calls == 2 * (2 + 4 + 6 + 4 + 1) ? 0 : 1;
}

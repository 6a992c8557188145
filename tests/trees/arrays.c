// Fibers whose stacks are arrays of main, one after another: no call of the thread ends while one
// of them is suspended, so only the record of makecontext tells that they are fibers.
#include <stdlib.h>
#include <ucontext.h>

#define OUT_OF_LINE __attribute__((noinline))

static ucontext_t scheduler, fibers[3];
static volatile int calls;

OUT_OF_LINE static void step(void) { calls++; }

OUT_OF_LINE static int compare(const void* left, const void* right) {
  calls++;
  return *(const int*)left - *(const int*)right;
}

OUT_OF_LINE static void body(void) {
  int numbers[2] = {2, 1};
  step();
  qsort(numbers, 2, sizeof *numbers, compare);
  step();
}

int main(void) {
  char stacks[3][1 << 15];
  for (int i = 0; i < 3; i++) {
    getcontext(&fibers[i]);
    fibers[i].uc_stack.ss_sp = stacks[i];
    fibers[i].uc_stack.ss_size = sizeof stacks[i];
    fibers[i].uc_link = &scheduler;
    makecontext(&fibers[i], body, 0);
  }
  int numbers[2] = {2, 1};
  for (int i = 0; i < 3; i++) {
    swapcontext(&scheduler, &fibers[i]);
    qsort(numbers, 2, sizeof *numbers, compare);
  }
  return calls == 3 * (2 + 1 + 1) ? 0 : 1;
}

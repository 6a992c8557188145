/* The FiberContext API, from C. */
#include <heddle/coop/context/fiber_context.h>
#include <stdio.h>

static struct FiberContext* scheduler;
static struct FiberContext* fiber;
static int turns;

static void count(void) {
  for (;;) {
    ++turns;
    FiberContextSwitchTo(fiber, scheduler);
  }
}

int main(void) {
  scheduler = FiberContextNewBlank();
  fiber = FiberContextNew(count, 64 * 1024);
  if (scheduler == NULL || fiber == NULL) {
    puts(FiberContextError());
    return 1;
  }
  for (int i = 0; i < 10; ++i) FiberContextSwitchTo(scheduler, fiber);
  FiberContextDelete(fiber);
  FiberContextDelete(scheduler);
  printf("fiber_context: %s\n", turns == 10 ? "ok" : "a turn is missing");
  return 0;
}

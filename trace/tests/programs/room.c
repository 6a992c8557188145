// usage: room LIBRARY
// Makes calls on a fiber's stack: the first of all, many, one after a while, and some after it has
// loaded LIBRARY. Prints for each of the four how many bytes below the calling function's frame
// address were written.
// LIBRARY must make no call when it is loaded: the hooks would look for the new module there, on
// the main stack.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#include "shape.h"

enum { kBytes = 65536, kUnused = 0xa5 };

static unsigned char stack[kBytes] __attribute__((aligned(16)));
static volatile uintptr_t below;
static volatile int times;
static ucontext_t scheduler, fiber;

CALL static void leaf(void) { __asm__ volatile(""); }

PLAIN static void call(void) {
  for (;;) {
    below = (uintptr_t)__builtin_frame_address(0);
    for (int i = 0; i < times; i++) leaf();
    swapcontext(&fiber, &scheduler);
  }
}

PLAIN static void print(const char* when, int calls) {
  // All but the frames of call() and swapcontext, where the fiber waits.
  const size_t frames = 256;
  if (below != 0) memset(stack, kUnused, below - frames - (uintptr_t)stack);
  times = calls;
  swapcontext(&scheduler, &fiber);
  size_t unused = 0;
  while (unused < kBytes && stack[unused] == kUnused) unused++;
  printf("%s %zu\n", when, (size_t)(below - (uintptr_t)(stack + unused)));
}

PLAIN int main(int argc, char** argv) {
  if (argc < 2 || getcontext(&fiber) != 0) return 2;
  memset(stack, kUnused, kBytes);
  fiber.uc_stack.ss_sp = stack;
  fiber.uc_stack.ss_size = kBytes;
  makecontext(&fiber, call, 0);
  print("first", 1);
  print("many", 300000);
  const struct timespec some = {0, 100000000};
  nanosleep(&some, NULL);
  print("later", 1);
  if (dlopen(argv[1], RTLD_NOW) == NULL) return 1;
  print("loaded", 100);
  return 0;
}

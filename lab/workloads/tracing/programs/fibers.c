/* A hundred thousand fibers over swapcontext, all of them alive: in each round every one goes on,
 * makes a few calls and switches back.
 *
 * Nothing tells the recorder which stack is whose.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "work.h"

enum { fibers = 100000, stack_bytes = 8192 };

static _Thread_local ucontext_t scheduler;
static _Thread_local ucontext_t* all;
static _Thread_local long running;
static _Thread_local uint64_t sum;

static __attribute__((noinline)) uint64_t leaf(uint64_t x) {
  __asm__ volatile("" : "+r"(x));
  return x * 2654435761u;
}

static __attribute__((noinline)) uint64_t step(uint64_t x) {
  uint64_t mixed = x;
  for (int i = 0; i < 4; ++i) mixed ^= leaf(mixed + (uint64_t)i);
  return mixed;
}

static __attribute__((noinline)) void pass(void) { swapcontext(&all[running], &scheduler); }

static void fiber(void) {
  for (;;) {
    sum += step((uint64_t)running);
    pass();
  }
}

static __attribute__((noinline)) void resume(long which) {
  running = which;
  swapcontext(&scheduler, &all[which]);
}

uint64_t work(long rounds) {
  const size_t bytes = (size_t)fibers * stack_bytes;
  char* const stacks =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  all = calloc(fibers, sizeof *all);
  if (stacks == MAP_FAILED || all == NULL) {
    perror("fibers: no memory for stacks");
    exit(1);
  }
  sum = 0;
  for (long i = 0; i < fibers; ++i) {
    getcontext(&all[i]);
    all[i].uc_stack.ss_sp = stacks + (size_t)i * stack_bytes;
    all[i].uc_stack.ss_size = stack_bytes;
    all[i].uc_link = NULL;
    makecontext(&all[i], fiber, 0);
  }
  for (long round = 0; round < rounds; ++round) {
    for (long i = 0; i < fibers; ++i) resume(i);
  }
  munmap(stacks, bytes);
  free(all);
  return sum;
}

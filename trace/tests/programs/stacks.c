// usage: stacks alloca|fibers|misaligned BYTES
// Calls on stacks that are far apart or small: below an alloca of so many bytes, and from two
// fibers with stacks of so many, 64 MiB apart; or on one that is misaligned. Prints its calls.
#include <alloca.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "shape.h"

static volatile long calls;
static size_t bytes;

CALL static void leaf(void) { calls++; }

CALL static void below(void) {
  calls++;
  leaf();
  volatile char* const much = alloca(bytes);
  much[0] = 1;
  for (int i = 0; i < 10; i++) leaf();
}

PLAIN static void* run(void* unused) {
  for (int i = 0; i < 100; i++) below();
  return unused;
}

static ucontext_t scheduler, fibers[2];

CALL static void switch_to(int i) {
  calls++;
  swapcontext(&fibers[1 - i], &fibers[i]);
  __asm__ volatile("");
}

CALL static void fiber(int self) {
  calls++;
  for (int i = 0; i < 5000; i++) {
    leaf();
    switch_to(1 - self);
  }
}

PLAIN static void run_fibers(void) {
  const size_t apart = 64 << 20;
  char* const memory = mmap(NULL, 2 * apart, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) abort();
  for (int i = 0; i < 2; i++) {
    char* const page_below = memory + (size_t)i * apart;
    if (mprotect(page_below, 4096, PROT_NONE) != 0) abort();
    getcontext(&fibers[i]);
    fibers[i].uc_stack.ss_sp = page_below + 4096;
    fibers[i].uc_stack.ss_size = bytes;
    fibers[i].uc_link = &scheduler;
    makecontext(&fibers[i], (void (*)(void))fiber, 1, i);
  }
  swapcontext(&scheduler, &fibers[0]);
}

CALL static void misaligned(void) {
  calls++;
  for (int i = 0; i < 100000; i++) leaf();
}

// The ABI wants a stack on a 16-byte boundary where a call is made. Programs that switch by code of
// their own may break that, and run.
PLAIN static void run_misaligned(void) {
  char* const memory = aligned_alloc(16, bytes);
  if (memory == NULL) abort();
  char* stack = memory + bytes - 8;
  __asm__ volatile(
      "xchgq %%rsp, %0\n\t"
      "movq %0, %%rbx\n\t"
      "call *%1\n\t"
      "movq %%rbx, %%rsp"
      : "+r"(stack)
      : "r"(misaligned)
      : "rbx", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
  free(memory);
}

PLAIN int main(int argc, char** argv) {
  if (argc < 3) return 2;
  bytes = (size_t)atol(argv[2]);
  if (strcmp(argv[1], "fibers") == 0) {
    run_fibers();
  } else if (strcmp(argv[1], "misaligned") == 0) {
    run_misaligned();
  } else {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, bytes + (1 << 20));
    pthread_t thread;
    if (pthread_create(&thread, &attributes, run, NULL) != 0) return 1;
    pthread_join(thread, NULL);
  }
  printf("%ld\n", calls);
  return 0;
}

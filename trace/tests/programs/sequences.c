// Uses restartable sequences itself: calls, then registers an area of its own in each thread, as a
// program does that has told glibc not to (GLIBC_TUNABLES=glibc.pthread.rseq=0), and calls again.
// Prints its calls, and how many threads could register.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shape.h"

static volatile long calls;
static int registered;

struct Area {
  uint32_t cpu_id_start, cpu_id;
  uint64_t sequence;
  uint32_t flags, padding[3];
} __attribute__((aligned(32)));

static __thread struct Area area;

CALL static void call(void) { __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED); }

PLAIN static void* run(void* unused) {
  for (int i = 0; i < 1000; i++) call();
  if (syscall(SYS_rseq, &area, sizeof area, 0, 0x53053053) == 0) {
    __atomic_fetch_add(&registered, 1, __ATOMIC_RELAXED);
  }
  for (int i = 0; i < 1000; i++) call();
  return unused;
}

PLAIN int main(void) {
  run(NULL);
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) {
    if (pthread_create(&threads[i], NULL, run, NULL) != 0) return 1;
  }
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  printf("%ld %d\n", calls, registered);
  return 0;
}

// usage: crowd THREADS AT_ONCE CALLS
// So many threads come and go, so many at once, each calling so often. Prints the calls, and by how
// many KiB and mappings the process grew from half of them to the end.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shape.h"

static int calls_each;
static long calls;
static pthread_barrier_t all;

CALL static void call(long* mine) { *(volatile long*)mine += 1; }

PLAIN static void* run(void* unused) {
  (void)unused;
  long mine = 0;
  pthread_barrier_wait(&all);  // alive at once
  for (int i = 0; i < calls_each; i++) call(&mine);
  pthread_barrier_wait(&all);
  __atomic_fetch_add(&calls, mine, __ATOMIC_RELAXED);
  return NULL;
}

PLAIN static long resident_kib(void) {
  FILE* file = fopen("/proc/self/status", "r");
  char line[256];
  long kib = 0;
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, "VmRSS:", 6) == 0) kib = atol(line + 6);
  }
  if (file != NULL) fclose(file);
  return kib;
}

PLAIN static long mappings(void) {
  FILE* file = fopen("/proc/self/maps", "r");
  char line[8192];
  long count = 0;
  while (file != NULL && fgets(line, sizeof line, file) != NULL) count++;
  if (file != NULL) fclose(file);
  return count;
}

PLAIN int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const int threads = atoi(argv[1]), at_once = atoi(argv[2]);
  calls_each = atoi(argv[3]);
  pthread_barrier_init(&all, NULL, (unsigned)at_once);
  pthread_t* const crowd = calloc((size_t)at_once, sizeof *crowd);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 65536);
  long kib = 0, maps = 0;
  for (int begun = 0; begun < threads; begun += at_once) {
    for (int i = 0; i < at_once; i++) {
      if (pthread_create(&crowd[i], &attributes, run, NULL) != 0) return 1;
    }
    for (int i = 0; i < at_once; i++) pthread_join(crowd[i], NULL);
    if (kib == 0 && begun >= threads / 2) {
      kib = resident_kib();
      maps = mappings();
    }
  }
  free(crowd);
  printf("%ld %ld %ld\n", calls, resident_kib() - kib, mappings() - maps);
  return 0;
}

/* What every traced program shares. Compiled without hooks, so that all recorded calls are the
 * work's.
 *
 *   PROGRAM THREADS ROUNDS
 *
 * runs work(ROUNDS) on each of THREADS threads at once and prints
 *
 *   CPU-ns WALL-ns RESULT
 *
 * processor time of the threads together, time from the first start to the last end, and the sum
 * of what work() returned.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "work.h"

enum { most_threads = 256 };

struct share {
  pthread_t thread;
  long rounds;
  uint64_t begin_ns, end_ns, cpu_ns;
  uint64_t result;
};

static pthread_barrier_t start;

/* Called where a thread's work ends, by a library of hooks that keeps something for each thread. */
__attribute__((weak)) void lab_thread_ends(void);

static uint64_t now_ns(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint64_t inner_cpu_ns;

void lab_inner_thread_ends(void) {
  __atomic_fetch_add(&inner_cpu_ns, now_ns(CLOCK_THREAD_CPUTIME_ID), __ATOMIC_RELAXED);
  if (lab_thread_ends != NULL) lab_thread_ends();
}

static void* run(void* argument) {
  struct share* const mine = argument;
  pthread_barrier_wait(&start);
  mine->begin_ns = now_ns(CLOCK_MONOTONIC);
  const uint64_t cpu_before = now_ns(CLOCK_THREAD_CPUTIME_ID);
  mine->result = work(mine->rounds);
  mine->cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_before;
  mine->end_ns = now_ns(CLOCK_MONOTONIC);
  if (lab_thread_ends != NULL) lab_thread_ends();
  return NULL;
}

static long number(const char* text, long most) {
  char* end = NULL;
  errno = 0;
  const long value = strtol(text, &end, 10);
  if (errno != 0 || end == text || *end != '\0' || value < 1 || value > most) {
    fprintf(stderr, "error: `%s`: expected 1 … %ld\n", text, most);
    exit(2);
  }
  return value;
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s THREADS ROUNDS\n", argv[0]);
    return 2;
  }
  static struct share shares[most_threads];
  const long threads = number(argv[1], most_threads);
  const long rounds = number(argv[2], 1000000000);
  pthread_barrier_init(&start, NULL, (unsigned)threads);
  for (long i = 0; i < threads; ++i) {
    shares[i].rounds = rounds;
    if (pthread_create(&shares[i].thread, NULL, run, &shares[i]) != 0) {
      fprintf(stderr, "error: no thread could be made\n");
      return 1;
    }
  }
  struct share sum = {.begin_ns = UINT64_MAX};
  for (long i = 0; i < threads; ++i) {
    const struct share* const each = &shares[i];
    pthread_join(each->thread, NULL);
    if (each->begin_ns < sum.begin_ns) sum.begin_ns = each->begin_ns;
    if (each->end_ns > sum.end_ns) sum.end_ns = each->end_ns;
    sum.cpu_ns += each->cpu_ns;
    sum.result += each->result;
  }
  sum.cpu_ns += inner_cpu_ns;
  printf("%llu %llu %llu\n", (unsigned long long)sum.cpu_ns,
         (unsigned long long)(sum.end_ns - sum.begin_ns), (unsigned long long)sum.result);
  return 0;
}

// planted --model=MODEL: threads whose time goes where the model says, as a lab program.
// planted --two COMMAND …: runs a command on two processors.
#define _GNU_SOURCE
#include <heddle/trace.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kMost = 8 };

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long side_by_side[kMost];

static long long now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

// Processor time of the thread: what it waits for a processor does not shorten its work.
static void work(long long ns) {
  const long long end = now(CLOCK_THREAD_CPUTIME_ID) + ns;
  while (now(CLOCK_THREAD_CPUTIME_ID) < end) {
  }
}

static void* lock(void* nothing) {
  for (int i = 0; i < 20; ++i) {
    pthread_mutex_lock(&one);
    work(500000);
    pthread_mutex_unlock(&one);
  }
  return nothing;
}

static void* oversubscription(void* nothing) {
  work(20000000);
  return nothing;
}

static void* sharing(void* slot) {
  volatile unsigned long* const own = slot;
  for (int i = 0; i < 2000000; ++i) *own = *own + 1;
  return NULL;
}

static void* asleep(void* nothing) {
  for (int i = 0; i < 10; ++i) usleep(5000);
  return nothing;
}

// Blocks of several sizes, some of which outlive others, by all threads at once.
static void* allocation(void* nothing) {
  enum { kKept = 64 };
  static const size_t sizes[] = {24, 2000, 72, 15000, 400, 90000};
  void* volatile kept[kKept] = {NULL};
  for (unsigned i = 0; i < 800000; ++i) {
    const unsigned place = i * 7 % kKept;
    free(kept[place]);
    kept[place] = malloc(sizes[i % (sizeof sizes / sizeof sizes[0])]);
  }
  for (unsigned i = 0; i < kKept; ++i) free(kept[i]);
  return nothing;
}

static const struct model {
  const char* name;
  int threads;
  void* (*run)(void*);
} models[] = {{"lock", kMost, lock},
              {"oversubscription", kMost, oversubscription},
              {"allocation", 2, allocation},
              {"sharing", 2, sharing},
              {"asleep", 2, asleep}};

// At most two processors, so that eight threads are more than there are.
static void stay_on_two(void) {
  cpu_set_t all, two;
  sched_getaffinity(0, sizeof all, &all);
  CPU_ZERO(&two);
  for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&two) < 2; ++i) {
    if (CPU_ISSET(i, &all)) CPU_SET(i, &two);
  }
  sched_setaffinity(0, sizeof two, &two);
}

int main(int argc, char** argv) {
  if (argc > 2 && strcmp(argv[1], "--two") == 0) {
    stay_on_two();
    execvp(argv[2], argv + 2);
    return 127;
  }
  const char* const wanted = argc == 2 ? strchr(argv[1], '=') : NULL;
  for (size_t i = 0; i < sizeof models / sizeof models[0]; ++i) {
    const struct model* const model = &models[i];
    if (wanted == NULL || strcmp(wanted + 1, model->name) != 0) continue;
    stay_on_two();
    // The recorder makes its files at the first; the latest counts.
    heddle_mark("heddle: measured from here");
    heddle_mark("heddle: measured from here");
    const long long begin = now(CLOCK_MONOTONIC);
    pthread_t threads[kMost];
    // This thread is one of them, so that no more can run than the model says.
    for (int t = 1; t < model->threads; ++t) {
      pthread_create(&threads[t], NULL, model->run, (void*)&side_by_side[t]);
    }
    model->run((void*)&side_by_side[0]);
    for (int t = 1; t < model->threads; ++t) pthread_join(threads[t], NULL);
    const long long end = now(CLOCK_MONOTONIC);
    heddle_mark("heddle: measured to here");
    printf("{\"model\":\"%s\",\"oracle\":{\"ok\":true},\"metrics\":{\"wall_ns\":%lld}}\n",
           model->name, end - begin);
    return 0;
  }
  fprintf(stderr, "error: expected --model=MODEL\n");
  return 2;
}

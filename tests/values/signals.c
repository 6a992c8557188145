// signals CALLS: two threads call `work` so often, which takes a mutex now and then, under a fast
// timer whose handler is hooked and returns. Prints how often each function was called.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long calls, signals, taken;

__attribute__((noinline)) int work(int number, const char* text) {
  __asm__ volatile("" : : "r"(text) : "memory");
  return number + 1;
}

__attribute__((noinline)) void take(int number) {
  pthread_mutex_lock(&mutex);
  taken += number;
  pthread_mutex_unlock(&mutex);
}

__attribute__((noinline)) void on_signal(int number) {
  __asm__ volatile("" : : "r"(number) : "memory");
  __atomic_fetch_add(&signals, 1, __ATOMIC_RELAXED);
}

void* run(void* unused) {
  for (long i = 0; i < calls; ++i) {
    work((int)i, "some text");
    if (i % 64 == 0) take(1);
  }
  return unused;
}

int main(int count, char** arguments) {
  calls = count > 1 ? atol(arguments[1]) : 1000;
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, NULL);
  timer_t timer;
  timer_create(CLOCK_MONOTONIC, NULL, &timer);
  const struct itimerspec often = {{0, 50000}, {0, 50000}}, never = {{0, 0}, {0, 0}};
  timer_settime(timer, 0, &often, NULL);
  pthread_t other;
  pthread_create(&other, NULL, run, NULL);
  run(NULL);
  pthread_join(other, NULL);
  timer_settime(timer, 0, &never, NULL);
  signal(SIGALRM, SIG_IGN);  // one may be on its way
  printf("main 1\non_signal %ld\nrun 2\ntake %ld\nwork %ld\n", signals, taken, 2 * calls);
  return 0;
}

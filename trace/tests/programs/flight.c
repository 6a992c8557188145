// usage: flight CALLS [SIGNAL]
// Makes so many calls of early(), then of late(), and takes a snapshot after each: by the API, or
// by sending itself a signal. Then calls last() as often, in two threads, and is killed.
#include <heddle/trace.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define PLAIN __attribute__((no_instrument_function))

static void early(void) {}
static void late(void) {}
static void last(void) {}

PLAIN static void snapshot(int signal) {
  if (signal != 0) {
    kill(getpid(), signal);
  } else if (heddle_snapshot() != 0) {
    _exit(1);
  }
}

// Each thread has its buffer before the other ends, which would leave it its own.
static pthread_barrier_t both;

PLAIN static void* thread(void* calls) {
  last();
  pthread_barrier_wait(&both);
  for (long i = 1; i < (long)calls; i++) last();
  return NULL;
}

PLAIN int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const long calls = atol(argv[1]);
  const int signal = argc > 2 ? atoi(argv[2]) : 0;
  for (long i = 0; i < calls; i++) early();
  snapshot(signal);
  for (long i = 0; i < calls; i++) late();
  snapshot(signal);
  pthread_t two[2];
  pthread_barrier_init(&both, NULL, 2);
  for (int i = 0; i < 2; i++) pthread_create(&two[i], NULL, thread, (void*)calls);
  for (int i = 0; i < 2; i++) pthread_join(two[i], NULL);
  kill(getpid(), SIGKILL);
}

// usage: cancelled deferred|asynchronous|exit THREADS
// Threads are cancelled inside their calls, at a cancellation point or at any instruction, or end
// themselves there. Then the main thread calls once for each. Prints the calls that were counted: a
// thread may have entered one that it could not count any more.
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "shape.h"

static int how;
static volatile long calls;
static volatile int never;

CALL static void deeper(int depth) {
  calls++;
  if (depth > 0) {
    deeper(depth - 1);
  } else if (how == 'd') {
    pthread_testcancel();
  }
  __asm__ volatile("");  // no tail call
}

CALL static void leave(void) {
  calls++;
  pthread_exit(NULL);
}

PLAIN static void* run(void* started) {
  if (how == 'a') pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
  deeper(3);
  __atomic_store_n((int*)started, 1, __ATOMIC_RELEASE);
  if (how == 'e') leave();
  while (!never) deeper(3);
  return NULL;
}

PLAIN int main(int argc, char** argv) {
  if (argc < 3) return 2;
  how = argv[1][0];
  const int threads = atoi(argv[2]);
  for (int i = 0; i < threads; i++) {
    static int started;
    started = 0;
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, &started) != 0) return 1;
    while (!__atomic_load_n(&started, __ATOMIC_ACQUIRE)) sched_yield();
    const struct timespec while_it_calls = {0, 1000 + 997 * (i % 100)};
    nanosleep(&while_it_calls, NULL);
    if (how != 'e') pthread_cancel(thread);
    pthread_join(thread, NULL);
    deeper(0);
  }
  printf("%ld\n", calls);
  return 0;
}

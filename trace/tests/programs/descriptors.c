// Uses up all descriptors, then starts a thread that calls: no file can be made for it. Prints its
// calls.
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#define PLAIN __attribute__((no_instrument_function))

static volatile int calls;

static void call(void) { calls++; }

PLAIN static void* run(void* unused) {
  for (int i = 0; i < 1000; i++) call();
  return unused;
}

PLAIN int main(void) {
  call();
  const struct rlimit few = {64, 64};
  setrlimit(RLIMIT_NOFILE, &few);
  while (dup(STDOUT_FILENO) >= 0) continue;
  pthread_t thread;
  if (pthread_create(&thread, NULL, run, NULL) != 0) return 1;
  pthread_join(thread, NULL);
  call();
  printf("%d\n", calls);
  return 0;
}

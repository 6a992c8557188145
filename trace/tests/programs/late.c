// Calls as late as a program can: in destructors of thread-specific data made after the recorder's,
// for as many rounds as there are, and in a handler of exit. Prints the number of calls before the
// last.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define PLAIN __attribute__((no_instrument_function))

static volatile int calls;
static pthread_key_t key;

static void call(void) { calls++; }

PLAIN static void on_thread_exit(void* value) {
  call();
  call();
  pthread_setspecific(key, value);
}

PLAIN static void* run(void* unused) {
  pthread_setspecific(key, &key);
  call();
  return unused;
}

PLAIN __attribute__((destructor)) static void at_the_end(void) { call(); }

PLAIN int main(void) {
  pthread_key_create(&key, on_thread_exit);
  for (int i = 0; i < 3; i++) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, NULL) != 0) return 1;
    pthread_join(thread, NULL);
  }
  printf("%d\n", calls + 1);
  return 0;
}

// Handlers of a thread run in an array of the function that made it, which has a handler's stack of
// its own. Both handlers are called, and call, by code with hooks and without.
#include <pthread.h>

#include "signals.h"

#define OUT_OF_LINE __attribute__((noinline))

static volatile int calls;

OUT_OF_LINE static void leaf(void) { calls++; }

OUT_OF_LINE static void inner(void) {
  leaf();
  calls++;
}

NOT_RECORDED OUT_OF_LINE static void call_back(void (*function)(void)) {
  function();
  calls++;
}

static void on_second(int signal) {
  (void)signal;
  call_back(inner);
  calls++;
}

static void on_first(int signal) {
  (void)signal;
  call_back(leaf);
  raise(SIGUSR2);
  inner();
  calls++;
}

OUT_OF_LINE static void* borrow(void* bytes) {
  handle_on(bytes, 1 << 16);
  raise(SIGUSR1);
  inner();
  return NULL;
}

OUT_OF_LINE static void lend(void) {
  char bytes[1 << 16];
  pthread_t thread;
  inner();
  pthread_create(&thread, NULL, borrow, bytes);
  pthread_join(thread, NULL);
  inner();
}

int main(void) {
  static char bytes[1 << 16];
  handle_on(bytes, sizeof bytes);
  handle(SIGUSR2, on_second);
  handle(SIGUSR1, on_first);
  raise(SIGUSR1);
  for (volatile int i = 0; i < 2; i++) lend();
  return 0;
}

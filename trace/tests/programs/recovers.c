// usage: recovers TIMES
// Calls itself until its stack overflows, and goes on in a handler, so often. Prints how often.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shape.h"

static sigjmp_buf back;
static volatile int overflows;
static volatile int never;

CALL static void deeper(void) {
  if (!never) deeper();
  __asm__ volatile("");  // no tail call
}

PLAIN static void on_overflow(int signal) {
  (void)signal;
  overflows++;
  siglongjmp(back, 1);
}

PLAIN static void* run(void* times) {
  const size_t size = 65536;
  const stack_t stack = {.ss_sp = malloc(size), .ss_size = size};
  sigaltstack(&stack, NULL);
  (void)sigsetjmp(back, 1);
  if (overflows < *(int*)times) deeper();
  return NULL;
}

PLAIN int main(int argc, char** argv) {
  if (argc < 2) return 2;
  int times = atoi(argv[1]);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_overflow;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGSEGV, &action, NULL);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 65536);
  pthread_t thread;
  if (pthread_create(&thread, &attributes, run, &times) != 0) return 1;
  pthread_join(thread, NULL);
  printf("%d\n", overflows);
  return 0;
}

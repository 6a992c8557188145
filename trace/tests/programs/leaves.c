// usage: leaves exit|thread-exit|main-thread|_exit|quick_exit|abort|segv|overflow
// Calls itself to a depth of 100, and there the process ends, in one of these ways. Prints its
// calls before. (`overflow` calls until the stack is full, and says how often in a handler on
// another one.)
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shape.h"

static volatile long calls;
static volatile int* volatile nothing;
static const char* how;

PLAIN static void* end_process(void* unused) {
  (void)unused;
  if (strcmp(how, "exit") == 0 || strcmp(how, "thread-exit") == 0) exit(0);
  if (strcmp(how, "main-thread") == 0) pthread_exit(NULL);
  if (strcmp(how, "_exit") == 0) _exit(0);
  if (strcmp(how, "quick_exit") == 0) quick_exit(0);
  if (strcmp(how, "abort") == 0) abort();
  return (void*)(intptr_t)*nothing;
}

PLAIN static void tell(void) {
  char text[32];
  const int size = snprintf(text, sizeof text, "%ld\n", calls);
  if (write(STDOUT_FILENO, text, (size_t)size) != size) _exit(1);
}

CALL static void deeper(int depth) {
  calls++;
  if (depth > 0) {
    deeper(depth - 1);
  } else {
    tell();
    (void)end_process(NULL);
  }
  __asm__ volatile("");  // no tail call
}

CALL static void for_ever(void) {
  calls++;
  if (nothing == NULL) for_ever();
  __asm__ volatile("");
}

PLAIN static void on_overflow(int signal) {
  tell();
  kill(getpid(), signal);  // once more when we have returned, by default
}

PLAIN static void* run(void* unused) {
  deeper(99);
  return unused;
}

PLAIN int main(int argc, char** argv) {
  if (argc < 2) return 2;
  how = argv[1];
  if (strcmp(how, "overflow") == 0) {
    const size_t size = 65536;
    const stack_t stack = {.ss_sp = malloc(size), .ss_size = size};
    sigaltstack(&stack, NULL);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_overflow;
    action.sa_flags = SA_ONSTACK | (int)SA_RESETHAND;
    sigaction(SIGSEGV, &action, NULL);
    for_ever();
  }
  if (strcmp(how, "thread-exit") == 0) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, NULL) != 0) return 1;
    pthread_join(thread, NULL);
  }
  deeper(99);
  return 0;
}

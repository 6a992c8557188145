// usage: signals ROUNDS timer|thread stack|altstack [jump]
// At least so many rounds, and until there were 300 signals, and 100 jumps if there are any.
// A handler that itself makes calls interrupts calls and hooks as often as it can: from a timer of
// 50 kHz, or from a second thread that sends signals in a loop; on the thread's own stack or on one
// of SIGSTKSZ bytes. With `jump` every third leaves by siglongjmp, some of them after a while. Then
// 1000 calls undisturbed.
// Prints the calls of each function, and how many handlers jumped.
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "shape.h"

// All on the main thread: one instruction each, so whole for the handler.
static volatile long handled, ticked, works, leaves, afters, jumps;
static volatile int done;
static volatile int jumping;
// siglongjmp lets signals in before it leaves the stack: a second jump from there, and a third from
// that one, would fill any stack.
static volatile int leaving;
static sigjmp_buf again;

CALL static void tick(void) { ticked++; }

CALL static void on_signal(int signal) {
  (void)signal;
  handled++;
  tick();
  if (jumping && !leaving && handled % 3 == 0) {
    jumps++;
    leaving = 1;
    // The handler that comes amid siglongjmp, when the stack has little left, then finds the
    // hooks' quick way closed: after 2^26 ticks, 34 ms at 2 GHz.
    const struct timespec some = {0, 40000000};
    if (jumps % 32 == 0) nanosleep(&some, NULL);
    siglongjmp(again, 1);
  }
}

CALL static void leaf(void) { leaves++; }

CALL static void work(void) {
  works++;
  leaf();
  leaf();
}

CALL static void after(void) { afters++; }

PLAIN static void* send(void* to) {
  while (!done) {
    if (!leaving) pthread_kill((pthread_t)to, SIGUSR1);
  }
  return NULL;
}

PLAIN int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const long rounds = atol(argv[1]);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  if (strcmp(argv[3], "altstack") == 0) {
    action.sa_flags = SA_ONSTACK;
    const size_t size = (size_t)SIGSTKSZ;
    const stack_t stack = {.ss_sp = malloc(size), .ss_size = size};
    if (sigaltstack(&stack, NULL) != 0) return 1;
  }
  sigaction(SIGUSR1, &action, NULL);
  pthread_t sender = 0;
  timer_t timer = 0;
  const int by_timer = strcmp(argv[2], "timer") == 0;
  if (by_timer) {
    struct sigevent event;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGUSR1;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) return 1;
    const struct itimerspec often = {{0, 20000}, {0, 20000}};
    timer_settime(timer, 0, &often, NULL);
  } else if (pthread_create(&sender, NULL, send, (void*)pthread_self()) != 0) {
    return 1;
  }
  static volatile long i;
  sigsetjmp(again, 1);
  leaving = 0;
  jumping = argc > 4;
  for (; i < rounds || handled < 300 || (jumping && jumps < 100); i++) {
    work();
    if (i % 1024 == 0) sched_yield();  // the sender may want this processor
  }
  done = 1;
  signal(SIGUSR1, SIG_IGN);
  if (by_timer) {
    timer_delete(timer);
  } else {
    pthread_join(sender, NULL);
  }
  for (int k = 0; k < 1000; k++) after();
  printf("on_signal %ld\ntick %ld\nwork %ld\nleaf %ld\nafter %ld\njumps %ld\n", handled, ticked,
         works, leaves, afters, jumps);
  return 0;
}

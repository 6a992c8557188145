// A timer's signal handler that is itself instrumented interrupts the program, and the recorder's
// hooks, thousands of times. Prints how often each function was really called. An argument sets the
// number of rounds.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

static volatile long ticks, ticked, works, leaves;

static void tick(void) { ticked++; }

static void on_alarm(int signal) {
  (void)signal;
  ticks++;
  tick();
}

static void leaf(void) { leaves++; }

static void work(void) {
  works++;
  leaf();
  leaf();
}

int main(int argc, char** argv) {
  const long rounds = argc > 1 ? atol(argv[1]) : 200000;
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_alarm;
  sigaction(SIGALRM, &action, NULL);
  const struct itimerval often = {{0, 20}, {0, 20}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, NULL);
  for (long i = 0; i < rounds; i++) work();
  setitimer(ITIMER_REAL, &never, NULL);
  signal(SIGALRM, SIG_IGN);
  printf("on_alarm %ld\ntick %ld\nwork %ld\nleaf %ld\n", ticks, ticked, works, leaves);
  return 0;
}

// usage: forks thread|handler CHILDREN
// A thread that reads the list of modules holds the loader's lock for a while. The program forks so
// many children while other threads come, call and go: from a thread, or from a handler that
// interrupts calls 10 000 times a second. Each child makes 1000 calls more, or goes on with what
// was interrupted for so long, and so does the parent. Prints the parent's calls, and how many
// children ended as they should.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shape.h"

static volatile long calls, in_threads;
static volatile int done;

CALL static void work(void) { calls++; }

CALL static void in_thread(void) { __atomic_fetch_add(&in_threads, 1, __ATOMIC_RELAXED); }

typedef int Callback(struct dl_phdr_info* info, size_t size, void* data);

struct Look {
  Callback* callback;
  void* data;
};

PLAIN static int look(struct dl_phdr_info* info, size_t size, void* data) {
  const struct Look* const real = data;
  const struct timespec while_locked = {0, 20000};
  nanosleep(&while_locked, NULL);
  return real->callback(info, size, real->data);
}

/// Stands in front of libc's, for the recorder, too.
PLAIN int dl_iterate_phdr(Callback* callback, void* data) {
  int (*real)(Callback*, void*);
  *(void**)&real = dlsym(RTLD_NEXT, "dl_iterate_phdr");  // POSIX's way round ISO C
  struct Look all = {callback, data};
  return real(look, &all);
}

PLAIN static void* brief(void* unused) {
  for (int i = 0; i < 10; i++) in_thread();
  return unused;
}

PLAIN static void* come_and_go(void* unused) {
  while (!done) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, brief, NULL) != 0) abort();
    pthread_join(thread, NULL);
  }
  return unused;
}

PLAIN static int ended_well(pid_t child) {
  int status = 0;
  const struct timespec while_it_calls = {0, 1000000};
  for (int i = 0; waitpid(child, &status, WNOHANG) == 0; i++) {
    nanosleep(&while_it_calls, NULL);
    if (i == 20000) kill(child, SIGKILL);  // it hangs
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

PLAIN static pid_t start_child(void) {
  const pid_t child = fork();
  if (child < 0) abort();
  return child;
}

PLAIN static int from_thread(int children) {
  pthread_t others[2];
  for (int i = 0; i < 2; i++) pthread_create(&others[i], NULL, come_and_go, NULL);
  int well = 0;
  for (int i = 0; i < children; i++) {
    const pid_t child = start_child();
    for (int k = 0; k < 1000; k++) work();
    if (child == 0) _exit(0);
    well += ended_well(child);
  }
  done = 1;
  for (int i = 0; i < 2; i++) pthread_join(others[i], NULL);
  return well;
}

static volatile int wanted, forked, well_in_handler;
static volatile long limit = -1;  ///< in a child: at how many calls it ends

PLAIN static void on_alarm(int signal) {
  (void)signal;
  static int interrupts;
  if (limit >= 0 || forked == wanted || ++interrupts % 50 != 0) return;
  const pid_t child = start_child();
  if (child == 0) {
    limit = calls + 1000;
    return;
  }
  forked++;
  well_in_handler += ended_well(child);
}

PLAIN static int from_handler(int children) {
  wanted = children;
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_alarm;
  sigaction(SIGUSR1, &action, NULL);
  timer_t timer;
  struct sigevent event;
  memset(&event, 0, sizeof event);
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGUSR1;
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) abort();
  const struct itimerspec fine = {{0, 100000}, {0, 100000}};
  timer_settime(timer, 0, &fine, NULL);
  while (forked < wanted) {
    work();
    if (calls == limit) _exit(0);
  }
  timer_delete(timer);
  return well_in_handler;
}

PLAIN int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int children = atoi(argv[2]);
  const int well = strcmp(argv[1], "thread") == 0 ? from_thread(children) : from_handler(children);
  printf("%ld %d\n", calls + in_threads, well);
  return 0;
}

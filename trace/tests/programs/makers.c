// usage: makers fork main|thread|child | clone | threads | crowd
// Makes processes or threads. fork: from main, from a thread, or from main and then from the child;
// each within a call of divide(). clone: a child that no handler of fork knows of. threads: by
// pthread_create from main and from a thread, joined and detached, by one that fails, and by C11's
// thrd_create. crowd: 2000 threads, 100 at a time. Exits with 0 if all
// came as it should.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#include "shape.h"

static volatile long calls;

CALL static void after(void) { calls++; }

PLAIN static int waited(pid_t child) {
  int status = -1;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

CALL static int divide(int again) {
  const pid_t child = fork();
  after();
  if (child == 0) return again > 0 ? divide(again - 1) : 1;
  return waited(child);
}

PLAIN static void* dividing(void* well) {
  *(int*)well = divide(0);
  return NULL;
}

PLAIN static int forks(const char* who) {
  if (strcmp(who, "thread") != 0) return divide(strcmp(who, "child") == 0);
  pthread_t thread;
  int well = 0;
  if (pthread_create(&thread, NULL, dividing, &well) != 0) return 0;
  pthread_join(thread, NULL);
  return well;
}

CALL static int clones(void) {
  const pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
  after();
  if (child == 0) _exit(0);
  return waited(child);
}

static sem_t detached_ended;

CALL static void* inner(void* argument) {
  pthread_setname_np(pthread_self(), "inner");
  return (void*)((uintptr_t)argument + 1);
}

CALL static void* outer(void* argument) {
  pthread_setname_np(pthread_self(), "outer");
  pthread_t thread;
  void* result = NULL;
  if (pthread_create(&thread, NULL, inner, argument) != 0) return NULL;
  pthread_join(thread, &result);
  return (void*)((uintptr_t)result + 1);
}

CALL static void* detached(void* argument) {
  pthread_setname_np(pthread_self(), "detached");
  after();
  sem_post(&detached_ended);
  return argument;
}

CALL static int c11(void* argument) {
  pthread_setname_np(pthread_self(), "c11");
  return *(int*)argument;
}

CALL static int threads(void) {
  pthread_t thread;
  void* result = NULL;
  if (pthread_create(&thread, NULL, outer, (void*)5) != 0) return 0;
  if (pthread_join(thread, &result) != 0 || (uintptr_t)result != 7) return 0;

  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  sem_init(&detached_ended, 0, 0);
  if (pthread_create(&thread, &attributes, detached, NULL) != 0) return 0;
  while (sem_wait(&detached_ended) != 0) {
  }
  // There is no processor of this number.
  cpu_set_t none;
  CPU_ZERO(&none);
  pthread_attr_setaffinity_np(&attributes, sizeof none, &none);
  if (pthread_create(&thread, &attributes, detached, NULL) != EINVAL) return 0;
  pthread_attr_destroy(&attributes);

  thrd_t standard;
  int answer = 42;
  if (thrd_create(&standard, c11, &answer) != thrd_success) return 0;
  return thrd_join(standard, &answer) == thrd_success && answer == 42;
}

CALL static void* brief(void* argument) { return argument; }

CALL static int crowd(void) {
  enum { kTimes = 20, kTogether = 100 };
  for (int time = 0; time < kTimes; time++) {
    pthread_t all[kTogether];
    char given[kTogether];
    for (int i = 0; i < kTogether; i++) {
      if (pthread_create(&all[i], NULL, brief, &given[i]) != 0) return 0;
    }
    for (int i = 0; i < kTogether; i++) {
      void* result = NULL;
      if (pthread_join(all[i], &result) != 0 || result != &given[i]) return 0;
    }
  }
  return 1;
}

CALL int main(int argc, char** argv) {
  if (argc == 3 && strcmp(argv[1], "fork") == 0) return !forks(argv[2]);
  if (argc != 2) return 2;
  if (strcmp(argv[1], "clone") == 0) return !clones();
  return !(strcmp(argv[1], "threads") == 0 ? threads() : crowd());
}

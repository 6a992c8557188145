// Finds out whether a recorder leaves errno, the signal mask and the descriptors alone, through the
// first call and as many as fill several chunks of a trace file. Returns 0 if so, else says what it
// found.
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>

#define PLAIN __attribute__((no_instrument_function))

static volatile long calls;

static void call(void) { calls++; }

PLAIN static int descriptors(void) {
  DIR* directory = opendir("/proc/self/fd");
  int count = 0;
  while (directory != NULL && readdir(directory) != NULL) count++;
  closedir(directory);
  return count;
}

PLAIN int main(void) {
  const int before = descriptors();
  sigset_t mask, now;
  sigemptyset(&mask);
  sigaddset(&mask, SIGUSR1);
  sigprocmask(SIG_SETMASK, &mask, NULL);
  errno = 12345;
  for (int i = 0; i < 200000; i++) {
    call();
    if (errno != 12345) {
      fprintf(stderr, "errno is %d after call %d\n", errno, i);
      return 1;
    }
  }
  sigprocmask(SIG_SETMASK, NULL, &now);
  for (int signal = 1; signal < 64; signal++) {
    if (signal != 32 && signal != 33 && sigismember(&now, signal) != (signal == SIGUSR1)) {
      fprintf(stderr, "signal %d is blocked or freed\n", signal);
      return 1;
    }
  }
  if (descriptors() != before) {
    fprintf(stderr, "%d descriptors, %d before\n", descriptors(), before);
    return 1;
  }
  return 0;
}

// started FILE: writes into FILE what it was started with: whether SIGPIPE and SIGCHLD are ignored,
// and which of its first three descriptors are open, when it has made a call. Then waits until
// FILE.go is there, if FILE.wait is, makes more, and writes into FILE.done how often it has slept
// or waited. Returns 7. If FILE.late is there, a child does the latter, for which it does not wait.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define PLAIN __attribute__((no_instrument_function))

static volatile int calls;

static void leaf(void) { ++calls; }

PLAIN static int is_ignored(int number) {
  struct sigaction action;
  return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

PLAIN int main(int count, char** arguments) {
  int open[3];
  for (int i = 0; i < 3; ++i) open[i] = fcntl(i, F_GETFD) != -1;
  if (count != 2) return 2;
  char wait[4096], go[4096], late[4096], done[4096];
  snprintf(wait, sizeof wait, "%s.wait", arguments[1]);
  snprintf(go, sizeof go, "%s.go", arguments[1]);
  snprintf(late, sizeof late, "%s.late", arguments[1]);
  snprintf(done, sizeof done, "%s.done", arguments[1]);
  const int is_late = access(late, F_OK) == 0;
  if (!is_late) leaf();
  FILE* file = fopen(arguments[1], "w");
  if (file == NULL) return 3;
  fprintf(file, "pipe %d child %d open %d %d %d\n", is_ignored(SIGPIPE), is_ignored(SIGCHLD),
          open[0], open[1], open[2]);
  if (fclose(file) != 0) return 4;
  // A process that has made calls records a child as soon as it forks.
  if (is_late && fork() != 0) return 7;
  while (access(wait, F_OK) == 0 && access(go, F_OK) != 0) usleep(1000);
  for (int i = 0; i < 3000000; ++i) leaf();
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  file = fopen(done, "w");
  if (file == NULL) return 5;
  fprintf(file, "%ld\n", usage.ru_nvcsw);
  return fclose(file) == 0 ? 7 : 6;
}

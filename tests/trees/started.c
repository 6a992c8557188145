// started FILE: writes into FILE what it was started with: whether SIGPIPE and SIGCHLD are ignored,
// and which of its first three descriptors are open. Then waits until FILE.go is there, if
// FILE.wait is, and makes calls. Returns 7.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile int calls;

static void leaf(void) { ++calls; }

static int is_ignored(int number) {
  struct sigaction action;
  return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

int main(int count, char** arguments) {
  int open[3];
  for (int i = 0; i < 3; ++i) open[i] = fcntl(i, F_GETFD) != -1;
  if (count != 2) return 2;
  char wait[4096], go[4096];
  snprintf(wait, sizeof wait, "%s.wait", arguments[1]);
  snprintf(go, sizeof go, "%s.go", arguments[1]);
  FILE* file = fopen(arguments[1], "w");
  if (file == NULL) return 3;
  fprintf(file, "pipe %d child %d open %d %d %d\n", is_ignored(SIGPIPE), is_ignored(SIGCHLD),
          open[0], open[1], open[2]);
  if (fclose(file) != 0) return 4;
  leaf();
  while (access(wait, F_OK) == 0 && access(go, F_OK) != 0) usleep(1000);
  for (int i = 0; i < 3000000; ++i) leaf();
  return 7;
}

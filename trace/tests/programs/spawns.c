// usage: spawns vfork|spawn|fork TIMES
// Starts itself anew so often, as the child of vfork, posix_spawn or fork and exec; what runs
// between vfork or fork and exec calls, too. A child makes three calls. Prints the parent's own.
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shape.h"

extern char** environ;
static volatile long calls;

CALL static void call(void) { calls++; }

CALL static void before_exec(void) { calls++; }

PLAIN static pid_t start(char how, char* self) {
  char child[] = "child";
  char* const arguments[] = {self, child, NULL};
  pid_t pid = -1;
  if (how == 's') {
    if (posix_spawn(&pid, self, NULL, NULL, arguments, environ) != 0) return -1;
    return pid;
  }
  pid = how == 'v' ? vfork() : fork();
  if (pid == 0) {
    before_exec();
    execv(self, arguments);
    _exit(127);
  }
  return pid;
}

PLAIN int main(int argc, char** argv) {
  if (argc == 2) {
    for (int i = 0; i < 3; i++) call();
    return 7;
  }
  if (argc < 3) return 2;
  for (int i = atoi(argv[2]); i > 0; i--) {
    const pid_t child = start(argv[1][0], argv[0]);
    call();
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 7) return 1;
    call();
  }
  printf("%ld\n", calls);
  return 0;
}

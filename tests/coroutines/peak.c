// peak FILE COMMAND …: runs COMMAND, and writes to FILE how much memory it had at its peak, in
// kilobytes. That of a command counts what its parent had when it was started, so the parent is a
// program that has nothing.
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>

extern char** environ;

int main(int count, char** words) {
  if (count < 3) return 2;
  pid_t command;
  if (posix_spawnp(&command, words[2], NULL, NULL, words + 2, environ) != 0) return 126;
  int status;
  struct rusage used;
  if (wait4(command, &status, 0, &used) != command) return 126;
  FILE* const out = fopen(words[1], "w");
  if (out == NULL || fprintf(out, "%ld\n", used.ru_maxrss) < 0 || fclose(out) != 0) return 126;
  return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

// usage: replaces HOW
// Starts itself with an environment that it makes, by the function HOW. The child calls twice, ends
// with 7 if its environment has what it was given, and prints what is preloaded into it.
#define _GNU_SOURCE
#include <fcntl.h>
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

PLAIN static int is(const char* how, const char* name) { return strcmp(how, name) == 0; }

PLAIN static void execute(const char* how, char* self, char* const* arguments, char* const* given) {
  const int file = open(self, O_RDONLY);
  if (is(how, "execve")) execve(self, arguments, given);
  if (is(how, "execle")) execle(self, self, "child", (char*)NULL, given);
  if (is(how, "execvpe")) execvpe(self, arguments, given);
  if (is(how, "fexecve")) fexecve(file, arguments, given);
  if (is(how, "execveat")) execveat(AT_FDCWD, self, arguments, given, 0);
  if (is(how, "execv")) execv(self, arguments);
  if (is(how, "execvp")) execvp(self, arguments);
  if (is(how, "execl")) execl(self, self, "child", (char*)NULL);
  if (is(how, "execlp")) execlp(self, self, "child", (char*)NULL);
  _exit(127);
}

PLAIN static pid_t start(const char* how, char* self, char* const* given) {
  char child[] = "child";
  char* const arguments[] = {self, child, NULL};
  pid_t pid = -1;
  if (is(how, "posix_spawn")) {
    return posix_spawn(&pid, self, NULL, NULL, arguments, given) == 0 ? pid : -1;
  }
  if (is(how, "posix_spawnp")) {
    return posix_spawnp(&pid, self, NULL, NULL, arguments, given) == 0 ? pid : -1;
  }
  pid = vfork();
  if (pid == 0) execute(how, self, arguments, given);
  return pid;
}

PLAIN int main(int argc, char** argv) {
  if (argc != 2) return 2;
  if (is(argv[1], "child")) {
    call();
    call();
    const char* const kept = getenv("KEPT");
    const char* const preloaded = getenv("LD_PRELOAD");
    puts(preloaded != NULL ? preloaded : "nothing");
    return kept != NULL && is(kept, "1") && getenv("LOST") == NULL ? 7 : 8;
  }
  setenv("LOST", "1", 1);
  char kept[] = "KEPT=1", preload[] = "LD_PRELOAD=libm.so.6", directory[4200];
  const char* const trace = getenv("HEDDLE_DIR");
  snprintf(directory, sizeof directory, "HEDDLE_DIR=%s", trace != NULL ? trace : "");
  const char* how = argv[1];
  char* given[] = {kept, NULL, NULL, NULL};
  if (is(how, "preload")) {
    given[1] = preload;
    how = "execve";
  } else if (is(how, "unpreload")) {
    given[1] = directory;
    how = "execve";
  }
  call();
  environ = given;  // some take this one
  const pid_t child = start(how, argv[0], given);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return 1;
  return WEXITSTATUS(status);
}

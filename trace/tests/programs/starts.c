// usage: starts HOW PROGRAM
// Starts the program by the function HOW, and gives its exit code; 127: it was not started.
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static void become(const char* how, char* program) {
  char* const arguments[] = {program, NULL};
  if (strcmp(how, "execve") == 0) execve(program, arguments, environ);
  if (strcmp(how, "execv") == 0) execv(program, arguments);
  if (strcmp(how, "execvp") == 0) execvp(program, arguments);
  if (strcmp(how, "execlp") == 0) execlp(program, program, (char*)NULL);
  if (strcmp(how, "fexecve") == 0) fexecve(open(program, O_RDONLY), arguments, environ);
  _exit(127);
}

static pid_t start(const char* how, char* program) {
  char* const arguments[] = {program, NULL};
  pid_t pid = -1;
  if (strcmp(how, "posix_spawn") == 0) {
    return posix_spawn(&pid, program, NULL, NULL, arguments, environ) == 0 ? pid : -1;
  }
  if (strcmp(how, "posix_spawnp") == 0) {
    return posix_spawnp(&pid, program, NULL, NULL, arguments, environ) == 0 ? pid : -1;
  }
  pid = strcmp(how, "execv") == 0 ? vfork() : fork();
  if (pid == 0) become(how, program);
  return pid;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const pid_t child = start(argv[1], argv[2]);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return 127;
  return WEXITSTATUS(status);
}

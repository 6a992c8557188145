// Forks in the middle of a call; both sides go on calling. The child's calls belong to the child's
// process alone.
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int calls;

static void before(void) { calls++; }
static void in_child(void) { calls++; }
static void in_parent(void) { calls++; }

static int divide(void) {
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 3; i++) in_child();
    exit(calls == 4 ? 0 : 1);
  }
  in_parent();
  int status = -1;
  if (child < 0 || waitpid(child, &status, 0) != child) return 1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(void) {
  before();
  const int status = divide();
  in_parent();
  return status == 0 && calls == 3 ? 0 : 1;
}

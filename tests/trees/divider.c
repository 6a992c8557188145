// Children that return through the calls in which their parent forked, while that goes on calling.
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int calls;

static void before(void) { calls++; }
static void in_child(void) { calls++; }
static void in_parent(void) { calls++; }
static void after(void) { calls++; }

static pid_t divide(int depth) {
  if (depth > 0) {
    const pid_t child = divide(depth - 1);
    calls++;
    return child;
  }
  const pid_t child = fork();
  if (child == 0)
    in_child();
  else
    for (int i = 0; i < 1000; i++) in_parent();
  return child;
}

int main(void) {
  for (int i = 0; i < 3; i++) {
    before();
    const pid_t child = divide(2);
    after();
    if (child == 0) _exit(0);
    int status = -1;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) return 1;
  }
  return calls == 3 * (1 + 2 + 1000 + 1) ? 0 : 1;
}

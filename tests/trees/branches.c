// A thread that is not the first forks, and its child forks in turn. Each child has that thread
// alone, and returns through the calls that it began inside.
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int calls;

static void before(void) { calls++; }
static void in_child(void) { calls++; }
static void in_parent(void) { calls++; }
static void after(void) { calls++; }

static int divide(int again) {
  before();
  const pid_t child = fork();
  if (child == 0) {
    in_child();
    return again > 0 ? divide(again - 1) : 1;
  }
  in_parent();
  int status = -1;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static void* branch(void* well) {
  *(int*)well = divide(1);
  after();
  return NULL;
}

int main(void) {
  pthread_t thread;
  int well = 0;
  before();
  if (pthread_create(&thread, NULL, branch, &well) != 0) return 1;
  pthread_join(thread, NULL);
  after();
  return !well;
}

// faulty HOW NUMBER CALLS: calls work() CALLS times in each of NUMBER threads (`threads`) or
// forked children (`forks`), or itself (`calls`); prints what came of it, and exits with 7.
// `resting`: as `threads`, and between their calls and their ends it says so, and waits for a line.
// `late`: as `calls`, once it has read a line and opened a library.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int calls;

__attribute__((noinline)) static int work(int i) {
  __asm__ volatile("");
  return i + 1;
}

__attribute__((noinline)) static int all(void) {
  int done = 0;
  while (done < calls) done = work(done);
  return done;
}

static pthread_barrier_t together;
static int resting;

static void* thread(void* sum) {
  // All live at once.
  pthread_barrier_wait(&together);
  __atomic_fetch_add((long*)sum, all(), __ATOMIC_RELAXED);
  pthread_barrier_wait(&together);
  if (resting) pthread_barrier_wait(&together);
  return 0;
}

int main(int count, char** arguments) {
  if (count != 4) return 2;
  const int number = atoi(arguments[2]);
  calls = atoi(arguments[3]);
  long sum = 0;
  resting = strcmp(arguments[1], "resting") == 0;
  if (resting || strcmp(arguments[1], "threads") == 0) {
    pthread_t* threads = calloc((size_t)number, sizeof *threads);
    pthread_attr_t small;
    pthread_barrier_init(&together, 0, (unsigned)(number + resting));
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 << 10);
    for (int i = 0; i < number; ++i) {
      if (pthread_create(&threads[i], &small, thread, &sum) != 0) return 3;
    }
    if (resting) {
      pthread_barrier_wait(&together);
      pthread_barrier_wait(&together);
      puts("all have called");
      fflush(stdout);
      (void)getchar();
      pthread_barrier_wait(&together);
    }
    for (int i = 0; i < number; ++i) pthread_join(threads[i], 0);
    free(threads);
  } else if (strcmp(arguments[1], "forks") == 0) {
    for (int i = 0; i < number; ++i) {
      const pid_t child = fork();
      if (child == 0) _exit(all() == calls ? 5 : 6);
      int status = 0;
      if (waitpid(child, &status, 0) != child) return 4;
      sum += WEXITSTATUS(status) == 5 ? calls : 0;
    }
  } else {
    if (strcmp(arguments[1], "late") == 0) {
      (void)getchar();
      if (dlopen("libresolv.so.2", RTLD_NOW) == 0) return 5;
    }
    sum = all();
  }
  printf("%ld calls returned\n", sum);
  return 7;
}

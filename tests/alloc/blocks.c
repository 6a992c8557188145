// blocks SCENARIO: asks for memory in known ways, and prints how often: calls that give, calls that
// free, bytes.
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kThreads = 4, kBlocks = 1000, kBytes = 48 };

static void require(int is, const char* what) {
  if (is) return;
  fprintf(stderr, "blocks: %s\n", what);
  exit(1);
}

// The compiler may not leave any of it out. Each thread has its own, or it would be a data race.
static __thread void* volatile block;

// Every function that gives memory: 10 of them, and 10 that free it, and 512 bytes.
static void every_function(void) {
  block = malloc(64);
  memset(block, 1, 64);
  block = realloc(block, 64);
  free(block);
  block = calloc(8, 8);
  for (int i = 0; i < 64; ++i) require(((char*)block)[i] == 0, "calloc gives no zeros");
  free(block);
  block = aligned_alloc(64, 64);
  require((uintptr_t)block % 64 == 0, "aligned_alloc");
  free(block);
  void* to = NULL;
  require(posix_memalign(&to, 128, 64) == 0 && (uintptr_t)to % 128 == 0, "posix_memalign");
  block = to;
  free(block);
  block = memalign(256, 64);
  require((uintptr_t)block % 256 == 0, "memalign");
  free(block);
  block = valloc(64);
  free(block);
  block = reallocarray(NULL, 8, 8);
  free(block);
  // None of these is a call that does something.
  free(NULL);
  block = NULL;
}

// The fault that AddressSanitizer must still find, and tell of which block.
static int read_freed(void) {
  char* const freed = block = malloc(kBytes);
  free(block);
  return *(volatile char*)freed;
}

static void* many(void* unused) {
  for (int i = 0; i < kBlocks; ++i) {
    block = malloc(kBytes);
    free(block);
  }
  return unused;
}

// One that interrupts malloc is a part of it, and must not harm what it interrupts.
static void in_handler(int signal) { (void)signal; }

static void interrupted(void) {
  struct sigaction action = {.sa_handler = in_handler};
  sigaction(SIGALRM, &action, NULL);
  ualarm(100, 100);
  for (int i = 0; i < 100; ++i) many(NULL);
  ualarm(0, 0);
}

static void threads(void) {
  pthread_t all[kThreads];
  for (int i = 0; i < kThreads; ++i)
    require(pthread_create(&all[i], NULL, many, NULL) == 0, "thread");
  for (int i = 0; i < kThreads; ++i) pthread_join(all[i], NULL);
}

// A child counts in files of its own, before and after it becomes another program.
static void forked(const char* self) {
  const pid_t child = fork();
  if (child == 0) {
    many(NULL);
    execl(self, self, "threads", (char*)NULL);
    _exit(1);
  }
  int status;
  require(waitpid(child, &status, 0) == child && status == 0, "child");
}

int main(int count, char** words) {
  const char* const scenario = count == 2 ? words[1] : "";
  if (strcmp(scenario, "every") == 0) {
    for (int i = 0; i < 100; ++i) every_function();
  } else if (strcmp(scenario, "threads") == 0) {
    threads();
  } else if (strcmp(scenario, "interrupted") == 0) {
    interrupted();
  } else if (strcmp(scenario, "freed") == 0) {
    return read_freed();
  } else if (strcmp(scenario, "forked") == 0) {
    many(NULL);
    forked(words[0]);
  } else if (strcmp(scenario, "killed") == 0) {
    threads();
    kill(getpid(), SIGKILL);
  } else {
    fprintf(stderr, "blocks SCENARIO\n");
    return 2;
  }
  return 0;
}

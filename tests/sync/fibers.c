// Fibers on ucontext's stacks that wait, wake and call the kernel right after they were switched
// to: between a switch and what it does, a fiber makes no call that has a hook. A thread answers.
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <ucontext.h>

enum { kRounds = 20, kStack = 64 << 10 };

static ucontext_t loom, sleeping, taking;
static sem_t asked, answered;

static void must(int failed) {
  if (failed != 0) abort();
}

static const struct timespec two_ms = {.tv_nsec = 2000000}, three_ms = {.tv_nsec = 3000000};

static void sleeper(void) {
  for (int round = 0; round < kRounds; ++round) {
    (void)nanosleep(&two_ms, NULL);
    must(swapcontext(&sleeping, &loom));
  }
}

static void taker(void) {
  for (int round = 0; round < kRounds; ++round) {
    must(sem_post(&asked));
    must(sem_wait(&answered));
    must(swapcontext(&taking, &loom));
  }
}

static void* answer(void* unused) {
  for (int round = 0; round < kRounds; ++round) {
    must(sem_wait(&asked));
    (void)nanosleep(&three_ms, NULL);
    must(sem_post(&answered));
  }
  return unused;
}

static void make(ucontext_t* context, void (*entry)(void)) {
  must(getcontext(context));
  context->uc_stack.ss_sp = malloc(kStack);
  context->uc_stack.ss_size = kStack;
  context->uc_link = &loom;
  makecontext(context, entry, 0);
}

int main(void) {
  must(sem_init(&asked, 0, 0));
  must(sem_init(&answered, 0, 0));
  make(&sleeping, sleeper);
  make(&taking, taker);
  pthread_t thread;
  must(pthread_create(&thread, NULL, answer, NULL));
  for (int round = 0; round < kRounds; ++round) {
    (void)nanosleep(&two_ms, NULL);
    must(swapcontext(&loom, &sleeping));
    must(swapcontext(&loom, &taking));
  }
  must(pthread_join(thread, NULL));
  return puts("woven") < 0;
}

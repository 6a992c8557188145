// A condition is signalled without its mutex, and a thread begins to wait within the call: that is
// woken by it. late_libc.c has the call last until the thread waits.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t ledger = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static atomic_long waiter;

static void nap(void) { nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL); }

static void* wait_for_news(void* none) {
  (void)none;
  pthread_mutex_lock(&ledger);
  atomic_store(&waiter, gettid());
  pthread_cond_wait(&news, &ledger);
  pthread_mutex_unlock(&ledger);
  return NULL;
}

// Called by late_libc.c within pthread_cond_signal: until a thread that begins now sleeps in the
// kernel, three times in a row.
static pthread_t thread;

void begin_to_wait(void) {
  pthread_create(&thread, NULL, wait_for_news, NULL);
  while (atomic_load(&waiter) == 0) nap();
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/%ld/stat", atomic_load(&waiter));
  for (int times = 0; times < 3; nap()) {
    FILE* file = fopen(path, "r");
    if (file == NULL) return;
    const size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[size] = 0;
    const char* name_end = strrchr(text, ')');
    times = name_end != NULL && name_end[2] == 'S' ? times + 1 : 0;
  }
}

int main(void) {
  pthread_cond_broadcast(&news);
  pthread_cond_signal(&news);
  pthread_join(thread, NULL);
  return 0;
}

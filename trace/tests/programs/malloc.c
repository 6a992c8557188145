// Brings its own malloc, instrumented, with a lock that is not recursive: a recorder that allocates
// would hang here or record its own calls. Prints the calls of both functions.
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define PLAIN __attribute__((no_instrument_function))

void* malloc(size_t);
void* calloc(size_t, size_t);
void* realloc(void*, size_t);
void free(void*);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Alignas(16) char arena[16 << 20];
static size_t used;
static volatile long calls;

static void* carve(size_t bytes) {
  __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
  void* result = NULL;
  bytes = (bytes + 31) & ~(size_t)15;
  if (used + bytes <= sizeof arena) {
    result = arena + used + 16;
    memcpy(arena + used, &bytes, sizeof bytes);
    used += bytes;
  }
  return result;
}

void* malloc(size_t bytes) {
  __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
  pthread_mutex_lock(&lock);
  void* result = carve(bytes);
  pthread_mutex_unlock(&lock);
  return result;
}

PLAIN void* calloc(size_t n, size_t bytes) { return malloc(n * bytes); }

PLAIN void* realloc(void* old, size_t bytes) {
  char* fresh = malloc(bytes);
  if (old != NULL && fresh != NULL) {
    size_t had;
    memcpy(&had, (char*)old - 16, sizeof had);
    memcpy(fresh, old, had - 16 < bytes ? had - 16 : bytes);
  }
  return fresh;
}

PLAIN void free(void* unused) { (void)unused; }

PLAIN static void* run(void* unused) {
  for (int i = 0; i < 100; i++) free(malloc(10));
  return unused;
}

PLAIN int main(void) {
  for (int i = 0; i < 20; i++) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, NULL) != 0) return 1;
    pthread_join(thread, NULL);
  }
  static char buffer[64];
  setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
  printf("%ld\n", calls);
  return 0;
}

// 400 threads, 20 at a time, that each call a hundred times.
#include <pthread.h>

#define PLAIN __attribute__((no_instrument_function))

static void call(void) {}

PLAIN static void* run(void* unused) {
  for (int i = 0; i < 100; i++) call();
  return unused;
}

PLAIN int main(void) {
  pthread_t threads[20];
  for (int round = 0; round < 20; round++) {
    for (int i = 0; i < 20; i++) {
      if (pthread_create(&threads[i], NULL, run, NULL) != 0) return 1;
    }
    for (int i = 0; i < 20; i++) pthread_join(threads[i], NULL);
  }
  return 0;
}

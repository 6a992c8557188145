// A thread calls while another stops and starts recording again and again.
#include <heddle/trace.h>
#include <pthread.h>

#define PLAIN __attribute__((no_instrument_function))

static int done;

static void leaf(void) { __asm__ volatile("" ::: "memory"); }

PLAIN static void* calls(void* unused) {
  while (!__atomic_load_n(&done, __ATOMIC_RELAXED)) leaf();
  return unused;
}

PLAIN int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, calls, NULL);
  for (int i = 0; i < 50000; i++) {
    heddle_stop();
    heddle_start();
  }
  __atomic_store_n(&done, 1, __ATOMIC_RELAXED);
  pthread_join(thread, NULL);
  return 0;
}

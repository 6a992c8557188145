// usage: killed_threads FILE
// Four threads, named 0 to 3, count the calls that have returned, each in a 64-bit integer of its
// own (64 bytes apart) in FILE, until the process is killed.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shape.h"

static volatile int64_t* returned;
static volatile int never;

CALL static void leaf(void) { __asm__ volatile(""); }

CALL static void step(volatile int64_t* mine) {
  leaf();
  *mine += 1;
}

PLAIN static void* run(void* which) {
  const char name[] = {(char)('0' + (intptr_t)which), 0};
  pthread_setname_np(pthread_self(), name);
  while (!never) step(&returned[8 * (intptr_t)which]);
  return NULL;
}

PLAIN int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const int file = open(argv[1], O_RDWR | O_CREAT, 0666);
  if (file < 0 || ftruncate(file, 4096) != 0) return 1;
  void* shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (shared == MAP_FAILED) return 1;
  returned = shared;
  for (intptr_t i = 0; i < 4; i++) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, (void*)i) != 0) return 1;
  }
  for (;;) pause();
}

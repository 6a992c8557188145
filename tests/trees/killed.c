// usage: killed FILE [CALLS]
// Counts the calls that have returned in FILE (a 64-bit integer), which survives it, and kills
// itself inside call number CALLS; with 0 or without it, runs until another process kills it.
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile int64_t* returned;
static int64_t last;

static void leaf(void) {
  if (*returned + 1 == last) kill(getpid(), SIGKILL);
}

static void step(void) {
  leaf();
  *returned += 1;
}

int main(int argc, char** argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: killed FILE [CALLS]\n");
    return 2;
  }
  const int file = open(argv[1], O_RDWR | O_CREAT, 0666);
  if (file < 0 || ftruncate(file, sizeof *returned) != 0) return 1;
  void* shared = mmap(NULL, sizeof *returned, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (shared == MAP_FAILED) return 1;
  close(file);
  returned = shared;
  last = argc > 2 ? atoll(argv[2]) : 0;
  for (;;) step();
}

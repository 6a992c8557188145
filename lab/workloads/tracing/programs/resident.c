/* How much memory a process has while its threads are alive. Compiled without hooks, so that all
 * recorded calls are the work's.
 *
 *   PROGRAM THREADS ROUNDS
 *
 * runs work(ROUNDS) on each of THREADS threads at once (there may be none), waits until all have
 * done so, and prints, with all threads still there,
 *
 *   RSS PSS PAGE-TABLES RESULT
 *
 * in bytes: pages that are mapped, shared ones included; the same with what several processes
 * share divided among them; page tables. Then the sum of what work() returned.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "work.h"

enum { most_threads = 256 };

struct share {
  pthread_t thread;
  long rounds;
  uint64_t result;
};

static pthread_barrier_t done, measured;

static void* run(void* argument) {
  struct share* const mine = argument;
  mine->result = work(mine->rounds);
  pthread_barrier_wait(&done);
  pthread_barrier_wait(&measured);
  return NULL;
}

/* The number of kilobytes behind a word at the beginning of a line of a file, in bytes. */
static unsigned long long field(const char* path, const char* word) {
  FILE* const file = fopen(path, "re");
  char line[256];
  unsigned long long kilobytes = 0;
  int found = 0;
  while (file != NULL && !found && fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, word, strlen(word)) == 0) {
      found = sscanf(line + strlen(word), " %llu kB", &kilobytes) == 1;
    }
  }
  if (!found) {
    fprintf(stderr, "error: no `%s` in %s\n", word, path);
    exit(1);
  }
  fclose(file);
  return kilobytes * 1024;
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s THREADS ROUNDS\n", argv[0]);
    return 2;
  }
  static struct share shares[most_threads];
  const long threads = strtol(argv[1], NULL, 10);
  const long rounds = strtol(argv[2], NULL, 10);
  if (threads < 0 || threads > most_threads || rounds < 0) {
    fprintf(stderr, "error: expected 0 … %d threads, 0 rounds or more\n", most_threads);
    return 2;
  }
  pthread_barrier_init(&done, NULL, (unsigned)threads + 1);
  pthread_barrier_init(&measured, NULL, (unsigned)threads + 1);
  for (long i = 0; i < threads; ++i) {
    shares[i].rounds = rounds;
    if (pthread_create(&shares[i].thread, NULL, run, &shares[i]) != 0) {
      fprintf(stderr, "error: no thread could be made\n");
      return 1;
    }
  }
  pthread_barrier_wait(&done);
  const unsigned long long rss = field("/proc/self/smaps_rollup", "Rss:");
  const unsigned long long pss = field("/proc/self/smaps_rollup", "Pss:");
  const unsigned long long tables = field("/proc/self/status", "VmPTE:");
  pthread_barrier_wait(&measured);
  uint64_t result = 0;
  for (long i = 0; i < threads; ++i) {
    pthread_join(shares[i].thread, NULL);
    result += shares[i].result;
  }
  printf("%llu %llu %llu %llu\n", rss, pss, tables, (unsigned long long)result);
  return 0;
}

// sum --model=serial|thread --numbers=N: a workload of one's own, as docs/workloads.md describes
// it: adds up the numbers below N, and checks the sum.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct part {
  uint64_t begin, end, sum;
};

static void* add(void* argument) {
  struct part* part = argument;
  for (volatile uint64_t i = part->begin; i < part->end; ++i) part->sum += i;
  return NULL;
}

int main(int count, char** arguments) {
  const char* model = "";
  uint64_t numbers = 0;
  for (int i = 1; i < count; ++i) {
    if (strncmp(arguments[i], "--model=", 8) == 0) model = arguments[i] + 8;
    if (strncmp(arguments[i], "--numbers=", 10) == 0)
      numbers = strtoull(arguments[i] + 10, NULL, 10);
  }
  struct timespec before, after;
  clock_gettime(CLOCK_MONOTONIC, &before);
  struct part low = {0, numbers / 2, 0}, high = {numbers / 2, numbers, 0};
  pthread_t thread;
  if (strcmp(model, "thread") == 0) {
    if (pthread_create(&thread, NULL, add, &low) != 0) return 1;
    add(&high);
    pthread_join(thread, NULL);
  } else {
    add(&low);
    add(&high);
  }
  clock_gettime(CLOCK_MONOTONIC, &after);
  int right = low.sum + high.sum == numbers * (numbers - 1) / 2;
  printf(
      "{\"workload\": \"sum\", \"model\": \"%s\", \"params\": {\"numbers\": %ju}, \"oracle\": "
      "{\"ok\": %s, \"checked\": \"the sum\"},"
      " \"metrics\": {\"wall_ns\": %jd}, \"counters\": {}}\n",
      model, (uintmax_t)numbers, right ? "true" : "false",
      (intmax_t)((after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec));
  return right ? 0 : 3;
}

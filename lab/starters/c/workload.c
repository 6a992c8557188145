// How many primes are there below n? Put your own work here: the problem, a function a model, and
// an oracle that finds the answer in another way.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "heddle_lab.h"

enum { N, THREADS };  // the parameters' places
static const struct heddle_lab_parameter parameters[] = {
    [N] = {"n", 20000, 2, 100000000}, [THREADS] = {"threads", 2, 1, 256}, {0}};

static bool is_prime(long candidate) {
  if (candidate < 2) return false;
  for (long divisor = 2; divisor * divisor <= candidate; ++divisor) {
    if (candidate % divisor == 0) return false;
  }
  return true;
}

static long count;  // what a model has found

// The model `serial`: one after another.
static void serial(struct heddle_lab_run* run) {
  for (long candidate = 0; candidate < run->values[N]; ++candidate) count += is_prime(candidate);
  snprintf(run->result, sizeof run->result, "%ld", count);
}

static atomic_long next;
static atomic_long found;

static void* work(void* argument) {
  const long n = *(long*)argument;
  for (long candidate = next++; candidate < n; candidate = next++) found += is_prime(candidate);
  return NULL;
}

// The model `thread`: each thread takes the next number until there is none left.
static void with_threads(struct heddle_lab_run* run) {
  pthread_t workers[256];
  const long threads = run->values[THREADS];
  for (long i = 0; i < threads; ++i) {
    if (pthread_create(&workers[i], NULL, work, &run->values[N]) != 0) {
      fprintf(stderr, "error: no thread %ld of %ld could be made\n", i + 1, threads);
      exit(1);
    }
  }
  for (long i = 0; i < threads; ++i) pthread_join(workers[i], NULL);
  count = found;
  snprintf(run->result, sizeof run->result, "%ld", count);
}

// The oracle: the sieve of Eratosthenes, another way to the same answer.
static bool check(struct heddle_lab_run* run) {
  const long n = run->values[N];
  bool* composite = calloc((size_t)n, sizeof *composite);
  if (composite == NULL) return false;
  long expected = 0;
  for (long i = 2; i < n; ++i) {
    if (composite[i]) continue;
    ++expected;
    for (long j = 2 * i; j < n; j += i) composite[j] = true;
  }
  free(composite);
  snprintf(run->checked, sizeof run->checked, "primes below %ld: %ld, by a sieve %ld", n, count,
           expected);
  return count == expected;
}

static const struct heddle_lab_model models[] = {{"serial", serial}, {"thread", with_threads}, {0}};

int main(int argc, char** argv) {
  return heddle_lab_run("@NAME@", argc, argv, parameters, models, check);
}

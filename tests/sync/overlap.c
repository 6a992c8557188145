// usage: overlap LIBRARY
//
// Opens a library whose code has the same low 32 bits of its addresses as the function that takes a
// lock here. Takes a lock in each, for which two threads wait at the end. Prints whether the two
// overlapped.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "hole.h"

typedef int Take(pthread_mutex_t* lock);

static pthread_mutex_t ours = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t theirs = PTHREAD_MUTEX_INITIALIZER;

CALL static int take_in_program(pthread_mutex_t* lock) { return pthread_mutex_lock(lock); }

static void* want(void* lock) {
  pthread_mutex_lock(lock);
  return NULL;
}

int main(int count, char** arguments) {
  if (count != 2) return 2;
  void* handle;
  Take* take;
  const uintptr_t own = (uintptr_t)take_in_program;
  *(void**)&take = open_over(arguments[1], "take_in_library", own, &handle);
  printf("%d\n", overlap((uintptr_t)take, own));

  take_in_program(&ours);
  take(&theirs);
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, want, &ours);
  pthread_create(&threads[1], NULL, want, &theirs);
  usleep(100000);
  fflush(NULL);
  _exit(0);
}

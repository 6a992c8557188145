// Takes a lock in code that has the same low 32 bits of its address as the program's: overlap.c.
#include <pthread.h>

int take_in_library(pthread_mutex_t* lock);

int take_in_library(pthread_mutex_t* lock) { return pthread_mutex_lock(lock); }

// A library's calloc, which calls malloc: the recorder, which comes before this library, sees a
// call of malloc within one of calloc, and these two are one.
#include <stddef.h>
#include <string.h>

void* malloc(size_t bytes);

void* calloc(size_t count, size_t bytes) {
  size_t all;
  if (__builtin_mul_overflow(count, bytes, &all)) return NULL;
  void* const block = malloc(all);
  return block == NULL ? NULL : memset(block, 0, all);
}

// Prints whether it has other rights than who started it, and what it has of HEDDLE_DIR.
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>

__attribute__((noinline)) static void call(void) { __asm__ volatile(""); }

int main(void) {
  call();
  const char* const directory = getenv("HEDDLE_DIR");
  printf("%lu %s\n", getauxval(AT_SECURE), directory != NULL ? directory : "none");
  return 0;
}

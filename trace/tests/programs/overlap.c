// Opens a library at such an address that its text and the program's overlap modulo 4 GiB. Calls
// before, then into both while the library is open, and when it is closed. Prints the calls of the
// program and of the library, and whether the two overlapped.
#define _GNU_SOURCE
#include <stdio.h>

#include "hole.h"

typedef int Function(void);

static volatile long calls;

CALL static void call(void) { calls++; }

PLAIN int main(void) {
  for (int i = 0; i < 100; i++) call();
  void* handle;
  Function* function;
  *(void**)&function = open_over("twin-3.so", "twin", (uintptr_t)call, &handle);
  long in_library = 0;
  for (int i = 0; i < 1000; i++) {
    call();
    in_library += function() == 3;
  }
  dlclose(handle);
  for (int i = 0; i < 100; i++) call();
  printf("%ld %ld %d\n", calls, in_library, overlap((uintptr_t)function, (uintptr_t)call));
  return 0;
}

// usage: twins ROUNDS [own]
// Opens one, then another library that is as large, at the same address if the loader likes: calls
// three times into the one, five times into the other, and closes it. Prints the calls of each, and
// in how many rounds the two functions had the same address. With `own`, calls the functions that
// have other names in the other library.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "shape.h"

typedef int Function(void);

PLAIN static Function* open_one(const char* name, const char* symbol, void** handle) {
  *handle = dlopen(name, RTLD_NOW);
  if (*handle == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  Function* function;
  *(void**)&function = dlsym(*handle, symbol);  // POSIX's way round ISO C
  return function;
}

PLAIN int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const int own = argc > 2;
  long calls[2] = {0, 0};
  int same = 0;
  for (int round = atoi(argv[1]); round > 0; round--) {
    void* handle;
    Function* const first = open_one("twin-3.so", own ? "twin_3" : "twin", &handle);
    for (int i = 0; i < 3; i++) calls[0] += first() == 3;
    dlclose(handle);
    Function* const second = open_one("twin-5.so", own ? "twin_5" : "twin", &handle);
    for (int i = 0; i < 5; i++) calls[1] += second() == 5;
    dlclose(handle);
    same += first == second;
  }
  printf("%ld %ld %d\n", calls[0], calls[1], same);
  return 0;
}

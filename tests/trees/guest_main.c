// Opens a plugin with exceptions for itself alone, and closes it, twice: it is loaded anew each
// time, and what the loader said is there still when an exception was thrown meanwhile.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

int main(void) {
  for (int i = 0; i < 2; i++) {
    void* plugin = dlopen("guest.so", RTLD_NOW | RTLD_LOCAL);
    if (plugin == NULL) return 1;
    int (*work)(void);
    *(void**)&work = dlsym(plugin, "work");  // POSIX's way round ISO C
    if (work == NULL || dlsym(plugin, "no_such_function") != NULL) return 2;
    if (work() != 1) return 3;
    if (dlerror() == NULL) return 4;
    if (dlclose(plugin) != 0 || dlopen("guest.so", RTLD_NOW | RTLD_NOLOAD) != NULL) return 5;
  }
  return 0;
}

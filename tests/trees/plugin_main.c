// Opens plugin.so (built from plugin.c), calls into it and closes it, twice. Without an argument
// the plugin is found by this program's RUNPATH: link with -Wl,-rpath,$ORIGIN and put plugin.so
// beside it.
#include <dlfcn.h>
#include <stdio.h>

static int use(const char* name) {
  void* plugin = dlopen(name, RTLD_NOW);
  if (plugin == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return -1;
  }
  int (*work)(void);
  *(void**)&work = dlsym(plugin, "plugin_work");  // POSIX's way round ISO C
  const int calls = work == NULL ? -1 : work();
  dlclose(plugin);
  return calls;
}

int main(int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "plugin.so";
  const int first = use(name);
  const int second = use(name);
  return first == 2 && second == 2 ? 0 : 1;
}

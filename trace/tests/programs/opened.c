// Opens plugin.so, calls into it and is killed: what was opened must be known without any exit.
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
  void* plugin = dlopen("plugin.so", RTLD_NOW);
  if (plugin == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  int (*work)(void);
  *(void**)&work = dlsym(plugin, "plugin_work");  // POSIX's way round ISO C
  if (work == NULL || work() != 2) return 1;
  return kill(getpid(), SIGKILL);
}

// Opens plugin.so in two link namespaces of their own, and calls into the second.
#define _GNU_SOURCE  // dlmopen
#include <dlfcn.h>
#include <stdio.h>

int main(void) {
  void* plugin = NULL;
  for (int round = 0; round < 2; ++round) {
    plugin = dlmopen(LM_ID_NEWLM, "plugin.so", RTLD_NOW);
    if (plugin == NULL) {
      fprintf(stderr, "%s\n", dlerror());
      return 1;
    }
  }
  int (*work)(void);
  *(void**)&work = dlsym(plugin, "plugin_work");  // POSIX's way round ISO C
  return work != NULL && work() == 2 ? 0 : 1;
}

// Opens plugin.so some time after it began, calls into it, and becomes itself once more by exec.
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

static volatile int calls;

static void leaf(void) { calls++; }

int main(int count, char** arguments) {
  leaf();
  puts("begun");
  fflush(stdout);
  usleep(300000);
  void* plugin = dlopen("plugin.so", RTLD_NOW);
  int (*work)(void) = NULL;
  if (plugin != NULL) *(void**)&work = dlsym(plugin, "plugin_work");  // POSIX's way round ISO C
  if (work == NULL || work() != 2) return 1;
  puts("opened");
  if (count == 1) execl(arguments[0], arguments[0], "again", (char*)NULL);
  return 0;
}

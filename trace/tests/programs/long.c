// A million calls, 64 MB of records; prints how many mappings of the recorder's file there are
// then.
#include <stdio.h>
#include <string.h>

#define PLAIN __attribute__((no_instrument_function))

static void call(void) {}

PLAIN int main(void) {
  for (int i = 0; i < 1000000; i++) call();
  FILE* maps = fopen("/proc/self/maps", "r");
  if (maps == NULL) return 1;
  char line[4096];
  int count = 0;
  while (fgets(line, sizeof line, maps) != NULL) count += strstr(line, "/buffer-1\n") != NULL;
  fclose(maps);
  printf("%d\n", count);
  return 0;
}

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hooks.h"

FILE* lab_open(const char* name) {
  const char* const directory = getenv("LAB_TRACE");
  char path[4096];
  const int length =
      snprintf(path, sizeof path, "%s/%s", directory != NULL ? directory : ".", name);
  FILE* const file = length < (int)sizeof path ? fopen(path, "we") : NULL;
  if (file == NULL) {
    fprintf(stderr, "error: cannot write %s: %s\n", path, strerror(errno));
    abort();
  }
  return file;
}

void lab_close(FILE* file) {
  if (fclose(file) == 0) return;
  fprintf(stderr, "error: cannot write what the hooks recorded: %s\n", strerror(errno));
  abort();
}

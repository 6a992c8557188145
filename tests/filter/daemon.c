// Leaves a child behind that calls when heddle record has ended: when its control file is gone.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile int calls;

static void leaf(void) { calls++; }
static void helper(void) { calls++; }

int main(void) {
  leaf();
  helper();
  const pid_t child = fork();
  if (child != 0) return child < 0;
  char path[4200];
  snprintf(path, sizeof path, "%s/control", getenv("HEDDLE_DIR"));
  for (int i = 0; i < 1000 && access(path, F_OK) == 0; i++) usleep(20000);
  leaf();
  helper();
  puts("done");
  return 0;
}

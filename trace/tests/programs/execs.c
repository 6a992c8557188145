// Replaces itself by a second image, which has the same pid.
#include <unistd.h>

static void first(void) {}
static void second(void) {}

int main(int argc, char** argv) {
  if (argc > 1) {
    second();
    second();
    return 7;
  }
  first();
  execl(argv[0], argv[0], "again", (char*)0);
  return 1;
}

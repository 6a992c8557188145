/* Recorded by the installed command. */
#include <heddle/trace.h>

void traced_function(void);

void traced_function(void) { heddle_mark("marked"); }

int main(void) {
  traced_function();
  return 0;
}

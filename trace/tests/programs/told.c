// Uses all of heddle/trace.h but snapshots, and prints how many calls were made while recording was
// on and off. With an argument it makes so many calls as a strand, and as many again, behind a
// pause, as nobody knows whom.
#include <heddle/trace.h>
#include <stdio.h>
#include <stdlib.h>

#define PLAIN __attribute__((no_instrument_function))

static void call(void) {}

PLAIN int main(int count, char** arguments) {
  int recorded = 0, skipped = 0;
  heddle_name_thread("the loom");
  heddle_mark("begin");
  for (int i = 0; i < 100; i++, recorded++) call();
  heddle_stop();
  heddle_mark("not to be seen");
  for (int i = 0; i < 1000; i++, skipped++) call();
  heddle_start();
  for (int i = 0; i < 100; i++, recorded++) call();
  heddle_name_strand(4711, "weft");
  heddle_strand_switch(4711);
  call(), recorded++;
  if (count > 1) {
    const int many = atoi(arguments[1]);
    for (int i = 0; i < many; i++) call();
    heddle_stop();
    heddle_start();
    for (int i = 0; i < many; i++) call();
  }
  heddle_strand_waits(4711, "warp");
  heddle_strand_switch(0);
  heddle_strand_end(4711);
  heddle_mark("");
  printf("%d %d %d\n", recorded, skipped, heddle_snapshot());
  return 0;
}

// A calls B calls C, each sleeps 2, 5 and 7 hundredths of a second: the smallest trace worth
// reading.
//
//   heddle record -- build/examples/abc && heddle replay
//
// Look at: three lines going in and three coming out, indented by depth; C's stretch lies within
// B's, B's within A's; in `heddle report`, A's total is the sum of all three while its self time is
// its own sleep alone.
#include <unistd.h>

void C() { usleep(70'000); }

void B() {
  usleep(50'000);
  C();
}

void A() {
  usleep(20'000);
  B();
}

int main() {
  A();
  return 0;
}

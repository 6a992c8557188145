// The source's sample program: main calls A, A calls B, B calls C, and each sleeps before it does:
// 2, 5 and 7 times the microseconds of its argument. It notes the time of day itself, next to where
// a hook does, and prints
//
//   Enter A NANOSECONDS-SINCE-1970
//
// and so on, in order.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

namespace {

struct note {
  const char* what;
  long long time_ns;
};

note notes[6];
int noted = 0;
useconds_t unit = 0;

__attribute__((no_instrument_function)) void now(const char* what) {
  timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  notes[noted++] = {what, time.tv_sec * 1'000'000'000LL + time.tv_nsec};
}

}  // namespace

void C();
void B();
void A();

void C() {
  now("Enter _Z1Cv");
  usleep(7 * unit);
  now("Exit _Z1Cv");
}

void B() {
  now("Enter _Z1Bv");
  usleep(5 * unit);
  C();
  now("Exit _Z1Bv");
}

void A() {
  now("Enter _Z1Av");
  usleep(2 * unit);
  B();
  now("Exit _Z1Av");
}

int main(int argc, char** argv) {
  unit = argc > 1 ? static_cast<useconds_t>(atoi(argv[1])) : 1000;
  A();
  for (const note& each : notes) printf("%s %lld\n", each.what, each.time_ns);
  return 0;
}

// Exceptions that leave the one function that is recorded: no call that is recorded is around the
// next one, whose frame may lie lower than that of the call that was left.
static volatile int steps;

static void step() { steps = steps + 1; }

static void refuse() {
  step();
  throw 1;
}

static void refused() {
  volatile char room[300];
  room[0] = 1;
  try {
    refuse();
  } catch (int) {
    step();
  }
}

// Its frame is below all of refused's.
static void refused_below() {
  volatile char room[3000];
  room[0] = 1;
  refused();
}

int main() {
  for (int i = 0; i < 2; ++i) {
    try {
      refuse();
    } catch (int) {
      step();
    }
  }
  refused();
  refused_below();
  refused();
  return steps == 10 ? 0 : 1;
}

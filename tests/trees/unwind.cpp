// An exception through three frames, with a destructor that calls on the way, caught, rethrown and
// caught again; what is called afterwards must be back at the catcher's depth.
static volatile int steps;

static void step() { steps = steps + 1; }

struct Guard {
  ~Guard() { step(); }
};

static void thrower(int value) {
  const Guard guard;
  throw value;
}

static void passer(int value) {
  const Guard guard;
  thrower(value);
  step();  // never reached
}

static void rethrower(int value) {
  try {
    passer(value);
  } catch (int) {
    step();
    throw;
  }
}

static int catcher(int value) {
  try {
    rethrower(value);
  } catch (int caught) {
    step();
    return caught;
  }
  return 0;
}

static void after() { step(); }

int main(int argc, char**) {
  const int caught = catcher(argc + 6);
  after();
  return caught == argc + 6 && steps == 5 ? 0 : 1;
}

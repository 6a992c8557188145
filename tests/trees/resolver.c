// An IFUNC, whose resolver is instrumented: the loader calls it while it relocates the program,
// before thread-local memory is there.
static volatile int calls;

static int one(void) {
  calls++;
  return 1;
}

static int supported(void) { return calls == 0; }

static int (*resolve(void))(void) { return supported() ? one : 0; }

int chosen(void) __attribute__((ifunc("resolve")));

int main(void) { return chosen() == 1 && chosen() == 1 && calls == 2 ? 0 : 1; }

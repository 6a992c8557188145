// Calls that are inlined into a function whose frame has grown (alloca), and which a function
// without hooks calls.
#include <alloca.h>

#define PLAIN __attribute__((no_instrument_function, noinline))
#define OUT_OF_LINE __attribute__((noinline))

static volatile int calls;

OUT_OF_LINE static void leaf(void) { calls++; }

__attribute__((always_inline)) static inline void inlined(void) {
  leaf();
  calls++;
}

OUT_OF_LINE static void grows(int bytes) {
  volatile char* const place = alloca((unsigned long)bytes);
  *place = 1;
  inlined();
  leaf();
  *place = 2;
}

PLAIN static void calls_plainly(int bytes) {
  grows(bytes);
  calls++;
}

int main(void) {
  for (int i = 1; i < 4; i++) calls_plainly(i * 100);
  grows(100);
  return calls == 4 * 3 + 3 ? 0 : 1;
}

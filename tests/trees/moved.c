// `bare` has no hooks, but `step` is inlined into it, and the compiler moves what makes the call of
// `report` away (`bare.cold`): that call is step's, too.
#define OUT_OF_LINE __attribute__((noinline))

static volatile int calls;

__attribute__((cold)) OUT_OF_LINE static void report(int n) { calls = calls + n; }

OUT_OF_LINE static void leaf(int n) { calls = calls + n; }

static inline void step(int n) {
  leaf(n);
  if (n % 3 == 1) report(n);
  leaf(n);
}

__attribute__((no_instrument_function)) OUT_OF_LINE static void bare(int n) {
  for (int i = 0; i < n; ++i) step(i);
}

int main(void) {
  bare(3);
  return calls == 7 ? 0 : 1;
}

// Tail calls, which the second way in keeps: `start` is left before `middle` begins, and that one
// before `end` does, all of them called from main.
static volatile int steps;

#define CALLED __attribute__((noipa))

CALLED static int inner(int n) {
  steps++;
  return n;
}
CALLED static int end(int n) { return inner(n) + inner(1); }
CALLED static int middle(int n) {
  inner(n);
  return end(n + 1);
}
CALLED static int start(int n) { return middle(n + 1); }

// The compiler makes a loop of it; the trace has each of its calls.
CALLED static int down(int n) {
  inner(n);
  return n == 0 ? 0 : down(n - 1);
}

int main(void) { return start(0) == 3 && down(3) == 0 && steps == 7 ? 0 : 1; }

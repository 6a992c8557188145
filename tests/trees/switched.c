// Fibers whose stacks are parts of an array of main, switched by the program's own code: nobody
// announces them, and no call of the thread ends while they are suspended. Those that begin later
// lie lower, so that they look like callbacks of the earlier ones.
#define OUT_OF_LINE __attribute__((noinline))

enum { kFibers = 3, kTurns = 6, kBytes = 1 << 14 };

// Keeps the stack pointer at `from`, and goes on with `to`.
void switch_to(void** from, void* to);
void begin_fiber(void);
__asm__(
    ".text\n"
    ".globl switch_to\n"
    ".type switch_to, @function\n"
    "switch_to:\n"
    "  pushq %rbp; pushq %rbx; pushq %r12; pushq %r13; pushq %r14; pushq %r15\n"
    "  movq %rsp, (%rdi)\n"
    "  movq %rsi, %rsp\n"
    "  popq %r15; popq %r14; popq %r13; popq %r12; popq %rbx; popq %rbp\n"
    "  ret\n"
    ".size switch_to, . - switch_to\n"
    // The function is in rbx.
    ".globl begin_fiber\n"
    ".type begin_fiber, @function\n"
    "begin_fiber:\n"
    "  call *%rbx\n"
    "  ud2\n"
    ".size begin_fiber, . - begin_fiber\n");

static void* scheduler;
static void* fibers[kFibers];
static int current;
static volatile int calls;

OUT_OF_LINE static void step(void) { calls++; }

OUT_OF_LINE static void give_way(void) {
  calls++;
  switch_to(&fibers[current], scheduler);
  calls++;
}

OUT_OF_LINE static void work(void) {
  step();
  give_way();
  calls++;
}

OUT_OF_LINE static void body(void) {
  for (volatile int turn = 1; turn < kTurns; turn++) work();
  calls++;
  for (;;) switch_to(&fibers[current], scheduler);
}

int main(void) {
  static void (*const begin)(void) = begin_fiber;
  _Alignas(16) char stacks[kFibers * kBytes];
  for (int i = 0; i < kFibers; i++) {
    void** top = (void**)(stacks + kBytes * (kFibers - i)) - 2;
    top[0] = (void*)begin;
    // What switch_to takes off: rbx is the fifth of six.
    fibers[i] = top - 6;
    for (int j = 1; j <= 6; j++) top[-j] = 0;
    top[-2] = (void*)body;
  }
  for (int turn = 0; turn < kTurns; turn++)
    for (current = 0; current < kFibers; current++) switch_to(&scheduler, fibers[current]);
  return calls == kFibers * (4 * (kTurns - 1) + 1) ? 0 : 1;
}

// Fibers whose outermost function ends by calls that the optimiser makes jumps: each is one fiber
// (tail.tree), on a stack of its own or one after another on the same.
#include <ucontext.h>

#include <array>
#include <cstddef>

#define CALLED __attribute__((noinline))

namespace {

volatile int sum;
ucontext_t scheduler, fiber;
void (*volatile chosen)(int);

}  // namespace

CALLED void leaf() { sum = sum + 1; }

CALLED void at_last(int number) {
  leaf();
  sum = sum + number;
}

CALLED void then(int number) {
  leaf();
  at_last(number);
}

/// It jumps to a function whose name is in its code.
CALLED void body(int number) {
  leaf();
  swapcontext(&fiber, &scheduler);
  leaf();
  then(number);
}

/// It jumps to one whose address is in memory.
CALLED void other_body(int number) {
  leaf();
  swapcontext(&fiber, &scheduler);
  leaf();
  chosen(number);
}

/// It returns.
CALLED void plain_body(int number) {
  leaf();
  swapcontext(&fiber, &scheduler);
  leaf();
  sum = sum + number;
}

/// The scheduler is no traced code, and so begins the next fiber right behind the last one.
__attribute__((noinline, no_instrument_function)) static void run(void (*begin)(int), char* stack,
                                                                  std::size_t bytes) {
  getcontext(&fiber);
  fiber.uc_stack.ss_sp = stack;
  fiber.uc_stack.ss_size = bytes;
  fiber.uc_link = &scheduler;
  makecontext(&fiber, reinterpret_cast<void (*)()>(begin), 1, 1);
  swapcontext(&scheduler, &fiber);
  swapcontext(&scheduler, &fiber);
}

int main() {
  chosen = then;
  static std::array<std::array<char, 65536>, 10> stacks;
  for (const auto& begin : {body, other_body, plain_body}) {
    for (auto& stack : stacks) run(begin, stack.data(), stack.size());
    for (int i = 0; i < 10; ++i) run(begin, stacks[0].data(), stacks[0].size());
  }
}

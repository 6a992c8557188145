// Fibers whose stacks are arrays of a function, and whose outermost function ends by a call that
// the optimiser makes a jump: each is one fiber (within.tree).
#include <ucontext.h>

#include <array>
#include <cstddef>

#define CALLED __attribute__((noinline))

namespace {

volatile int sum;
ucontext_t scheduler;
std::array<ucontext_t, 2> fibers;
std::size_t current;

}  // namespace

CALLED void leaf() { sum = sum + 1; }

CALLED void rest() {
  swapcontext(fibers.data() + current, &scheduler);
  sum = sum + 1;
}

CALLED void body() {
  leaf();
  rest();
  leaf();
  rest();
}

CALLED void resume(std::size_t number) {
  current = number;
  swapcontext(&scheduler, fibers.data() + number);
  sum = sum + 1;
}

int main() {
  std::array<std::array<char, 32768>, 2> stacks;
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    ucontext_t& fiber = fibers[i];
    getcontext(&fiber);
    fiber.uc_stack.ss_sp = stacks[i].data();
    fiber.uc_stack.ss_size = stacks[i].size();
    fiber.uc_link = &scheduler;
    makecontext(&fiber, body, 0);
  }
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < stacks.size(); ++i) resume(i);
  }
  leaf();
}

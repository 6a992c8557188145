// fibers COUNT: so many fibers, each of which runs four times, for the page of many strands.
#include <ucontext.h>

#include <cstdlib>
#include <vector>

namespace {

constexpr std::size_t STACK = 16 << 10;
constexpr int ROUNDS = 4;
ucontext_t outside;
std::vector<ucontext_t> fibers;
volatile long sink;

void leaf(long rounds) {
  for (long round = 0; round < rounds; round++) sink = sink + round;
}

void step(long index) {
  for (int call = 0; call < 3; call++) leaf(index % 50);
}

void work(int index) {
  for (int round = 1; round < ROUNDS; round++) {
    step(index);
    swapcontext(&fibers[index], &outside);
  }
  step(index);
}

}  // namespace

int main(int, char** words) {
  int count = std::atoi(words[1]);
  fibers.resize(count);
  std::vector<char> stacks(count * STACK);
  for (int index = 0; index < count; index++) {
    ucontext_t& fiber = fibers[index];
    getcontext(&fiber);
    fiber.uc_stack.ss_sp = &stacks[index * STACK];
    fiber.uc_stack.ss_size = STACK;
    fiber.uc_link = &outside;
    makecontext(&fiber, reinterpret_cast<void (*)()>(work), 1, index);
  }
  for (int round = 0; round < ROUNDS; round++)
    for (int index = 0; index < count; index++) swapcontext(&outside, &fibers[index]);
}

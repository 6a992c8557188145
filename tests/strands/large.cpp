// A fiber that code without hooks calls a function on whose frame is larger than what mostly lies
// between two calls of one stack, in the end by another fiber: each is one fiber (large.tree). The
// recorder knows neither the stacks nor the switch.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#define CALLED __attribute__((noinline))
#define UNSEEN __attribute__((no_instrument_function, noinline))

extern "C" void switch_stacks(void** from, void* to);
asm(R"(
  .pushsection .text
  .type switch_stacks, @function
switch_stacks:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size switch_stacks, . - switch_stacks
  .popsection
)");

namespace {

constexpr std::size_t kBytes = std::size_t{1} << 20U;
constexpr std::size_t kFrame = 100000;

volatile int sum;
void* scheduler;
std::array<void*, 2> fibers;
std::size_t current;

}  // namespace

CALLED void leaf() { sum = sum + 1; }

CALLED void large() {
  std::array<volatile char, kFrame> used;
  used[0] = 1;
  leaf();
  used[kFrame - 1] = 1;
}

UNSEEN void by_way() {
  leaf();
  large();
  leaf();
}

CALLED void body() {
  by_way();
  switch_stacks(fibers.data() + current, scheduler);
  by_way();
}

UNSEEN void begin() {
  body();
  switch_stacks(fibers.data() + current, scheduler);
}

CALLED void resume(std::size_t number) {
  current = number;
  switch_stacks(&scheduler, fibers[number]);
  sum = sum + 1;
}

int main() {
  std::array<std::unique_ptr<char[]>, 2> stacks;
  for (std::size_t number = 0; number < stacks.size(); ++number) {
    stacks[number] = std::make_unique<char[]>(kBytes);
    auto end = reinterpret_cast<std::uintptr_t>(stacks[number].get()) + kBytes;
    auto* top = reinterpret_cast<void**>(end & ~std::uintptr_t{15});
    // The callee-saved registers, the function, and where that would return to.
    fibers[number] = top - 8;
    top[-2] = reinterpret_cast<void*>(begin);
  }
  for (std::size_t turn = 0; turn < 4; ++turn) {
    resume(turn % 2);
  }
}

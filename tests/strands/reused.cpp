// Fibers on memory that is a thread's own stack later, or was before: each is one fiber
// (reused.tree).
#include <pthread.h>
#include <ucontext.h>

#include <array>
#include <cstddef>
#include <cstdlib>

#define CALLED __attribute__((noinline))

namespace {

constexpr std::size_t bytes = 65536;
using Stack = std::array<char, bytes>;

// The fibers run on it before and after a thread does.
alignas(bytes) std::array<Stack, 4> shared;

volatile int sum;
// Fibers run on the main thread and on the other, one after the other.
ucontext_t scheduler, fiber;

}  // namespace

CALLED void leaf() { sum = sum + 1; }

CALLED void body() {
  leaf();
  swapcontext(&fiber, &scheduler);
  leaf();
  sum = sum + 1;
}

/// Runs a fiber until it is left, and to its end if it `ends`.
__attribute__((noinline, no_instrument_function)) static void run(void* stack, bool ends) {
  getcontext(&fiber);
  fiber.uc_stack.ss_sp = stack;
  fiber.uc_stack.ss_size = bytes;
  fiber.uc_link = &scheduler;
  makecontext(&fiber, body, 0);
  swapcontext(&scheduler, &fiber);
  if (ends) swapcontext(&scheduler, &fiber);
}

CALLED void* threaded(void* stack) {
  leaf();
  run(stack, true);
  leaf();
  return nullptr;
}

int main() {
  // The thread begins where fibers have calls open that go on no more.
  for (auto& stack : shared) run(stack.data(), false);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, shared.data(), sizeof shared);
  // The thread's fiber has memory of its own.
  void* own = std::malloc(bytes);
  pthread_t thread;
  if (pthread_create(&thread, &attributes, threaded, own) != 0) return 1;
  pthread_join(thread, nullptr);
  for (auto& stack : shared) run(stack.data(), true);
  std::free(own);
  return 0;
}

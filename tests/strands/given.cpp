// Fibers beside a thread whose stack lies in the same memory, and which the program gave it. They
// are made and switched by the program's own code, so only where the thread's stack is tells them
// from its calls (given.tree).
#include <pthread.h>

#include <cstddef>
#include <cstdint>

#define CALLED __attribute__((noinline))
#define UNRECORDED __attribute__((noinline, no_instrument_function))

// Saves the stack pointer at its first argument and goes on with the second one.
extern "C" void heddle_test_switch(std::uintptr_t* from, std::uintptr_t to);
__asm__(
    "\t.text\n"
    "\t.type heddle_test_switch, @function\n"
    "heddle_test_switch:\n"
    "\tpush %rbp\n\tpush %rbx\n\tpush %r12\n\tpush %r13\n\tpush %r14\n\tpush %r15\n"
    "\tmov %rsp, (%rdi)\n"
    "\tmov %rsi, %rsp\n"
    "\tpop %r15\n\tpop %r14\n\tpop %r13\n\tpop %r12\n\tpop %rbx\n\tpop %rbp\n"
    "\tret\n"
    "\t.size heddle_test_switch, . - heddle_test_switch\n");

namespace {

constexpr std::size_t bytes = 65536, fibers = 8;
constexpr std::size_t words = bytes / sizeof(std::uintptr_t);

// The thread's is the first, so that the fibers' are above, or the last. No std::array, because
// that would add calls of its own.
alignas(bytes) std::uintptr_t shared[(fibers + 2) * words];

volatile int sum;
std::uintptr_t scheduler;
std::uintptr_t suspended[fibers];
std::size_t current;

}  // namespace

CALLED void leaf() { sum = sum + 1; }

CALLED void rest() {
  heddle_test_switch(suspended + current, scheduler);
  sum = sum + 1;
}

CALLED void body() {
  leaf();
  rest();
  sum = sum + 1;
}

UNRECORDED static void start() {
  body();
  heddle_test_switch(suspended + current, scheduler);
}

UNRECORDED static void run() {
  for (std::size_t i = 0; i < fibers; ++i) {
    // Room for the six registers, the address to go to, and one where a call would have left its
    // own.
    std::uintptr_t* top = shared + (i + 2) * words - 8;
    top[6] = reinterpret_cast<std::uintptr_t>(start);
    suspended[i] = reinterpret_cast<std::uintptr_t>(top);
  }
  for (int round = 0; round < 2; ++round) {
    for (current = 0; current < fibers; ++current) {
      heddle_test_switch(&scheduler, suspended[current]);
    }
  }
}

CALLED void* threaded(void*) {
  leaf();
  run();
  leaf();
  sum = sum + 1;
  return nullptr;
}

UNRECORDED static bool threads_on(std::uintptr_t* stack) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, stack, bytes);
  pthread_t thread;
  if (pthread_create(&thread, &attributes, threaded, nullptr) != 0) return false;
  return pthread_join(thread, nullptr) == 0;
}

int main() { return threads_on(shared) && threads_on(shared + (fibers + 1) * words) ? 0 : 1; }

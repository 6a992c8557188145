// Exceptions that end no call of the thread: on a fiber whose stack is an array of a function,
// within code that is not recorded. And one that the program throws when it may ask what the loader
// said.
#include <dlfcn.h>
#include <ucontext.h>

#define OUT_OF_LINE __attribute__((noinline))
#define PLAIN __attribute__((no_instrument_function, noinline))

namespace {

constexpr unsigned long kStackBytes = 1 << 16;

ucontext_t scheduler, fiber;
volatile int caught;

}  // namespace

extern "C" {

PLAIN void throw_plainly() { throw 1; }

PLAIN void catch_plainly() {
  try {
    throw_plainly();
  } catch (int) {
    caught = caught + 1;
  }
}

PLAIN void body() {
  for (;;) {
    catch_plainly();
    swapcontext(&fiber, &scheduler);
  }
}

OUT_OF_LINE void turn() {
  swapcontext(&scheduler, &fiber);
  caught = caught + 1;
}

OUT_OF_LINE void run(char* stack) {
  getcontext(&fiber);
  fiber.uc_stack.ss_sp = stack;
  fiber.uc_stack.ss_size = kStackBytes;
  makecontext(&fiber, body, 0);
  for (int i = 0; i < 3; ++i) turn();
  caught = caught + 1;
}

OUT_OF_LINE void around() {
  char stack[kStackBytes];
  run(stack);
  caught = caught + 1;
}

OUT_OF_LINE void load() {
  if (dlopen("/no/such.so", RTLD_NOW) == nullptr) throw 1;
}

OUT_OF_LINE void asks() {
  try {
    load();
  } catch (int) {
    if (dlerror() != nullptr) caught = caught + 1;
  }
}
}

int main() {
  asks();
  around();
  return caught == 1 + 3 + 3 + 1 + 1 ? 0 : 1;
}

// Checks directly what the hooks of the second way in must preserve: every register, vector
// register and flag is filled with a pattern before each hook and compared after it, on an aligned
// stack and on a misaligned one. Often enough that the recorder's slow paths are among the calls:
// first events of threads, growing files.
#include "registers.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { kThreads = 8, kRounds = 10000, kRegisters = 15, kR11 = 10 };

struct state {
  uint64_t registers[kRegisters];  // rax rbx rcx rdx rsi rdi rbp r8 … r15
  uint64_t flags;
  uint64_t misaligned;  // by how many bytes the stack is
  uint64_t avx;
  uint8_t x87[16];  // an extended double takes ten
  uint8_t vectors[16][32];
};
_Static_assert(offsetof(struct state, flags) == STATE_FLAGS, "");
_Static_assert(offsetof(struct state, misaligned) == STATE_MISALIGNED, "");
_Static_assert(offsetof(struct state, avx) == STATE_AVX, "");
_Static_assert(offsetof(struct state, x87) == STATE_X87, "");
_Static_assert(offsetof(struct state, vectors) == STATE_VECTORS, "");

// One thread at a time uses them.
struct state given, after_enter, after_exit;
void heddle_test_probe(void);

// Carry, parity, adjust, zero, sign, direction, overflow; the second bit is always set.
static const uint64_t all_flags = 0xcd7;

#define UNHOOKED __attribute__((no_instrument_function))

UNHOOKED static void fill(unsigned round) {
  uint64_t noise = round * 0x9e3779b97f4a7c15u + 1;
  for (int i = 0; i < kRegisters; i++) given.registers[i] = noise *= 0xd1342543de82ef95u;
  // In turn all, none, each alone, all but one.
  const uint64_t choice = round % 26;
  uint64_t some = choice == 0 ? all_flags : choice == 1 ? 0 : (uint64_t)1 << (choice - 2) / 2;
  if (choice > 1 && choice % 2 == 1) some = ~some;
  given.flags = (some & all_flags) | 0x202;  // interrupts are on
  given.misaligned = round / 26 % 16;
  const long double number = (long double)round / 3;
  memcpy(given.x87, &number, 10);
  for (unsigned i = 0; i < sizeof given.vectors; i++) {
    ((uint8_t*)given.vectors)[i] = (uint8_t)((noise *= 0xd1342543de82ef95u) >> 56);
  }
}

UNHOOKED static int same(const char* hook, const struct state* after) {
  for (int i = 0; i < kRegisters; i++) {
    if (i == kR11 && after == &after_enter) continue;
    if (after->registers[i] != given.registers[i]) {
      return fprintf(stderr, "%s changed register %d\n", hook, i), 0;
    }
  }
  // __fentry__ may change the flags, but not the direction.
  const uint64_t promised = after == &after_enter ? 0x400 : all_flags;
  if ((after->flags & promised) != (given.flags & promised)) {
    return fprintf(stderr, "%s made flags %lx of %lx\n", hook, (long)after->flags,
                   (long)given.flags),
           0;
  }
  if (memcmp(after->x87, given.x87, 10) != 0) return fprintf(stderr, "%s changed st0\n", hook), 0;
  for (int i = 0; i < 16; i++) {
    if (memcmp(after->vectors[i], given.vectors[i], given.avx ? 32 : 16) != 0) {
      return fprintf(stderr, "%s changed vector register %d\n", hook, i), 0;
    }
  }
  return 1;
}

static void* work(void* ok) {
  for (unsigned round = 0; round < kRounds; round++) {
    fill(round);
    heddle_test_probe();
    if (!same("__fentry__", &after_enter) || !same("__return__", &after_exit)) return NULL;
  }
  return ok;
}

int main(void) {
  given.avx = __builtin_cpu_supports("avx") != 0;
  if (!given.avx)
    fprintf(stderr, "this processor has no AVX: only the lower halves are compared\n");
  for (int i = 0; i < kThreads; i++) {
    pthread_t thread;
    void* result = NULL;
    if (pthread_create(&thread, NULL, work, &given) != 0) return 2;
    if (pthread_join(thread, &result) != 0 || result == NULL) return 1;
  }
  return 0;
}

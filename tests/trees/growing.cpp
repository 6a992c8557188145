// growing [SEED]: random calls of functions with frames of several sizes, some of which grow by as
// much as chance says (alloca), in handlers of exceptions, too. Exceptions leave them as often as
// they return. Prints its own tree, as docs/expected-tree.md has it.
#include <alloca.h>

#include <cstdio>
#include <cstdlib>

#define PLAIN __attribute__((no_instrument_function, noinline))

namespace {

constexpr int kFunctions = 7, kDeepest = 40;

int catching, depth, left = 900;
unsigned long state;

PLAIN int pick(int below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return static_cast<int>((state >> 33) % static_cast<unsigned long>(below));
}

PLAIN int is_entered(const char* name) {
  ++depth;
  std::printf("%*s%s\n", 2 * depth, "", name);
  return depth;
}

/// How often a call does something more.
PLAIN int times() {
  const int most = left < depth * 2 || depth > kDeepest ? 0 : pick(4);
  left -= most;
  return most;
}

/// So many bytes.
PLAIN volatile char* touched(void* bytes) {
  auto* const first = static_cast<volatile char*>(bytes);
  *first = 1;
  return first;
}

}  // namespace

extern "C" {

void wide(int a, int b, int c, int d, int e, int f, int g, int h);
extern void (*const functions[kFunctions])();

// What a function does within its frame; `handle` is what its handler does.
#define BODY(name, handle)                              \
  const int own = is_entered(name);                     \
  for (int more = times(); more > 0; --more) {          \
    const int what = pick(12);                          \
    if (what < 5) {                                     \
      functions[pick(kFunctions)]();                    \
    } else if (what < 6) {                              \
      wide(1, 2, 3, 4, 5, 6, 7, 8);                     \
    } else if (what < 10) {                             \
      const int around = catching++;                    \
      try {                                             \
        functions[pick(kFunctions)]();                  \
        catching = around;                              \
      } catch (int) {                                   \
        catching = around;                              \
        depth = own;                                    \
        handle;                                         \
        if (pick(2) != 0) wide(1, 2, 3, 4, 5, 6, 7, 8); \
      }                                                 \
    } else if (catching > 0) {                          \
      throw own;                                        \
    }                                                   \
  }                                                     \
  depth = own - 1

#define FUNCTION(name, bytes)               \
  __attribute__((noinline)) void name() {   \
    volatile char frame[bytes];             \
    *touched(const_cast<char*>(frame)) = 1; \
    BODY(#name, (void)0);                   \
  }

#define GROW(bytes) *touched(alloca(static_cast<std::size_t>(pick(bytes)) + 1)) = 1

#define GROWING(name, bytes)                             \
  __attribute__((noinline)) void name() {                \
    for (int twice = 0; twice < 2; ++twice) GROW(bytes); \
    BODY(#name, GROW(bytes));                            \
  }

FUNCTION(little, 24)
FUNCTION(middling, 64)
FUNCTION(big, 600)
FUNCTION(odd, 40)
GROWING(grows, 100)
GROWING(swells, 400)
GROWING(explodes, 4000)

__attribute__((noinline)) void wide(int a, int b, int c, int d, int e, int f, int g, int h) {
  BODY("wide", (void)0) + 0 * (a + b + c + d + e + f + g + h);
}

void (*const functions[kFunctions])() = {little, middling, big, odd, grows, swells, explodes};
}

int main(int argc, char** argv) {
  state = argc > 1 ? static_cast<unsigned long>(std::atol(argv[1])) : 0;
  std::printf("thread *\n");
  (void)is_entered("main");
  for (int i = 0; i < 20; ++i) {
    grows();
    swells();
  }
  return 0;
}

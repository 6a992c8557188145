// leaps [SEED]: random calls of functions with frames of several sizes, which are left by longjmp
// as often as by a return. Prints its own tree, as docs/expected-tree.md has it.
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#define PLAIN __attribute__((no_instrument_function, noinline))

typedef void Function(void);

enum { kFunctions = 6, kPlaces = 64, kDeepest = 60 };

extern Function* const functions[kFunctions];
static jmp_buf places[kPlaces];
static int open_places, depth, left = 600;
static unsigned long state;

PLAIN static int pick(int below) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (int)((state >> 33) % (unsigned long)below);
}

PLAIN static int is_entered(const char* name) {
  ++depth;
  printf("%*s%s\n", 2 * depth, "", name);
  return depth;
}

// How often a call does something more.
PLAIN static int times(void) {
  const int most = left < depth * 2 || depth > kDeepest ? 0 : pick(4);
  left -= most;
  return most;
}

// A function: its frame takes so many bytes. Where it calls setjmp, a call inside may go back to.
#define FUNCTION(name, bytes)                                        \
  __attribute__((noinline)) void name(void) {                        \
    volatile char frame[bytes];                                      \
    frame[bytes - 1] = 1;                                            \
    const int own = is_entered(#name) * frame[bytes - 1];            \
    for (volatile int more = times(); more > 0; --more) {            \
      const int what = pick(10);                                     \
      if (what < 5) {                                                \
        functions[pick(kFunctions)]();                               \
      } else if (what < 8 && open_places < kPlaces) {                \
        volatile int place = open_places;                            \
        volatile int again = pick(2);                                \
        if (setjmp(places[place]) == 0) {                            \
          open_places = place + 1;                                   \
          functions[pick(kFunctions)]();                             \
          open_places = place;                                       \
        } else {                                                     \
          open_places = place;                                       \
          depth = own;                                               \
          if (again != 0) functions[pick(kFunctions)]();             \
        }                                                            \
      } else if (open_places > 0) {                                  \
        longjmp(places[open_places - 1 - pick(open_places) % 2], 1); \
      }                                                              \
    }                                                                \
    depth = own - 1;                                                 \
    __asm__ volatile("" ::: "memory");                               \
  }

FUNCTION(tiny, 8)
FUNCTION(little, 24)
FUNCTION(middling, 64)
FUNCTION(big, 256)
FUNCTION(huge, 1000)
FUNCTION(odd, 40)

Function* const functions[kFunctions] = {tiny, little, middling, big, huge, odd};

int main(int argc, char** argv) {
  state = argc > 1 ? (unsigned long)atol(argv[1]) : 0;
  printf("thread *\n");
  (void)is_entered("main");
  for (volatile int i = 0; i < 20; ++i) {
    open_places = 0;
    tiny();
    huge();
  }
  return 0;
}

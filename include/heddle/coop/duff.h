/** Coroutines out of a switch statement, in C and C++: Duff's device, as in Simon Tatham's
 * "Coroutines in C" and in protothreads. The cheapest there is: a coroutine is an `int`, resuming
 * one a call and a jump. Here to be compared with, and for where there is room for nothing else:
 * look at the limits first.
 *
 *     struct counter { heddle_duff at; int i; };
 *
 *     int count(struct counter* self, int* out) {
 *       HEDDLE_DUFF_BEGIN(&self->at);
 *       for (self->i = 0; self->i < 3; ++self->i) {
 *         *out = self->i;
 *         HEDDLE_DUFF_YIELD(&self->at);
 *       }
 *       HEDDLE_DUFF_END(&self->at);
 *     }
 *
 *     struct counter c = {HEDDLE_DUFF_INIT, 0};
 *     int value;
 *     while (count(&c, &value) == HEDDLE_DUFF_SUSPENDED) use(value);
 *
 * Whoever resumes it calls it again, on any thread, one call at a time; it suspends by returning.
 * There is nothing to destroy: dropping the struct drops a suspended coroutine, without destructors
 * of anything it was doing.
 *
 * Limits, each of which a test shows:
 * - Local variables do not survive a suspension: what must be kept lives in a struct, as `i` above.
 *   C++ refuses to compile one with an initialiser between BEGIN and END; C warns with
 *   -Wjump-misses-init. One declared before BEGIN begins anew at each resumption, unnoticed.
 * - It suspends in its own body alone: a function that it calls cannot do so for it, and does not
 *   compile if it tries. Such a function must be a coroutine itself, see HEDDLE_DUFF_AWAIT.
 * - Not inside another `switch`: that would own the label. The next resumption ends the program
 *   with a message (where the inner `switch` has no such value by chance).
 * - Not twice on one line: does not compile.
 * - A debugger sees one frame, of the present call.
 */
#ifndef HEDDLE_COOP_DUFF_H
#define HEDDLE_COOP_DUFF_H

#include <stdio.h>
#include <stdlib.h>

/** Where a coroutine is: the line of its last suspension. One for each instance. Needs no clean-up;
 * a copy is a second coroutine at the same place. */
typedef struct heddle_duff {
  int line; /* 0: has not begun; -1: has ended */
} heddle_duff;

/* clang-format off */
/** The initial value of a heddle_duff; zeroed memory is the same. */
#define HEDDLE_DUFF_INIT {0}
/* clang-format on */

/** What a resumption results in. */
enum heddle_duff_result { HEDDLE_DUFF_SUSPENDED = 0, HEDDLE_DUFF_ENDED = 1 };

#if defined(__GNUC__)
#define HEDDLE_DUFF_FALLTHROUGH __attribute__((fallthrough))
#define HEDDLE_DUFF_NORETURN __attribute__((noreturn, cold, unused))
#else
#define HEDDLE_DUFF_FALLTHROUGH ((void)0)
#define HEDDLE_DUFF_NORETURN
#endif

static HEDDLE_DUFF_NORETURN void heddle_duff_lost(const char* file, const char* function,
                                                  int line) {
  fprintf(stderr,
          "error: heddle: %s: %s() was suspended on line %d inside a switch statement of its own, "
          "where it cannot be resumed: put if statements there\n",
          file, function, line);
  abort();
}

/** Begins the body; everything before it runs at each resumption. `self`: a heddle_duff*, in
 * all of these. Resuming one that has ended does nothing and results in HEDDLE_DUFF_ENDED. */
#define HEDDLE_DUFF_BEGIN(self)                           \
  switch ((self)->line) {                                 \
    case -1:                                              \
      return HEDDLE_DUFF_ENDED;                           \
    default:                                              \
      heddle_duff_lost(__FILE__, __func__, (self)->line); \
    case 0:

/** Suspends until the next resumption. */
#define HEDDLE_DUFF_YIELD(self)   \
  do {                            \
    (self)->line = __LINE__;      \
    return HEDDLE_DUFF_SUSPENDED; \
    case __LINE__:;               \
  } while (0)

/** Suspends while `condition` is false; it is evaluated at once and at each resumption. */
#define HEDDLE_DUFF_WAIT_UNTIL(self, condition)       \
  do {                                                \
    (self)->line = __LINE__;                          \
    HEDDLE_DUFF_FALLTHROUGH;                          \
    case __LINE__:                                    \
      if (!(condition)) return HEDDLE_DUFF_SUSPENDED; \
  } while (0)

/** Runs another coroutine to its end: `resumption` is the call that resumes it. Suspends whenever
 * that does; each level of nesting adds a call to every resumption. */
#define HEDDLE_DUFF_AWAIT(self, resumption) \
  HEDDLE_DUFF_WAIT_UNTIL(self, (resumption) == HEDDLE_DUFF_ENDED)

/** Ends the coroutine from the midst of its body. */
#define HEDDLE_DUFF_RETURN(self) \
  do {                           \
    (self)->line = -1;           \
    return HEDDLE_DUFF_ENDED;    \
  } while (0)

/** Ends the body, and the function. */
#define HEDDLE_DUFF_END(self) \
  }                           \
  (self)->line = -1;          \
  return HEDDLE_DUFF_ENDED

#endif

/** The FiberContext API: four functions on which a scheduler can be built.
 *
 * As described in "Coroutines in C/C++: beyond Duff's Device" (2008), with three differences: the
 * mechanism is chosen at run time; any context may switch to any other, not only to and from the
 * blank one; deleting a suspended context unwinds its stack and, where it has a thread, joins it.
 *
 * Errors: a function that returns a pointer returns NULL, sets errno, and FiberContextError() says
 * what happened and what to do. Misuse that cannot be reported (switching to a finished context,
 * mixing two mechanisms) prints a message and aborts.
 */
#ifndef HEDDLE_COOP_FIBER_CONTEXT_H
#define HEDDLE_COOP_FIBER_CONTEXT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct FiberContext;

/** The mechanism of the contexts that this thread makes from now on: "asm", "ucontext",
 * "setjmp", "pthread" and, if the library was built with them, "boost" and "pth".
 *
 * Without a call it is the value of the environment variable HEDDLE_FIBER_BACKEND, or "asm".
 * Returns 0, or -1 with errno = EINVAL for an unknown name. Contexts of different mechanisms cannot
 * switch to each other.
 */
int FiberContextSelectBackend(const char* name);

/** A context that stands for the flow of control that calls this: the scheduler's. */
struct FiberContext* FiberContextNewBlank(void);

/** A context that will run `callback` when it is first switched to.
 *
 * `stackSize` is in bytes; below the mechanism's minimum (2 KB; 16 KB for "pthread" and
 * "pth"):
 * NULL, EINVAL. No memory, mappings or threads left: NULL and the kernel's errno. When `callback`
 * returns, control goes to the blank context of whoever first switched to it.
 */
struct FiberContext* FiberContextNew(void (*callback)(void), uint32_t stackSize);

/** Suspends `from`, which must be the running context, and runs `to`. */
void FiberContextSwitchTo(struct FiberContext* from, struct FiberContext* to);

/** Frees a context; NULL is allowed. A suspended one is unwound first: the destructors of the C++
 * objects on its stack run, before this function returns. Not those of code compiled with
 * -fno-exceptions, whose frames are dropped as C's are. */
void FiberContextDelete(struct FiberContext* context);

/** What the last failed call of this thread has to say; never NULL, valid until the next failure.
 */
const char* FiberContextError(void);

#ifdef __cplusplus
}
#endif

#endif

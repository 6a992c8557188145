#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a traced program does, `rounds` times; the same result and the same calls each time it
 * runs, the number of calls in proportion to the rounds. */
uint64_t work(long rounds);

/* For work() that makes threads of its own: each calls it when all that it does is done. */
void lab_inner_thread_ends(void);

#ifdef __cplusplus
}
#endif

#ifndef HEDDLE_COOP_TESTS_DUFF_IN_C_H
#define HEDDLE_COOP_TESTS_DUFF_IN_C_H

#include "heddle/coop/duff.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A coroutine that suspends at each word of a text: `length` bytes at `text`. */
struct duff_c_words {
  heddle_duff at;
  const char* text;
  int length;
};
int duff_c_next_word(struct duff_c_words* self);

#ifdef __cplusplus
}
#endif

#endif

// Misuses that a compiler has to refuse, one for each FLAW; without FLAW this file compiles.
#include "heddle/coop/duff.h"

void use(int value);

#if FLAW == 3
void suspends_for_another(heddle_duff* at) { HEDDLE_DUFF_YIELD(at); }
#endif

int coroutine(heddle_duff* at) {
  HEDDLE_DUFF_BEGIN(at);
#if FLAW == 1
  int local = 1;
  HEDDLE_DUFF_YIELD(at);
  use(local);
#elif FLAW == 2
  // clang-format off
  HEDDLE_DUFF_YIELD(at); HEDDLE_DUFF_YIELD(at);
  // clang-format on
#endif
  {
    int between = 2;  // not across a suspension
    use(between);
  }
  HEDDLE_DUFF_YIELD(at);
  HEDDLE_DUFF_END(at);
}

// Protothreads' other form (lc-addrlabels.h): GCC's labels as values and a computed goto instead of
// a switch statement, so that a yield may stand inside a switch statement of the program's own.
#pragma GCC diagnostic ignored "-Wpedantic"  // both are GCC's extensions
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wdangling-pointer"  // GCC 12 takes a label for a local variable
#endif

namespace heddle::lab::surveying {

// Address of the label to go on at; none before the first call.
struct place {
  const void* label = nullptr;
};

}  // namespace heddle::lab::surveying

#define JOINED(a, b) a##b
#define LABEL_OF_LINE(line) JOINED(resumed_at_, line)

#define BEGIN(self) \
  if ((self)->label != nullptr) goto*(self)->label

// clang-format off
#define YIELD(self)                           \
  (self)->label = &&LABEL_OF_LINE(__LINE__);  \
  return 0;                                   \
  LABEL_OF_LINE(__LINE__):

#define END(self)           \
  ended:                    \
  (self)->label = &&ended;  \
  return 1
// clang-format on

#include "workloads/survey/protothreads.hpp"

namespace heddle::lab::surveying {
namespace {

const model<problem> stackless_labels{"stackless/labels", &run};

}  // namespace
}  // namespace heddle::lab::surveying

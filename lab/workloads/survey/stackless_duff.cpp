#include "heddle/coop/duff.h"
#include "workloads/survey/demonstrations.hpp"
#include "workloads/survey/workload.hpp"

namespace heddle::lab::surveying {
namespace {

struct turns {
  heddle_duff at = HEDDLE_DUFF_INIT;
  std::int64_t i = 0;
};

[[gnu::noinline]] int yields(turns& self, problem& work) {
  HEDDLE_DUFF_BEGIN(&self.at);
  for (; self.i < work.yields(); ++self.i) {
    work.take_turn();
    HEDDLE_DUFF_YIELD(&self.at);
  }
  HEDDLE_DUFF_END(&self.at);
}

// Where a local variable may be declared at all: before BEGIN, which runs at each resumption.
[[gnu::noinline]] int with_a_local(heddle_duff& at, bool& kept) {
  volatile int local = 41;
  HEDDLE_DUFF_BEGIN(&at);
  local = local + 1;
  HEDDLE_DUFF_YIELD(&at);
  kept = local == 42;
  HEDDLE_DUFF_END(&at);
}

// Yields as it can, by returning: to its caller, who goes on.
[[gnu::noinline]] int suspended_in_a_call(heddle_duff& at) {
  HEDDLE_DUFF_BEGIN(&at);
  HEDDLE_DUFF_YIELD(&at);
  HEDDLE_DUFF_END(&at);
}

[[gnu::noinline]] int calls(heddle_duff& at, heddle_duff& inner, std::string& order) {
  HEDDLE_DUFF_BEGIN(&at);
  order += "before ";
  suspended_in_a_call(inner);
  order += "after";
  HEDDLE_DUFF_END(&at);
}

[[gnu::noinline]] int with_a_guard(heddle_duff& at, bool& destructed) {
  const guard lives_here{destructed};
  HEDDLE_DUFF_BEGIN(&at);
  HEDDLE_DUFF_YIELD(&at);
  HEDDLE_DUFF_END(&at);
}

bool keeps_locals() {
  heddle_duff at = HEDDLE_DUFF_INIT;
  bool kept = false;
  with_a_local(at, kept);
  with_a_local(at, kept);
  return kept;
}

bool yields_in_call() {
  heddle_duff at = HEDDLE_DUFF_INIT;
  heddle_duff inner = HEDDLE_DUFF_INIT;
  std::string order;
  calls(at, inner, order);
  order += "main ";
  calls(at, inner, order);
  return order == yielded_in_call;
}

// To unwind, it would have to be there still while it is suspended.
bool unwinds() {
  heddle_duff at = HEDDLE_DUFF_INIT;
  bool destructed = false;
  with_a_guard(at, destructed);
  return !destructed;
}

void run(problem& work, region& timed) {
  turns self;
  timed.begin();
  for (std::int64_t i = 0; i < work.yields(); ++i) yields(self, work);
  timed.end();
  yields(self, work);
  count().strand_switches += static_cast<std::uint64_t>(2 * work.yields());

  // Without a stack or a context, the signal mask and thread_local variables are the caller's.
  work.found(
      {.keeps_locals = keeps_locals(), .yields_in_call = yields_in_call(), .unwinds = unwinds()});
  work.look_before();
  heddle_duff suspended[problem::suspended] = {};
  for (heddle_duff& each : suspended) suspended_in_a_call(each);
  work.look_at();
}

const model<problem> stackless_duff{"stackless/duff", &run};

}  // namespace
}  // namespace heddle::lab::surveying

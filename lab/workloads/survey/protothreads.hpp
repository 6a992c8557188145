// Coroutines that return where they yield and jump back when they are called again, in both forms
// that Protothreads has. The file that includes this one says which form: `place` is the type of
// the place to go on at, and BEGIN(place*), YIELD(place*) and END(place*) are the statements.
#include "workloads/survey/demonstrations.hpp"
#include "workloads/survey/workload.hpp"

// Of a function whose labels are values: they have one address only if there is one copy of it.
#if defined(__clang__)
#define ONE_COPY [[gnu::noinline]]
#else
#define ONE_COPY [[gnu::noinline, gnu::noclone]]
#endif

namespace heddle::lab::surveying {
namespace {

struct turns {
  place at{};
  std::int64_t i = 0;
};

ONE_COPY int yields(turns& self, problem& work) {
  BEGIN(&self.at);
  for (; self.i < work.yields(); ++self.i) {
    work.take_turn();
    YIELD(&self.at);
  }
  END(&self.at);
}

// Where a local variable may be declared at all: before BEGIN, which runs at each resumption.
ONE_COPY int with_a_local(place& at, bool& kept) {
  volatile int local = 41;
  BEGIN(&at);
  local = local + 1;
  YIELD(&at);
  kept = local == 42;
  END(&at);
}

// Yields as it can, by returning: to its caller, who goes on.
ONE_COPY int suspended_in_a_call(place& at) {
  BEGIN(&at);
  YIELD(&at);
  END(&at);
}

ONE_COPY int calls(place& at, place& inner, std::string& order) {
  BEGIN(&at);
  order += "before ";
  suspended_in_a_call(inner);
  order += "after";
  END(&at);
}

ONE_COPY int with_a_guard(place& at, bool& destructed) {
  const guard lives_here{destructed};
  BEGIN(&at);
  YIELD(&at);
  END(&at);
}

bool keeps_locals() {
  place at{};
  bool kept = false;
  with_a_local(at, kept);
  with_a_local(at, kept);
  return kept;
}

bool yields_in_call() {
  place at{};
  place inner{};
  std::string order;
  calls(at, inner, order);
  order += "main ";
  calls(at, inner, order);
  return order == yielded_in_call;
}

// To unwind, it would have to be there still while it is suspended.
bool unwinds() {
  place at{};
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
  place suspended[problem::suspended] = {};
  for (place& each : suspended) suspended_in_a_call(each);
  work.look_at();
}

}  // namespace
}  // namespace heddle::lab::surveying

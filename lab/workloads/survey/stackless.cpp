#include <coroutine>
#include <vector>

#include "heddle/coop/task.hpp"
#include "workloads/survey/demonstrations.hpp"
#include "workloads/survey/workload.hpp"

namespace heddle::lab::surveying {
namespace {

// C++20's coroutines, which the source could not know.
using coop::task;
using yield = std::suspend_always;

task<> yields(problem& work) {
  for (std::int64_t i = 0; i < work.yields(); ++i) {
    work.take_turn();
    co_await yield{};
  }
}

task<> with_a_local(bool& kept) {
  volatile int local = 41;
  local = local + 1;
  co_await yield{};
  kept = local == 42;
}

task<> suspended_in_a_call() { co_await yield{}; }

// An ordinary function cannot co_await. It can resume a coroutine, which yields to it, not for it.
[[gnu::noinline]] void ordinary(const task<>& inner) { inner.resume(); }

task<> calls(const task<>& inner, std::string& order) {
  order += "before ";
  ordinary(inner);
  order += "after";
  co_return;
}

task<> with_a_guard(bool& destructed) {
  const guard lives_here{destructed};
  co_await yield{};
}

task<> blocks_a_signal() {
  block_signal(true);
  co_await yield{};
  block_signal(false);
}

task<> changes_a_thread_local() {
  of_a_thread = 2;
  co_await yield{};
}

bool keeps_locals() {
  bool kept = false;
  const task<> one = with_a_local(kept);
  one.resume();
  one.resume();
  return kept;
}

bool yields_in_call() {
  std::string order;
  const task<> inner = suspended_in_a_call();
  const task<> one = calls(inner, order);
  one.resume();
  order += "main ";
  if (!one.done()) one.resume();
  return order == yielded_in_call;
}

bool unwinds() {
  bool destructed = false;
  {
    const task<> one = with_a_guard(destructed);
    one.resume();
    if (destructed) return false;
  }
  return destructed;
}

bool own_signal_mask() {
  const task<> one = blocks_a_signal();
  one.resume();
  const bool own = !signal_is_blocked();
  one.resume();
  return own;
}

bool own_thread_locals() {
  of_a_thread = 1;
  const task<> one = changes_a_thread_local();
  one.resume();
  return of_a_thread == 1;
}

void run(problem& work, region& timed) {
  const task<> turns = yields(work);
  timed.begin();
  for (std::int64_t i = 0; i < work.yields(); ++i) turns.resume();
  timed.end();
  turns.resume();
  count().strand_switches += static_cast<std::uint64_t>(2 * work.yields());

  work.found({.keeps_locals = keeps_locals(),
              .yields_in_call = yields_in_call(),
              .unwinds = unwinds(),
              .own_signal_mask = own_signal_mask(),
              .own_thread_locals = own_thread_locals()});
  work.look_before();
  std::vector<task<>> suspended;
  for (int i = 0; i < problem::suspended; ++i) {
    suspended.push_back(suspended_in_a_call());
    suspended.back().resume();
  }
  work.look_at();
}

const model<problem> stackless{"stackless", &run};

}  // namespace
}  // namespace heddle::lab::surveying

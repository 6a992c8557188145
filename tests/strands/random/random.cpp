// random SEED: fibers over threads, and coroutines that any of them may resume: random nestings of
// calls, switches, throws, jumps, suspensions and migrations.
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <vector>

#include "../coroutines/task.hpp"
#include "../fibers/calls.hpp"

namespace {

constexpr std::size_t stack = 65536;

/// Suspended coroutines, which any strand may take and resume.
class pool {
 public:
  PLAIN std::optional<task<int>> take() {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) return std::nullopt;
    std::swap(waiting_[chance(static_cast<unsigned>(waiting_.size()))], waiting_.back());
    std::optional<task<int>> taken(std::move(waiting_.back()));
    waiting_.pop_back();
    return taken;
  }
  PLAIN void put(task<int> one) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(one));
  }

 private:
  std::mutex mutex_;
  std::vector<task<int>> waiting_;
};

pool suspended;

/// A fiber may switch while it runs a coroutine; a coroutine may suspend only outside of its calls.
task<int> walks(unsigned depth) {
  const truth::call here{"walks", truth::coroutine()};
  const truth::guard last{here};
  int steps = 0;
  for (unsigned i = chance(4) + 1; i != 0; --i) {
    switch (chance(6)) {
      case 0:
      case 1:
        co_await std::suspend_always{};
        break;
      case 2:
        if (depth == 0) break;
        try {
          steps += co_await walks(depth - 1);
        } catch (unsigned) {
          ++steps;
        }
        break;
      case 3:
        if (chance(4) == 0) throw depth;
        break;
      default:
        calls::work(1);
        break;
    }
    here.back();
    if (chance(2) == 0) truth::point();
  }
  co_return steps;
}

/// Runs one activation of a coroutine. Another strand may have begun the coroutine, and another one
/// may resume it later. Now and then it is destroyed here before its end.
TRACED void tends() {
  const truth::call here{"tends"};
  std::optional<task<int>> one = suspended.take();
  if (!one || chance(3) == 0) {
    if (one) suspended.put(std::move(*one));
    one.emplace(walks(2));
  }
  one->handle().resume();
  here.back();
  if (chance(2) == 0) truth::point();
  if (!one->handle().done() && chance(6) != 0) suspended.put(std::move(*one));
  one.reset();
  here.back();
  if (chance(2) == 0) truth::point();
}

TRACED void body() {
  const truth::call here{"body"};
  for (unsigned i = chance(5) + 1; i != 0; --i) {
    if (chance(2) == 0) {
      calls::work(2);
    } else {
      tends();
    }
    here.back();
  }
}

PLAIN void entry(unsigned) {
  truth::running() = new truth::strand(truth::kind::fiber);
  body();
}

TRACED void clears() {
  const truth::call here{"clears"};
  while (suspended.take()) here.back();
}

}  // namespace

PLAIN int main(int count, char** arguments) {
  if (count != 2) {
    std::fputs("usage: random SEED\n", stderr);
    return 2;
  }
  chance(1, std::strtoul(arguments[1], nullptr, 10) + 1);
  calls::may_raise = chance(2) == 0;
  library::run({.entry = entry,
                .count = 10 + chance(40),
                .at_once = 2 + chance(8),
                .stack_bytes = stack,
                .threads = chance(2) == 0 ? 1u : 3u,
                .destroyed = chance(2) == 0 ? 0u : 16u});
  clears();
}

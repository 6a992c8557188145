// Generators, and generators that yield what others yield.
#include <coroutine>
#include <cstdlib>
#include <utility>

#include "../chance.hpp"

namespace {

TRACED void leaf() { const truth::call here{"leaf"}; }

class generator {
 public:
  struct promise_type {
    int value = 0;
    generator get_return_object() {
      return generator(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(int next) noexcept {
      value = next;
      return {};
    }
    void return_void() {}
    void unhandled_exception() { std::abort(); }
  };

  explicit generator(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  generator(generator&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  generator& operator=(generator&&) = delete;
  PLAIN ~generator() {
    if (handle_) handle_.destroy();
  }

  /// Whether there is another value. The caller calls back() then.
  PLAIN bool next() {
    if (handle_.done()) return false;
    handle_.resume();
    return !handle_.done();
  }
  int value() const { return handle_.promise().value; }

 private:
  std::coroutine_handle<promise_type> handle_;
};

generator counts(int to) {
  const truth::call here{"counts", truth::coroutine()};
  const truth::guard last{here};
  for (int i = 0; i < to; ++i) {
    leaf();
    co_yield i;
    here.back();
  }
  leaf();
}

/// A tree in order: each value goes up through all that are open.
generator ordered(int depth) {
  const truth::call here{"ordered", truth::coroutine()};
  if (depth > 0) {
    for (generator left = ordered(depth - 1); left.next();) {
      here.back();
      co_yield left.value();
      here.back();
    }
    here.back();
  }
  leaf();
  co_yield depth;
  here.back();
  leaf();
  if (depth > 0) {
    for (generator right = ordered(depth - 1); right.next();) {
      here.back();
      co_yield right.value();
      here.back();
    }
    here.back();
    leaf();
  }
}

TRACED int takes(generator source, int most) {
  const truth::call here{"takes"};
  int sum = 0;
  while (most-- > 0 && source.next()) {
    here.back();
    sum += source.value();
    if (chance(2) == 0) leaf();
  }
  here.back();
  return sum;
}

/// Two at a time, each where the other has stopped.
TRACED int in_turn(int most) {
  const truth::call here{"in_turn"};
  generator first = counts(most), second = ordered(3);
  int sum = 0;
  while (first.next()) {
    here.back();
    leaf();
    if (second.next()) sum += first.value() * second.value();
    here.back();
    leaf();
  }
  here.back();
  leaf();
  return sum;
}

}  // namespace

TRACED int main() {
  const truth::call here{"main"};
  for (int i = 0; i < 10; ++i) {
    takes(counts(5), 10);
    here.back();
    takes(counts(5), 3);  // destroyed before its end
    here.back();
    takes(ordered(4), 100);
    here.back();
    takes(ordered(4), 7);
    here.back();
    in_turn(20);
    here.back();
  }
}

// C++20 coroutines: recursive generators over a binary tree, each element passed up through all
// that wait for it; some thirty frames made and destroyed a round.
//
// Resumed from a loop, not by symmetric transfer, with which GCC 12 crashes when it compiles
// -finstrument-functions at -O2.
#include <coroutine>
#include <cstdint>
#include <exception>
#include <utility>

#include "work.h"

namespace {

class sequence {
 public:
  struct promise_type {
    std::uint64_t element = 0;

    sequence get_return_object() {
      return sequence(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(std::uint64_t value) {
      element = value;
      return {};
    }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };

  sequence(sequence&& other) noexcept : body_(std::exchange(other.body_, {})) {}
  sequence& operator=(sequence&&) = delete;
  ~sequence() {
    if (body_) body_.destroy();
  }

  bool next() {
    body_.resume();
    return !body_.done();
  }
  std::uint64_t element() const { return body_.promise().element; }

 private:
  explicit sequence(std::coroutine_handle<promise_type> body) : body_(body) {}
  std::coroutine_handle<promise_type> body_;
};

sequence in_order(std::uint64_t first, std::uint64_t last) {
  if (first > last) co_return;
  const std::uint64_t middle = first + (last - first) / 2;
  if (middle > first) {
    for (sequence left = in_order(first, middle - 1); left.next();) co_yield left.element();
  }
  co_yield middle;
  for (sequence right = in_order(middle + 1, last); right.next();) co_yield right.element();
}

}  // namespace

std::uint64_t work(long rounds) {
  std::uint64_t sum = 0;
  for (long i = 0; i < rounds; ++i) {
    std::uint64_t place = 0;
    for (sequence all = in_order(1, 15); all.next();) sum += all.element() * ++place;
  }
  return sum;
}

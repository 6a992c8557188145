#pragma once

#include <coroutine>
#include <cstdint>
#include <exception>
#include <utility>

#include "workloads/depth/workload.hpp"

namespace heddle::lab::depth {

/// The return type of a call in a chain, like coop::task<std::int64_t>, with two choices.
///
/// `Frame` is the promise's base class, whose operator new makes the frame; an empty class leaves
/// it to the allocator. Without `throws`, nothing is kept for an exception, and one ends the
/// program.
template <class Frame, bool throws>
class call {
 public:
  class promise_type;
  using handle = std::coroutine_handle<promise_type>;

  call(call&& other) noexcept : body_(std::exchange(other.body_, {})) {}
  call& operator=(call&&) = delete;
  ~call() {
    if (body_) body_.destroy();
  }

  auto operator co_await() && noexcept {
    struct awaiter {
      handle inner;
      bool await_ready() const noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<> outer) const noexcept {
        inner.promise().outer = outer;
        return inner;
      }
      std::int64_t await_resume() const noexcept(!throws) { return inner.promise().take(); }
    };
    return awaiter{body_};
  }
  void resume() const { body_.resume(); }
  std::int64_t result() const { return body_.promise().take(); }

 private:
  explicit call(handle body) noexcept : body_(body) {}
  handle body_;
};

namespace detail {

template <bool throws>
struct kept_exception {
  std::exception_ptr thrown;
  void unhandled_exception() noexcept { thrown = std::current_exception(); }
  void rethrow() const {
    if (thrown) std::rethrow_exception(thrown);
  }
};
template <>
struct kept_exception<false> {
  void unhandled_exception() const noexcept { std::terminate(); }
  void rethrow() const noexcept {}
};

}  // namespace detail

template <class Frame, bool throws>
class call<Frame, throws>::promise_type : public Frame, public detail::kept_exception<throws> {
 public:
  std::coroutine_handle<> outer = std::noop_coroutine();
  std::int64_t value = 0;

  call get_return_object() noexcept { return call(handle::from_promise(*this)); }
  std::suspend_always initial_suspend() const noexcept { return {}; }
  auto final_suspend() const noexcept {
    struct back {
      bool await_ready() const noexcept { return false; }
      std::coroutine_handle<> await_suspend(handle self) const noexcept {
        return self.promise().outer;
      }
      void await_resume() const noexcept {}
    };
    return back{};
  }
  void return_value(std::int64_t result) noexcept { value = result; }
  std::int64_t take() const noexcept(!throws) {
    this->rethrow();
    return value;
  }
};

/// The innermost call's wait. The driver of the chain resumes it by the handle `innermost`.
struct wait_once {
  std::coroutine_handle<>& innermost;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> self) const noexcept { innermost = self; }
  void await_resume() const noexcept {}
};

template <class Call>
struct chain {
  static Call sum(std::int64_t n) {
    if (n == 0) co_return 0;
    co_return n + co_await sum(n - 1);
  }
  static Call sum_waiting(std::int64_t n, std::coroutine_handle<>& innermost) {
    if (n == 0) {
      co_await wait_once{innermost};
      co_return 0;
    }
    co_return n + co_await sum_waiting(n - 1, innermost);
  }
};

/// Chains whose calls are coroutines. `Chain` has the two functions above.
template <class Chain>
void run_chains(problem& work, region& timed) {
  const std::int64_t chains = work.chains();
  const std::int64_t n = work.depth() - 1;
  std::coroutine_handle<> innermost;
  timed.begin();
  for (std::int64_t i = 0; i < chains; ++i) {
    if (work.waits()) {
      const auto outermost = Chain::sum_waiting(n, innermost);
      outermost.resume();  // until it waits
      innermost.resume();
      work.take(outermost.result());
    } else {
      const auto outermost = Chain::sum(n);
      outermost.resume();
      work.take(outermost.result());
    }
  }
  timed.end();
  // To each coroutine and back, and as often for the wait.
  const std::int64_t each = 2 * work.depth() + (work.waits() ? 2 : 0);
  count().strand_switches += static_cast<std::uint64_t>(each * chains);
}

}  // namespace heddle::lab::depth

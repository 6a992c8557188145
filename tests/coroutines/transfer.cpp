// Coroutines that hand over to each other (symmetric transfer), without a call. Compiled without
// exceptions: with them, GCC 12 fails on it by -finstrument-functions from -O2 on.
#include "log.hpp"

namespace {

struct task {
  struct promise_type : logged {
    long value = 0;
    std::coroutine_handle<> waiter;
    task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    struct hand_over {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> ended) noexcept {
        const std::coroutine_handle<> waiter = ended.promise().waiter;
        if (!waiter) return std::noop_coroutine();
        log("resume", waiter.address());
        return waiter;
      }
      void await_resume() noexcept {}
    };
    hand_over final_suspend() noexcept { return {}; }
    void return_value(long result) { value = result; }
    void unhandled_exception() {}
  };
  std::coroutine_handle<promise_type> handle;

  bool await_ready() { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiter) {
    handle.promise().waiter = waiter;
    log("resume", handle.address());
    return handle;
  }
  long await_resume() {
    const long result = handle.promise().value;
    destroy(handle);
    return result;
  }
};

task fibonacci(long n) {
  if (n < 2) co_return n;
  const long one = co_await fibonacci(n - 1), other = co_await fibonacci(n - 2);
  co_return one + other;
}

void first() {}

}  // namespace

PLAIN int main() {
  first();  // what comes before heddle record has answered has no resume index
  const task whole = fibonacci(9);
  resume(whole.handle);
  const bool right = whole.handle.promise().value == 34;
  destroy(whole.handle);
  print_log();
  return right ? 0 : 1;
}

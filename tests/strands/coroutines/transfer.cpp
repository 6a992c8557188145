// Coroutines that hand over to one another by symmetric transfer, without a call, and at last to
// nobody (noop_coroutine).
#include <cstdlib>

#include "strands.hpp"

namespace {

TRACED void leaf() { const truth::call here{"leaf"}; }

template <class T>
class task {
 public:
  struct promise_type : strand_of {
    T value{};
    std::coroutine_handle<promise_type> waiter;
    task get_return_object() {
      return task(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    struct hands_over {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> ended) noexcept {
        const auto waiter = ended.promise().waiter;
        if (!waiter) return std::noop_coroutine();
        runs_next(waiter);
        return waiter;
      }
      void await_resume() noexcept {}
    };
    hands_over final_suspend() noexcept { return {}; }
    void return_value(T result) { value = result; }
    void unhandled_exception() { std::abort(); }
  };

  explicit task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  task(const task&) = delete;
  task& operator=(const task&) = delete;
  PLAIN ~task() { destroy(handle_); }

  bool await_ready() { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> waiter) {
    handle_.promise().waiter = waiter;
    runs_next(handle_);
    return handle_;
  }
  T await_resume() { return handle_.promise().value; }

  std::coroutine_handle<promise_type> handle() const { return handle_; }

 private:
  std::coroutine_handle<promise_type> handle_;
};

task<int> fibonacci(int n) {
  const truth::call here{"fibonacci"};
  leaf();
  if (n < 2) co_return n;
  const int one = co_await fibonacci(n - 1);
  here.back();
  leaf();
  const int other = co_await fibonacci(n - 2);
  here.back();
  leaf();
  co_return one + other;
}

/// Awaits in a loop: the same two places over and over.
task<int> loops(int times) {
  const truth::call here{"loops"};
  int sum = 0;
  for (int i = 0; i < times; ++i) {
    sum += co_await fibonacci(i % 4);
    here.back();
    leaf();
  }
  co_return sum;
}

/// Two that hand over to each other until both are tired.
struct player {
  struct promise_type : strand_of {
    player get_return_object() {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::abort(); }
  };
  std::coroutine_handle<promise_type> handle;
};

struct serves {
  std::coroutine_handle<player::promise_type>& to;
  bool await_ready() { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<player::promise_type>) {
    runs_next(to);
    return to;
  }
  void await_resume() {}
};

player plays(std::coroutine_handle<player::promise_type>& other, int times) {
  const truth::call here{"plays"};
  const guard last;
  for (int i = 0; i < times; ++i) {
    leaf();
    co_await serves{other};
    here.back();
  }
  leaf();
}

TRACED void runs() {
  const truth::call here{"runs"};
  {
    const task<int> all = fibonacci(7);
    resume(all.handle());
    here.back();
    if (all.handle().promise().value != 13) std::abort();
    leaf();
  }
  here.back();
  const task<int> many = loops(10);
  resume(many.handle());
  here.back();
  leaf();
  std::coroutine_handle<player::promise_type> ping, pong;
  ping = plays(pong, 10).handle;
  pong = plays(ping, 20).handle;
  resume(ping);
  here.back();
  leaf();
  destroy(ping);
  here.back();
  leaf();
  destroy(pong);
  here.back();
  leaf();
}

}  // namespace

TRACED int main() {
  const truth::call here{"main"};
  for (int i = 0; i < 5; ++i) {
    runs();
    here.back();
  }
}

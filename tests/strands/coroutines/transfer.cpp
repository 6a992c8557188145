// Coroutines that hand over to one another by symmetric transfer, without a call; the last one
// hands over to noop_coroutine.
#include <coroutine>
#include <cstdlib>
#include <utility>

#include "../chance.hpp"

namespace {

TRACED void leaf() { const truth::call here{"leaf"}; }

template <class T>
class task {
 public:
  struct promise_type {
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
  PLAIN ~task() { handle_.destroy(); }

  bool await_ready() { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> waiter) {
    handle_.promise().waiter = waiter;
    return handle_;
  }
  T await_resume() { return handle_.promise().value; }

  std::coroutine_handle<promise_type> handle() const { return handle_; }

 private:
  std::coroutine_handle<promise_type> handle_;
};

task<int> fibonacci(int n) {
  const truth::call here{"fibonacci", truth::coroutine()};
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
  const truth::call here{"loops", truth::coroutine()};
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
  struct promise_type {
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
  std::coroutine_handle<> await_suspend(std::coroutine_handle<player::promise_type>) { return to; }
  void await_resume() {}
};

player plays(std::coroutine_handle<player::promise_type>& other, int times) {
  const truth::call here{"plays", truth::coroutine()};
  const truth::guard last{here};
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
    all.handle().resume();
    here.back();
    if (all.handle().promise().value != 13) std::abort();
    leaf();
  }
  here.back();
  const task<int> many = loops(10);
  many.handle().resume();
  here.back();
  leaf();
  std::coroutine_handle<player::promise_type> ping, pong;
  ping = plays(pong, 10).handle;
  pong = plays(ping, 20).handle;
  ping.resume();
  here.back();
  leaf();
  ping.destroy();
  here.back();
  leaf();
  pong.destroy();
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

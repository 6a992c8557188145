// Coroutines whose suspension points share code in an optimised program. A line that says
// `suspends N on TYPE` does so, and one that says `begins and ends` once each for these.
#include <coroutine>
#include <cstdlib>
#include <queue>
#include <string>

#define CALLED __attribute__((noinline))

std::queue<std::coroutine_handle<>> ready;
int suspensions = 0;
using text = std::string;

struct yield {
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> who) {
    suspensions++;
    ready.push(who);
  }
  int await_resume() { return 3; }
};

struct timer {
  int left;
  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> who) {
    suspensions++;
    ready.push(who);
    return true;
  }
  bool await_resume() { return --left > 0; }
};

struct task {
  struct promise_type {
    std::coroutine_handle<> awaiting;
    int value = 0;
    task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    struct last {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> ended) noexcept {
        const std::coroutine_handle<> awaiting = ended.promise().awaiting;
        return awaiting ? awaiting : std::noop_coroutine();
      }
      void await_resume() noexcept {}
    };
    last final_suspend() noexcept { return {}; }
    void return_value(int what) { value = what; }
    void unhandled_exception() { std::abort(); }
  };
  std::coroutine_handle<promise_type> body;
  bool await_ready() { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting) {
    body.promise().awaiting = awaiting;
    return body;
  }
  int await_resume() {
    const int value = body.promise().value;
    body.destroy();
    return value;
  }
};

/// What the two awaits have in common GCC moves in front of both, as of the first one.
CALLED task in_common(int rounds) {  // begins and ends
  int sum = 0;
  while (co_await timer{rounds--})  // suspends 2 on timer
    sum += 2;
  sum += co_await yield{};  // suspends 1 on yield
  co_return sum;
}

/// GCC puts the begin of the other coroutine, which stores its own resume index, into this one.
CALLED task begins_another(int value, text name) {  // begins and ends
  int sum = 1;
  auto another = [](int given, text other) -> task {  // begins and ends
    const int got = co_await yield{};                 // suspends 1 on yield
    co_return got + given + static_cast<int>(other.size());
  };
  if (co_await timer{2})  // suspends 1 on timer
    sum += 1;
  sum += co_await another(value, "four");  // suspends 1 on task
  co_return sum + static_cast<int>(name.size());
}

CALLED void run(task work) {
  ready.push(work.body);
  while (!ready.empty()) {
    const std::coroutine_handle<> next = ready.front();
    ready.pop();
    next.resume();
  }
  work.body.destroy();
}

int main() {
  run(in_common(2));
  run(begins_another(1, "name"));
}

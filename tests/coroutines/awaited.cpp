// Two tasks that each await two children, one after the other, and three coroutines that await
// nothing: all of them resumed by one loop, so that often another goes on in the place of one that
// was suspended.
#include <coroutine>
#include <deque>
#include <exception>
#include <utility>

namespace {

std::deque<std::coroutine_handle<>> ready;

// A child hands over to who awaits it as it ends.
struct task {
  struct promise_type {
    std::coroutine_handle<> awaiting;
    task get_return_object() {
      return task{std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() { return {}; }
    struct last {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> ended) noexcept {
        const std::coroutine_handle<> awaiting = ended.promise().awaiting;
        return awaiting ? awaiting : std::noop_coroutine();
      }
      void await_resume() noexcept {}
    };
    last final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };

  explicit task(std::coroutine_handle<promise_type> of) : body(of) {}
  task(task&& other) noexcept : body(std::exchange(other.body, nullptr)) {}
  task(const task&) = delete;
  task& operator=(const task&) = delete;
  ~task() {
    if (body) body.destroy();
  }
  bool await_ready() { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting) {
    body.promise().awaiting = awaiting;
    return body;
  }
  void await_resume() {}

  std::coroutine_handle<promise_type> body;
};

struct turn {
  bool await_ready() { return false; }
  void await_suspend(std::coroutine_handle<> waiting) { ready.push_back(waiting); }
  void await_resume() {}
};

// Nobody awaits it.
struct job {
  struct promise_type {
    job get_return_object() {
      ready.push_back(std::coroutine_handle<promise_type>::from_promise(*this));
      return {};
    }
    std::suspend_always initial_suspend() { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

job lonely() { co_return; }

task child() { co_await turn{}; }

task parent() {
  co_await child();
  co_await child();
}

}  // namespace

int main() {
  for (int i = 0; i < 3; i++) lonely();
  task one = parent();
  task other = parent();
  ready.push_back(one.body);
  ready.push_back(other.body);
  while (!ready.empty()) {
    const std::coroutine_handle<> next = ready.front();
    ready.pop_front();
    next.resume();
  }
}

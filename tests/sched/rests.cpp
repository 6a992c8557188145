// A coroutine is suspended, and then the thread that has run it sleeps, without a call between.
#include <time.h>

#include <coroutine>
#include <exception>

namespace {

struct task {
  struct promise_type {
    task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  std::coroutine_handle<promise_type> body;
};

task rest() { co_await std::suspend_always{}; }

}  // namespace

int main() {
  const task resting = rest();
  const timespec time{0, 70'000'000};
  resting.body.resume();
  nanosleep(&time, nullptr);
  resting.body.destroy();
}

// A coroutine that sleeps on one thread, goes on on another, and sleeps there.
#include <time.h>

#include <coroutine>
#include <cstdlib>
#include <semaphore>
#include <thread>

namespace {

struct Task {
  struct promise_type {
    Task get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::abort(); }
  };
};

std::binary_semaphore given{0}, done{0};
std::coroutine_handle<> next;

/// Leaves the thread, and goes on where somebody resumes what is given.
struct Elsewhere {
  bool await_ready() { return false; }
  void await_suspend(std::coroutine_handle<> self) {
    next = self;
    given.release();
  }
  void await_resume() {}
};

[[gnu::noinline]] void doze() {
  timespec left{0, 30'000'000};
  while (nanosleep(&left, &left) != 0) {
  }
}

Task wander() {
  doze();
  co_await Elsewhere{};
  doze();
  done.release();
}

}  // namespace

int main() {
  std::thread other([] {
    given.acquire();
    next.resume();
  });
  wander();
  done.acquire();
  other.join();
}

// A coroutine, and then a fiber, blocks its thread until another thread wakes it, while a second
// one is ready all the time: that wake-up says nothing of the second one. Neither does the
// thread's own, as it gets a lock.
#include <ucontext.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <coroutine>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace {

/// What a strand blocks its thread on.
class answer {
 public:
  /// Waits until another thread has called `give`, which it does once this one waits.
  __attribute__((noinline)) void take() {
    std::unique_lock lock(mutex);
    is_asked = true;
    asked.notify_one();
    while (!is_given) given.wait(lock);
  }
  __attribute__((noinline)) void give() {
    std::unique_lock lock(mutex);
    while (!is_asked) asked.wait(lock);
    is_given = true;
    given.notify_one();
  }

 private:
  std::mutex mutex;
  std::condition_variable asked, given;
  bool is_asked = false, is_given = false;
};

std::vector<std::coroutine_handle<>> ready;

struct task {
  struct promise_type {
    task get_return_object() { return {}; }
    std::suspend_never initial_suspend() { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

struct queued {
  bool await_ready() { return false; }
  void await_suspend(std::coroutine_handle<> who) { ready.push_back(who); }
  void await_resume() {}
};

task blocks(answer& gets) {
  co_await queued{};
  gets.take();
}

task is_ready() { co_await queued{}; }
task is_behind() { co_await queued{}; }

/// Gets a lock that another thread has for a while.
__attribute__((noinline)) void gets_a_lock() {
  std::mutex lock;
  std::atomic<bool> has{false};
  std::thread holder([&] {
    std::lock_guard held(lock);
    has = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  });
  while (!has) std::this_thread::yield();
  lock.lock();
  lock.unlock();
  holder.join();
}

ucontext_t caller, blocking, waiting;
char stack_of_blocking[1 << 16], stack_of_waiting[1 << 16];
answer* for_fiber;

__attribute__((noinline)) void leaf() { asm volatile(""); }

void waits() {
  leaf();
  swapcontext(&waiting, &blocking);
  leaf();
  swapcontext(&waiting, &blocking);
}

void takes() {
  swapcontext(&blocking, &waiting);
  for_fiber->take();
  swapcontext(&blocking, &waiting);
}

void make(ucontext_t& context, char* stack, std::size_t size, void (*code)()) {
  getcontext(&context);
  context.uc_stack.ss_sp = stack;
  context.uc_stack.ss_size = size;
  context.uc_link = &caller;
  makecontext(&context, code, 0);
}

}  // namespace

int main() {
  answer first, second;
  for_fiber = &second;
  std::thread gives([&] {
    first.give();
    second.give();
  });
  blocks(first);
  is_ready();
  // By index: a strand that runs may add to them.
  for (std::size_t i = 0; i < ready.size(); ++i) ready[i].resume();
  make(blocking, stack_of_blocking, sizeof stack_of_blocking, takes);
  make(waiting, stack_of_waiting, sizeof stack_of_waiting, waits);
  swapcontext(&caller, &blocking);
  gives.join();
  ready.clear();
  is_behind();
  gets_a_lock();
  ready.front().resume();
}

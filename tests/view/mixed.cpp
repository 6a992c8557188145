// Threads, a fiber and a coroutine in one program, whose page is asked: which function is slow,
// which strand waited longest and for what, who started this coroutine?
#include <ucontext.h>

#include <chrono>
#include <coroutine>
#include <mutex>
#include <thread>

namespace {

struct task {
  struct promise_type {
    task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
  std::coroutine_handle<promise_type> handle;
};

struct answer {
  bool await_ready() { return false; }
  void await_suspend(std::coroutine_handle<>) {}
  void await_resume() {}
};

std::mutex ledger;
volatile bool is_booked;
ucontext_t outside;
ucontext_t inside;
char stack[256 << 10];
volatile unsigned long sink;

void quick() { sink = sink + 1; }

// Takes its time itself.
void slow() {
  auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
  while (std::chrono::steady_clock::now() < until) sink = sink + 1;
}

void book() {
  std::lock_guard lock(ledger);
  is_booked = true;
  slow();
}

void pay() {
  std::lock_guard lock(ledger);
  quick();
}

task fetch(int pages) {
  for (int page = 0; page < pages; page++) {
    quick();
    co_await answer{};
  }
}

task serve() { return fetch(2); }

void cook() {
  quick();
  swapcontext(&inside, &outside);
  quick();
}

void work_as_fiber() {
  getcontext(&inside);
  inside.uc_stack.ss_sp = stack;
  inside.uc_stack.ss_size = sizeof stack;
  inside.uc_link = &outside;
  makecontext(&inside, cook, 0);
  for (int part = 0; part < 2; part++) swapcontext(&outside, &inside);
}

}  // namespace

int main() {
  task one = serve();
  std::thread worker(book);
  while (!is_booked) std::this_thread::yield();
  pay();
  worker.join();
  work_as_fiber();
  std::thread([&] { one.handle.resume(); }).join();
  one.handle.resume();
  one.handle.destroy();
}

// Is killed while `main` waits for a lock that another thread has, and a coroutine is suspended.
#include <coroutine>
#include <csignal>
#include <mutex>
#include <thread>

namespace {

struct detached {
  struct promise_type {
    detached get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
};

struct answer {
  bool await_ready() { return false; }
  void await_suspend(std::coroutine_handle<>) {}
  void await_resume() {}
};

std::mutex ledger;
volatile bool is_booked;

detached fetch() { co_await answer{}; }

// Whether a thread waits for the lock in the kernel: the state of a glibc mutex is 2 then.
bool is_waited_for() {
  return __atomic_load_n(&ledger.native_handle()->__data.__lock, __ATOMIC_RELAXED) == 2;
}

void book() {
  std::lock_guard lock(ledger);
  is_booked = true;
  while (!is_waited_for()) std::this_thread::yield();
  std::raise(SIGKILL);
}

void pay() { std::lock_guard lock(ledger); }

}  // namespace

int main() {
  fetch();
  std::thread worker(book);
  while (!is_booked) std::this_thread::yield();
  pay();
  worker.join();
}

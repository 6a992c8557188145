// A pool of threads that run coroutines: JOBS jobs, each of which gives its thread away STEPS times
// and goes on with whichever thread takes it next.
#include <array>
#include <condition_variable>
#include <coroutine>
#include <cstddef>
#include <latch>
#include <mutex>
#include <thread>

namespace {

constexpr int WORKERS = 3;
constexpr int JOBS = 40;
constexpr int STEPS = 5;

std::mutex guard;
std::condition_variable has_more;
// Coroutines that wait for a thread, in a ring: each job is in it once at most.
std::array<std::coroutine_handle<>, JOBS> ready;
std::size_t first, behind;
bool is_closed;
std::latch left{JOBS};
volatile long sink;

void put(std::coroutine_handle<> handle) {
  std::lock_guard lock(guard);
  ready[behind++ % JOBS] = handle;
  has_more.notify_one();
}

// Gives nothing when there will be no more.
std::coroutine_handle<> take() {
  std::unique_lock lock(guard);
  while (first == behind && !is_closed) has_more.wait(lock);
  if (first == behind) return {};
  return ready[first++ % JOBS];
}

void close() {
  std::lock_guard lock(guard);
  is_closed = true;
  has_more.notify_all();
}

// Who awaits it goes on with another thread of the pool, or the same.
struct turn {
  bool await_ready() { return false; }
  void await_suspend(std::coroutine_handle<> handle) { put(handle); }
  void await_resume() {}
};

struct detached {
  struct promise_type {
    detached get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
};

void calculate(int rounds) {
  for (int round = 0; round < rounds; round++) sink = sink + round;
}

detached job(int number) {
  for (int step = 0; step < STEPS; step++) {
    co_await turn{};
    calculate(1000 * (number + 1));
  }
  left.count_down();
}

void work() {
  while (std::coroutine_handle<> handle = take()) handle.resume();
}

}  // namespace

int main() {
  std::array<std::thread, WORKERS> workers;
  for (std::thread& worker : workers) worker = std::thread(work);
  for (int number = 0; number < JOBS; number++) job(number);
  left.wait();
  close();
  for (std::thread& worker : workers) worker.join();
}

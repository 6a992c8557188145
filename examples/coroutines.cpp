// Orders that wait for a kitchen, as C++20 coroutines: what a thread's profile cannot tell apart.
//
//   heddle record -- build/examples/coroutines && heddle tree
//
// Look at: one line for all orders and one for all dishes, made by the orders; how long they were
// suspended beside how long they ran; and the line of the order that is never resumed.
#include <coroutine>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <list>
#include <utility>

// Coroutines that may go on, the next first.
static std::deque<std::coroutine_handle<>> ready;

// A coroutine that begins at once. Its awaiter goes on when it has ended.
class task {
 public:
  struct promise_type {
    std::coroutine_handle<> awaiter;
    int result = 0;

    task get_return_object() {
      return task(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept {
      if (awaiter) ready.push_back(awaiter);
      return {};
    }
    void return_value(int value) { result = value; }
    void unhandled_exception() { std::terminate(); }
  };

  explicit task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  task(task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  task& operator=(task&&) = delete;
  ~task() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() const { return handle_.done(); }
  void await_suspend(std::coroutine_handle<> awaiter) { handle_.promise().awaiter = awaiter; }
  int await_resume() const { return handle_.promise().result; }

 private:
  std::coroutine_handle<promise_type> handle_;
};

// Goes to the end of the queue.
struct turn {
  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> self) { ready.push_back(self); }
  void await_resume() const {}
};

// Suspends a coroutine that is never resumed.
struct forgotten {
  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<>) {}
  void await_resume() const {}
};

static int stir(int spoons) {
  volatile int stirred = 0;
  while (stirred < spoons * 1000) stirred = stirred + 1;
  return spoons;
}

static task dish(int spoons) {
  int done = 0;
  while (done < spoons) {
    done += stir(1);
    co_await turn();
  }
  co_return done;
}

static task order(int dishes) {
  int spoons = 0;
  for (int each = 1; each <= dishes; ++each) spoons += co_await dish(each);
  if (dishes == 3) co_await forgotten();
  co_return spoons;
}

int main() {
  std::list<task> orders;
  for (int dishes = 1; dishes <= 5; ++dishes) orders.push_back(order(dishes));
  while (!ready.empty()) {
    const std::coroutine_handle<> next = ready.front();
    ready.pop_front();
    next.resume();
  }
  orders.remove_if([](const task& each) { return each.await_ready(); });
  std::printf("%zu of 5 orders was not served\n", orders.size());
  std::fflush(stdout);
  std::quick_exit(0);  // as a server that is stopped: the forgotten order is still there
}

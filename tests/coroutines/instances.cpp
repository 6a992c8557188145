// Coroutines of many kinds, each instance of which must be told apart.
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "log.hpp"

namespace {

/// Suspended at first, and at its end.
struct task {
  struct promise_type : logged {
    long value = 0;
    std::exception_ptr thrown;
    task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(long next) {
      value = next;
      return {};
    }
    void return_value(long result) { value = result; }
    void unhandled_exception() { thrown = std::current_exception(); }
  };
  std::coroutine_handle<promise_type> handle;

  bool await_ready() { return false; }
  // Its waiter goes on when it has ended: no transfer, but a call inside of a call.
  bool await_suspend(std::coroutine_handle<>) {
    while (!handle.done()) resume(handle);
    return false;
  }
  long await_resume() {
    const long result = handle.promise().value;
    const std::exception_ptr thrown = handle.promise().thrown;
    destroy(handle);
    if (thrown) std::rethrow_exception(thrown);
    return result;
  }
};

/// Runs at once, and its frame is gone when it ends.
struct detached {
  struct promise_type : logged {
    detached get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};

/// With memory of its own: one frame at a time, always at the same address.
struct placed {
  struct promise_type {
    PLAIN static void* operator new(std::size_t size) {
      alignas(std::max_align_t) static unsigned char memory[4096];
      if (size > sizeof memory) std::abort();
      log("born", memory);
      return memory;
    }
    PLAIN static void operator delete(void*) {}
    placed get_return_object() {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;
};

volatile long sink;

task counts(long from, long to) {
  for (; from < to; ++from) co_yield from;
  co_return to;
}

task fails(std::string text) {
  co_await std::suspend_always{};
  if (!text.empty()) throw std::runtime_error(text);
  co_return 0;
}

task sums(long n) {
  long sum = 0;
  for (long i = 0; i < n; ++i) {
    sum += co_await counts(i, i + 2);
    try {
      sum += co_await fails(i % 2 ? "odd" : "");
    } catch (const std::runtime_error&) {
      --sum;
    }
  }
  co_return sum;
}

detached notes(long value) {
  sink = sink + value;
  co_return;
}

detached waits(std::coroutine_handle<>& self) {
  struct hand_out {
    std::coroutine_handle<>& to;
    bool await_ready() { return false; }
    void await_suspend(std::coroutine_handle<> handle) { to = handle; }
    void await_resume() {}
  };
  co_await hand_out{self};
  sink = sink + 1;
  co_await hand_out{self};
}

placed one(long value) {
  sink = sink + value;
  co_await std::suspend_always{};
  sink = sink - value;
}

placed another(std::string text) {
  co_await std::suspend_always{};
  sink = sink + static_cast<long>(text.size());
}

template <class T>
task tree(T depth) {
  if (depth == 0) co_return 1;
  const long left = co_await tree<T>(depth - 1), right = co_await tree<T>(depth - 1);
  co_return left + right;
}

struct object {
  long base;
  task member(long n) const {
    co_await std::suspend_always{};
    co_return base + n;
  }
};

PLAIN long run(task work) {
  while (!work.handle.done()) resume(work.handle);
  const long result = work.handle.promise().value;
  destroy(work.handle);
  return result;
}

/// Calls its function by an address in its first word, as the one that resumes is called.
struct table {
  void (*call)(table*);
  long argument;
};
void called(table* by) { sink = sink + by->argument; }

PLAIN void round() {
  sink = sink + run(sums(4)) + run(tree(3)) + run(tree(2L)) + run(object{5}.member(2));
  const auto lambda = [&](long n) -> task {
    co_yield n;
    co_return n + sink;
  };
  sink = sink + run(lambda(1)) + run(lambda(2));
  notes(3);
  std::coroutine_handle<> waiting;
  waits(waiting);
  resume(waiting);
  resume(waiting);
  for (int i = 0; i < 2; ++i) {
    const placed first = one(i);
    resume(first.handle);
    resume(first.handle);
    destroy(first.handle);
    // Destroyed before it was resumed, and after.
    destroy(another("never").handle);
    const placed second = another("once");
    resume(second.handle);
    destroy(second.handle);
  }
  table by{called, 2};
  by.call(&by);
  // From one thread to another, and back.
  const task wanders = counts(0, 4);
  resume(wanders.handle);
  std::thread([&] { resume(wanders.handle); }).join();
  std::thread([&] { destroy(wanders.handle); }).join();
}

}  // namespace

PLAIN int main() {
  lines().reserve(1 << 16);
  table first{called, 0};
  first.call(&first);  // what comes before heddle record has answered has no resume index
  for (int i = 0; i < 5; ++i) round();
  print_log();
}

// usage: coroutines ROUNDS [threads]
// Resumes, destroys and creates coroutines of several kinds, and prints what it did on the main
// thread, a line each: b FRAME (is born: its function may be entered for the first time before the
// next line), r FRAME (resumed), d FRAME (destroyed). With `threads`, so many others do the same
// meanwhile, whose first call is a coroutine.
#include <pthread.h>

#include <coroutine>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <utility>

#include "shape.h"

namespace {

struct Done {
  char what;
  const void* frame;
};
// Filled by the main thread alone.
Done* done;
unsigned long count, room;
thread_local bool logs = false;

PLAIN void log(char what, const void* frame) {
  if (logs && count < room) done[count++] = {what, frame};
}

struct Coroutine {
  struct promise_type {
    long value = 0;
    PLAIN Coroutine get_return_object() {
      auto handle = std::coroutine_handle<promise_type>::from_promise(*this);
      log('b', handle.address());
      return {handle};
    }
    PLAIN std::suspend_always initial_suspend() noexcept { return {}; }
    PLAIN std::suspend_always final_suspend() noexcept { return {}; }
    PLAIN std::suspend_always yield_value(long next) {
      value = next;
      return {};
    }
    PLAIN void return_void() {}
    PLAIN void unhandled_exception() { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;

  PLAIN bool resume() const {
    log('r', handle.address());
    handle.resume();
    return !handle.done();
  }
  PLAIN void destroy() const {
    log('d', handle.address());
    handle.destroy();
  }
};

/// Starts at once, and its frame is gone when it ends.
struct Eager {
  struct promise_type {
    PLAIN Eager get_return_object() {
      log('b', std::coroutine_handle<promise_type>::from_promise(*this).address());
      return {};
    }
    PLAIN std::suspend_never initial_suspend() noexcept { return {}; }
    PLAIN std::suspend_never final_suspend() noexcept { return {}; }
    PLAIN void return_void() {}
    PLAIN void unhandled_exception() { std::terminate(); }
  };
};

long sum;

void leaf(long value) { sum += value; }

Coroutine counter(long from, long to) {
  for (; from < to; ++from) {
    leaf(from);
    co_yield from;
  }
}

template <int Step>
Coroutine stepper(long to) {
  long locals[20] = {};
  for (long at = 0; at < to; at += Step) {
    locals[at % 20] += at;
    co_yield locals[at % 20];
  }
}

Coroutine outer(long to) {
  const Coroutine inner = counter(0, to);
  while (inner.resume()) co_yield inner.handle.promise().value;
  inner.destroy();
}

/// Suspended never but at its end.
Coroutine once() {
  leaf(1);
  co_return;
}

Eager eager(long value) {
  leaf(value);
  co_return;
}

/// Calls through a table whose first word is the function called, as a frame's is.
struct Table {
  void (*call)(Table*);
  void (*other)(Table*);
};
void from_table(Table* table) { leaf(table->other != nullptr ? 1 : 2); }

PLAIN void round() {
  const Coroutine a = counter(0, 5), b = stepper<2>(9), c = outer(4), d = once();
  auto named = [](long to) -> Coroutine {
    for (long i = 0; i < to; ++i) co_yield i;
  };
  const Coroutine e = named(3);
  Table table{from_table, nullptr};
  for (int i = 0; i < 3; ++i) {
    a.resume();
    b.resume();
    c.resume();
    if (i < 2) e.resume();
    table.call(&table);
    eager(i);
  }
  d.resume();
  while (a.resume()) {
  }
  d.destroy();
  c.resume();
  a.destroy();
  b.destroy();
  while (c.resume()) {
  }
  c.destroy();
  e.destroy();
}

PLAIN void* other(void* rounds) {
  for (auto left = reinterpret_cast<std::intptr_t>(rounds); left > 0; --left) round();
  return nullptr;
}

}  // namespace

PLAIN int main(int argc, char** argv) {
  const long rounds = argc > 1 ? std::atol(argv[1]) : 1;
  const int threads = argc > 2 ? std::atoi(argv[2]) : 0;
  room = 200 * static_cast<unsigned long>(rounds);
  done = static_cast<Done*>(std::calloc(room, sizeof *done));
  leaf(0);
  pthread_t others[16];
  if (done == nullptr || threads > 16) return 2;
  for (int i = 0; i < threads; ++i) {
    if (pthread_create(&others[i], nullptr, other, reinterpret_cast<void*>(rounds)) != 0) return 3;
  }
  logs = true;
  for (long i = 0; i < rounds; ++i) round();
  for (int i = 0; i < threads; ++i) pthread_join(others[i], nullptr);
  for (unsigned long i = 0; i < count; ++i) {
    std::printf("%c %lx\n", done[i].what, reinterpret_cast<unsigned long>(done[i].frame));
  }
  return sum > 0 ? 0 : 1;
}

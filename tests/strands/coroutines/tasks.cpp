// Tasks: lazy and eager, that throw, are destroyed while they are suspended, go from thread to
// thread; functions, members, templates, lambdas; frames from the heap and at one address.
#include <cstddef>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <thread>
#include <vector>

#include "../chance.hpp"
#include "task.hpp"

namespace {

TRACED void leaf() { const truth::call here{"leaf"}; }

/// A call inside a coroutine, below which it cannot suspend.
TRACED void calls_on(int depth) {
  const truth::call here{"calls_on"};
  leaf();
  if (depth > 0) calls_on(depth - 1);
  here.back();
  leaf();
}

/// Suspends in the middle of a loop.
task<int> counts(int to) {
  const truth::call here{"counts", truth::coroutine()};
  int sum = 0;
  for (int i = 0; i < to; ++i) {
    co_await std::suspend_always{};
    here.back();
    leaf();
    sum += i;
  }
  co_return sum;
}

task<int> throws(int number) {
  const truth::call here{"throws", truth::coroutine()};
  const truth::guard last{here};
  co_await std::suspend_always{};
  here.back();
  calls_on(1);
  if (number % 2 == 0) throw number;
  co_return number;
}

task<int> sums(int number) {
  const truth::call here{"sums", truth::coroutine()};
  int sum = 0;
  for (int i = 0; i < number; ++i) {
    sum += co_await counts(2);
    here.back();
    leaf();
    try {
      sum += co_await throws(i);
    } catch (int) {
      --sum;
    }
    here.back();
    calls_on(2);
  }
  co_return sum;
}

/// Instances in instances, of one function.
template <class T>
task<T> tree(T depth) {
  const truth::call here{"tree", truth::coroutine()};
  if (depth == 0) {
    leaf();
    co_return 1;
  }
  const T left = co_await tree<T>(depth - 1);
  here.back();
  leaf();
  const T right = co_await tree<T>(depth - 1);
  here.back();
  leaf();
  co_return left + right;
}

struct object {
  int base;
  task<int> member(int number) const {
    const truth::call here{"member", truth::coroutine()};
    co_await std::suspend_always{};
    here.back();
    leaf();
    co_return base + number;
  }
};

/// Begins in its ramp, and its frame is gone when it ends.
struct eager {
  struct promise_type {
    eager get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::abort(); }
  };
};

struct hands_out {
  std::coroutine_handle<eager::promise_type>& to;
  bool await_ready() { return false; }
  void await_suspend(std::coroutine_handle<eager::promise_type> handle) { to = handle; }
  void await_resume() {}
};

eager notes(int depth) {
  const truth::call here{"notes", truth::coroutine()};
  leaf();
  if (depth > 0) notes(depth - 1);
  here.back();
  leaf();
  co_return;
}

eager waits(std::coroutine_handle<eager::promise_type>& self) {
  const truth::call here{"waits", truth::coroutine()};
  const truth::guard last{here};
  leaf();
  co_await hands_out{self};
  here.back();
  leaf();
  co_await hands_out{self};
  here.back();
  leaf();
}

/// Its frames lie one after the other at one address.
struct placed {
  struct promise_type {
    static void* operator new(std::size_t size) {
      static void* const memory = std::malloc(4096);
      if (memory == nullptr || size > 4096) std::abort();
      return memory;
    }
    static void operator delete(void*) {}
    placed get_return_object() {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::abort(); }
  };
  std::coroutine_handle<promise_type> handle;
};

placed one(int number) {
  const truth::call here{"one", truth::coroutine()};
  const truth::guard last{here};
  calls_on(number);
  co_await std::suspend_always{};
  here.back();
  leaf();
}

placed another(std::string text) {
  const truth::call here{"another", truth::coroutine()};
  leaf();
  co_await std::suspend_always{};
  here.back();
  calls_on(static_cast<int>(text.size()));
}

TRACED void runs(const task<int>& work) {
  const truth::call here{"runs"};
  while (!work.handle().done()) {
    work.handle().resume();
    here.back();
    if (chance(2) == 0) leaf();
  }
}

TRACED void kinds() {
  const truth::call here{"kinds"};
  runs(sums(3));
  here.back();
  runs(tree<int>(3));
  here.back();
  leaf();
  tree<long>(2).await_suspend(nullptr);
  here.back();
  runs(object{5}.member(2));
  here.back();
  const auto lambda = [](int number) -> task<int> {
    const truth::call within{"lambda", truth::coroutine()};
    co_await std::suspend_always{};
    within.back();
    leaf();
    co_return number;
  };
  runs(lambda(1));
  here.back();
  runs(lambda(2));
  here.back();
  leaf();
}

TRACED void at_once() {
  const truth::call here{"at_once"};
  notes(2);
  here.back();
  leaf();
  std::coroutine_handle<eager::promise_type> waiting;
  waits(waiting);
  here.back();
  leaf();
  waiting.resume();
  here.back();
  leaf();
  waiting.resume();
  here.back();
  leaf();
  // Destroyed where it waits.
  waits(waiting);
  here.back();
  waiting.destroy();
  here.back();
  leaf();
}

TRACED void one_place() {
  const truth::call here{"one_place"};
  for (int i = 0; i < 3; ++i) {
    const auto first = one(i);
    first.handle.resume();
    here.back();
    leaf();
    if (i != 1) first.handle.resume();
    here.back();
    first.handle.destroy();
    here.back();
    // Never begun, and then the other function at the same address.
    another("never").handle.destroy();
    here.back();
    const auto second = another("once");
    second.handle.resume();
    here.back();
    second.handle.destroy();
    here.back();
    leaf();
  }
}

TRACED void elsewhere(std::coroutine_handle<task<int>::promise_type> handle) {
  const truth::call here{"elsewhere"};
  leaf();
  handle.resume();
  here.back();
  leaf();
}

/// From one thread to others, and back.
TRACED void wanders() {
  const truth::call here{"wanders"};
  const task<int> wanderer = counts(4), other = sums(2);
  wanderer.handle().resume();
  here.back();
  for (int i = 0; i < 2; ++i) {
    std::thread([&]() PLAIN { elsewhere(wanderer.handle()); }).join();
    here.back();
    leaf();
  }
  wanderer.handle().resume();
  here.back();
  std::thread([&]() PLAIN { elsewhere(other.handle()); }).join();
  here.back();
  leaf();
}

/// Many alive at a time, resumed in any order, some destroyed before their end.
TRACED void crowd() {
  const truth::call here{"crowd"};
  std::vector<task<int>> alive;
  for (int i = 0; i < 200; ++i) {
    switch (chance(3)) {
      case 0:
        alive.push_back(counts(static_cast<int>(chance(5))));
        break;
      case 1:
        alive.push_back(sums(static_cast<int>(chance(3))));
        break;
      default:
        alive.push_back(throws(i));
        break;
    }
    const auto at = chance(static_cast<unsigned>(alive.size()));
    if (!alive[at].handle().done()) alive[at].handle().resume();
    here.back();
    leaf();
    if (chance(4) == 0 || alive[at].handle().done()) {
      std::swap(alive[at], alive.back());
      alive.pop_back();
      here.back();
    }
  }
  alive.clear();
  here.back();
  leaf();
}

}  // namespace

TRACED int main() {
  const truth::call here{"main"};
  for (int i = 0; i < 5; ++i) {
    for (const auto& each : {kinds, at_once, one_place, wanders}) {
      each();
      here.back();
    }
  }
  crowd();
}

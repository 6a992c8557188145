// Coroutines that are suspended for good, each at the line that says `left:
// NAME`. Nothing that a co_await calls has a hook, so the call that a coroutine
// made last is on another line.
#include <coroutine>
#include <cstdlib>

#define PLAIN __attribute__((no_instrument_function))
#define CALLED __attribute__((noinline))

volatile int sum;
CALLED void leaf() { sum = sum + 1; }

/// Begins when it is resumed.
struct lazy {
  struct promise_type {
    PLAIN lazy get_return_object() noexcept {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    PLAIN std::suspend_always initial_suspend() noexcept { return {}; }
    PLAIN std::suspend_always final_suspend() noexcept { return {}; }
    PLAIN void return_void() noexcept {}
    PLAIN void unhandled_exception() noexcept { std::abort(); }
  };
  std::coroutine_handle<> body;
};

/// Begins at once.
struct fired {
  struct promise_type {
    PLAIN fired get_return_object() noexcept { return {}; }
    PLAIN std::suspend_never initial_suspend() noexcept { return {}; }
    PLAIN std::suspend_never final_suspend() noexcept { return {}; }
    PLAIN void return_void() noexcept {}
    PLAIN void unhandled_exception() noexcept { std::abort(); }
  };
};

std::coroutine_handle<> waiting;

struct waits {
  PLAIN bool await_ready() noexcept { return false; }
  PLAIN void await_suspend(std::coroutine_handle<> who) noexcept { waiting = who; }
  PLAIN void await_resume() noexcept {}
};

/// What is awaited has a value, and a destructor.
struct count {
  int value;
  PLAIN ~count() { sum = value; }
  PLAIN bool await_ready() noexcept { return false; }
  PLAIN void await_suspend(std::coroutine_handle<> who) noexcept { waiting = who; }
  PLAIN int await_resume() noexcept { return value; }
};
CALLED count counted(int value) { return {value}; }

CALLED lazy at_the_first() {
  leaf();
  sum = sum + 1;
  co_await waits{};  // left: at_the_first
  leaf();
  co_await waits{};
}

CALLED lazy at_the_second() {
  leaf();
  co_await waits{};
  sum = sum + 1;
  co_await waits{};  // left: at_the_second
  leaf();
}

CALLED lazy in_a_loop(int rounds) {
  for (int i = 0; i < rounds; ++i) {
    sum = sum + 1;
    co_await waits{};  // left: in_a_loop
    leaf();
    co_await waits{};
    leaf();
  }
}

/// GCC 12 says of such an await that it is where the function ends, but not of what it calls.
CALLED lazy in_an_expression(int rounds) {
  int all = 0;
  for (int i = 0; i < rounds; ++i) {
    leaf();
    all += co_await counted(i);  // left: in_an_expression
    leaf();
  }
  sum = all;
}

struct kept {
  int value;
  ~kept() { sum = value; }
};

struct answer {
  int value;
  PLAIN bool await_ready() noexcept { return false; }
  PLAIN void await_suspend(std::coroutine_handle<> who) noexcept { waiting = who; }
  PLAIN int await_resume() noexcept { return value; }
};

/// The last await is not where the parameter and the variable are destroyed.
CALLED fired with_destructors(kept given) {
  kept own{given.value};
  leaf();
  int first = co_await answer{1};
  leaf();

  int second = co_await answer{first};  // left: with_destructors
  leaf();
  sum = second + own.value;
}

/// GCC computes from -O2 on which of the two resume indices it stores.
CALLED lazy in_either(int which) {
  leaf();
  if (which % 2 == 1)
    co_await std::suspend_always{};  // left if odd
  else
    co_await std::suspend_always{};  // left if even
  leaf();
}

CALLED fired at_once() {
  leaf();
  sum = sum + 1;
  co_await waits{};  // left: at_once
  leaf();
}

/// The optimiser puts its ramp into its caller: nothing that has a hook is ever called.
lazy never_begun() {  // left: never_begun
  leaf();
  co_return;
}

CALLED void begins(const lazy& work, int resumptions) {
  for (int i = 0; i < resumptions; ++i) work.body.resume();
}

int main() {
  for (int i = 0; i < 10; ++i) {
    begins(at_the_first(), 1);
    begins(at_the_second(), 2);
    begins(in_a_loop(10), 5);
    begins(in_an_expression(10), 5);
    begins(in_either(i), 1);
    at_once();
    with_destructors({i});
    waiting.resume();
    never_begun();
  }
}

// Coroutines of many shapes. Before every activation the program says which frame it is of: where
// it allocates one, resumes it or destroys it.
#include <coroutine>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

extern "C" {
extern void* expected_frame;
extern char __executable_start;
char* program_start = &__executable_start;
}

template <class Initial>
struct promise_base {
  std::exception_ptr thrown;
  // The hooks copy the first 256 bytes.
  static void* operator new(std::size_t size) { return expected_frame = std::malloc(size + 256); }
  static void operator delete(void* memory) { std::free(memory); }
  Initial initial_suspend() noexcept { return {}; }
  std::suspend_always final_suspend() noexcept { return {}; }
  void unhandled_exception() { thrown = std::current_exception(); }
};

template <class Initial>
struct basic {
  struct promise_type : promise_base<Initial> {
    long value = 0;
    basic get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    void return_value(long result) { value = result; }
    std::suspend_always yield_value(long next) {
      value = next;
      return {};
    }
  };
  std::coroutine_handle<promise_type> handle;

  void resume() {
    expected_frame = handle.address();
    handle.resume();
  }
  void destroy() {
    expected_frame = handle.address();
    handle.destroy();
  }
  long run() {
    while (!handle.done()) resume();
    const long result = handle.promise().value;
    const bool threw = handle.promise().thrown != nullptr;
    destroy();
    return threw ? -1 : result;
  }

  // Awaited: it runs to its end inside of await_suspend.
  bool await_ready() const { return handle.done(); }
  bool await_suspend(std::coroutine_handle<>) {
    while (!handle.done()) resume();
    return false;
  }
  long await_resume() {
    const long result = handle.promise().value;
    destroy();
    return result;
  }
};
using lazy = basic<std::suspend_always>;
using eager = basic<std::suspend_never>;

lazy nothing() { co_return 1; }
eager at_once(int n) {
  co_yield n;
  co_return n + 1;
}
lazy counts(int n) {
  for (int i = 0; i < n; i++) co_yield i;
  co_return n;
}
lazy awaits(int n) {
  long sum = 0;
  for (int i = 0; i < n; i++) sum += co_await counts(i) + co_await at_once(i) + co_await nothing();
  co_return sum;
}
lazy throws(std::string text) {
  co_await std::suspend_always{};
  if (text.size() > 3) throw std::runtime_error(text);
  co_return 0;
}

// More is alive than there are registers.
__attribute__((noinline)) long mix(long a, long b, long c, long d, long e, long f, long g, long h) {
  return a ^ b ^ c ^ d ^ e ^ f ^ g ^ h;
}
lazy crowded(long a, long b, long c, long d, long e, long f) {
  long x[6] = {a, b, c, d, e, f};
  for (int i = 0; i < 3; i++) {
    for (long& y : x) y += mix(a, b, c, d, e, f, y, i);
    co_yield x[i];
    a += b * c;
    b -= d + e;
    f ^= a;
  }
  co_return a + b + c + d + e + f + x[5];
}
lazy aligned(int n) {
  alignas(64) volatile char buffer[64] = {};
  for (int i = 0; i < n; i++) {
    buffer[i] = static_cast<char>(i);
    co_await std::suspend_always{};
  }
  co_return buffer[1];
}
template <class T>
lazy sized(std::vector<T> values, const T* last) {
  long sum = 0;
  for (const T& value : values) {
    sum += static_cast<long>(value);
    co_yield sum;
    if (&value == last) break;
  }
  co_return sum;
}

// Small, and called once: it is inlined where it is called, and so is what it begins with.
static eager small(int n) { co_return n; }

struct counter {
  long base;
  eager step(int n) const {
    co_await std::suspend_always{};
    co_return base + n;
  }
  static inline lazy twice(counter c, int n) { co_return co_await c.step(n) + co_await c.step(n); }
};

int main() {
  long sum = nothing().run() + at_once(3).run() + counts(4).run() + awaits(4).run();
  sum += throws("abc").run() + throws("a long text that is thrown").run();
  sum += crowded(1, 2, 3, 4, 5, 6).run() + aligned(3).run();
  sum += sized(std::vector<int>{1, 2, 3}, static_cast<const int*>(nullptr)).run();
  sum += sized(std::vector<double>{1, 2}, static_cast<const double*>(nullptr)).run();
  sum += counter::twice({5}, 2).run();
  auto lambda = [&sum](auto n) -> eager {
    co_await std::suspend_always{};
    co_return n + (sum & 1);
  };
  sum += small(1).run();
  sum += lambda(1).run() + lambda(2L).run();
  // Destroyed while they are suspended, at their first and at a later point.
  counts(3).destroy();
  lazy half = crowded(6, 5, 4, 3, 2, 1);
  half.resume();
  half.resume();
  half.destroy();
  at_once(1).destroy();
  return sum != 0 ? 0 : 1;
}

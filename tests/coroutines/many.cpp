// As many coroutines as the second argument says, all of them alive at once; then they are
// destroyed in the order that the first one names, or left alive.
#include <algorithm>
#include <coroutine>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#define PLAIN __attribute__((no_instrument_function))

struct task {
  struct promise_type {
    PLAIN task get_return_object() noexcept {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    PLAIN std::suspend_always initial_suspend() noexcept { return {}; }
    PLAIN std::suspend_always final_suspend() noexcept { return {}; }
    PLAIN void return_void() noexcept {}
    PLAIN void unhandled_exception() noexcept { std::abort(); }
  };
  std::coroutine_handle<> body;
};

task waits() { co_await std::suspend_always{}; }

PLAIN int main(int count, char** words) {
  if (count != 3) return 2;
  const char* const order = words[1];
  std::vector<std::coroutine_handle<>> all(std::strtoul(words[2], nullptr, 10));
  for (auto& one : all) {
    one = waits().body;
    one.resume();
  }
  if (std::strcmp(order, "alive") == 0) return 0;
  if (std::strcmp(order, "reverse") == 0) {
    std::reverse(all.begin(), all.end());
  } else if (std::strcmp(order, "random") == 0) {
    std::uint64_t dice = 1;
    for (std::size_t i = all.size() - 1; i > 0; --i) {
      dice = dice * 6'364'136'223'846'793'005u + 1;
      std::swap(all[i], all[(dice >> 33) % (i + 1)]);
    }
  } else if (std::strcmp(order, "forward") != 0) {
    return 2;
  }
  for (const auto one : all) one.destroy();
}

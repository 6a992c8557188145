// Fibers and tasks in one scheduler: an exception, a cancellation, a stack of a chosen size.
#include <cstdio>
#include <heddle/coop.hpp>
#include <stdexcept>

using namespace heddle::coop;

int main() {
  scheduler s;
  channel<int> numbers(2);
  int sum = 0;
  s.spawn([&] {
    for (int i = 1; i <= 100; ++i) await(numbers.push(i));
    numbers.close();
  });
  auto receiver = s.spawn([&]() -> task<int> {
    while (auto number = co_await numbers.pop()) sum += *number;
    throw std::runtime_error("the end");
  });
  bool caught = false;
  s.spawn([&] {
    try {
      await(receiver.join());
    } catch (const std::runtime_error&) {
      caught = true;
    }
  });
  auto endless = s.spawn([]() -> task<> {
    for (;;) co_await yield();
  });
  s.spawn(stack_size{1024 * 1024}, [&] {
    volatile char large[512 * 1024];
    large[0] = 1;
    if (large[0] == 1) endless.cancel();
  });
  s.run();
  if (sum != 5050 || !caught || !endless.done()) {
    std::printf("sum %d, caught %d, ended %d\n", sum, caught, endless.done());
    return 1;
  }
  std::puts("both_kinds: ok");
  return 0;
}

// Compiled with -fno-exceptions.
#include <cstdio>
#include <heddle/coop/await.hpp>
#include <heddle/coop/generator.hpp>
#include <heddle/coop/scheduler.hpp>
#include <heddle/coop/sync/semaphore.hpp>
#include <heddle/coop/task.hpp>
#include <heddle/coop/yield.hpp>

using namespace heddle::coop;

namespace {

generator<int> first_numbers(int count) {
  for (int i = 1; i <= count; ++i) co_yield i;
}

}  // namespace

int main() {
  scheduler s;
  semaphore full(0);
  int sum = 0;
  s.spawn([&] {
    for (const int number : first_numbers(100)) {
      sum += number;
      await(yield());
      full.V();
    }
  });
  s.spawn([&]() -> task<> {
    for (int i = 0; i < 100; ++i) co_await full.P();
    co_await sleep_for(std::chrono::microseconds(1));
  });
  s.run();
  if (sum != 5050 || s.alive() != 0) {
    std::printf("sum %d, alive %zu\n", sum, s.alive());
    return 1;
  }
  std::puts("no_exceptions: ok");
  return 0;
}

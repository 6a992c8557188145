// Groups of strands on processors of their own: one group reads the numbers, the others test them,
// and a strand that moves brings each group's count home.
//
//     build/examples/groups
#include "heddle/coop/parallel/groups.hpp"

#include <cstdio>

#include "heddle/coop/parallel/channel.hpp"
#include "heddle/coop/parallel/group_local.hpp"
#include "heddle/coop/parallel/move_to.hpp"
#include "heddle/coop/parallel/semaphore.hpp"

using namespace heddle::coop;

namespace {

bool is_prime(int number) {
  for (int divisor = 2; divisor * divisor <= number; ++divisor) {
    if (number % divisor == 0) return false;
  }
  return number >= 2;
}

}  // namespace

int main() {
  constexpr int most = 20'000;
  constexpr std::size_t testers = 2;
  parallel::groups g({.count = 1 + testers});
  parallel::channel<int> numbers(64, "numbers");
  parallel::semaphore tested(0, "tested");
  parallel::group_local<int> primes[testers];  // plain: only strands of one group touch each

  g[0].spawn(
      [&] {
        for (int i = 0; i < most; ++i) await(numbers.push(i));
        numbers.close();
      },
      "reader");
  for (std::size_t i = 0; i < testers; ++i) {
    for (int strand = 0; strand < 4; ++strand) {
      g[1 + i].spawn(
          [&, i] {
            while (const auto number = await(numbers.pop())) *primes[i] += is_prime(*number);
            tested.V();
          },
          "tester");
    }
  }
  int sum = 0;
  g[0].spawn(
      [&] {
        for (std::size_t i = 0; i < testers * 4; ++i) await(tested.P());
        for (std::size_t i = 0; i < testers; ++i) {
          await(parallel::move_to(g[1 + i]));
          sum += *primes[i];
        }
      },
      "collector");
  g.run();
  std::printf("%d primes below %d\n", sum, most);
  return sum == 2262 ? 0 : 1;
}

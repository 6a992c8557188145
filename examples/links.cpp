// Two groups and a link: one asks how many divisors numbers have, the other one answers, each
// message in a strand of its own.
//
//     ./links 20
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "heddle/coop/link/link.hpp"
#include "heddle/coop/parallel/groups.hpp"

using namespace heddle::coop;

namespace {

int divisors_of(int number) {
  int count = 0;
  for (int i = 1; i <= number; ++i) count += number % i == 0 ? 1 : 0;
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  const int numbers = argc > 1 ? std::atoi(argv[1]) : 20;
  parallel::groups g({.count = 2});
  auto [client, server] = make_link<int, int>("divisors");
  int primes = 0;
  g[0].spawn([&, end = std::move(client)]() mutable {
    for (int i = 1; i <= numbers; ++i) {
      if (await(end.call(i)) == 2) ++primes;
    }
  });
  g[1].spawn([end = std::move(server)]() mutable {
    end.on(divisors_of);
    await(end.finished());  // until the client is done with it
  });
  g.run();
  std::printf("%d of the first %d numbers are primes\n", primes, numbers);
}

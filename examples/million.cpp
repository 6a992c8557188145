// A million strands at once, of which half are let through and half are cancelled, three times.
//
//   build/examples/million [STRANDS]
//
// Look at: a strand that waits is some hundred bytes; one cancel() ends half a million, and what
// lives in their frames is destroyed; the second and third time, no more memory is taken.
#include <sys/resource.h>

#include <cstdlib>
#include <iostream>

#include "heddle/coop/await.hpp"
#include "heddle/coop/in_scope.hpp"
#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/sync/semaphore.hpp"
#include "heddle/coop/task.hpp"
#include "heddle/coop/yield.hpp"

namespace {

using namespace heddle::coop;

// A sanitizer does, for a while.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool keeps_freed_memory = true;
#elif defined(__clang__)
constexpr bool keeps_freed_memory = __has_feature(address_sanitizer);
#else
constexpr bool keeps_freed_memory = false;
#endif

long peak_bytes() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return used.ru_maxrss * 1024;
}

struct counted {
  long& count;
  explicit counted(long& of_all) : count(of_all) { ++count; }
  ~counted() { --count; }
};

}  // namespace

int main(int argc, char** argv) {
  const long strands = argc == 2 ? std::atol(argv[1]) : 1'000'000;
  scheduler s;
  semaphore door(0, "door");
  long inside = 0;
  long passed = 0;
  bool right = true;
  const auto guest = [&]() -> task<> {
    const counted here(inside);
    co_await door.acquire();
    ++passed;
  };
  const auto round = [&](scope& crowd) {
    for (long i = 0; i < strands; ++i) crowd.spawn(guest);
    while (inside != strands) await(yield());
    for (long i = 0; i < strands / 2; ++i) door.release();
    while (inside != strands - strands / 2) await(yield());
    crowd.cancel();
  };
  const long before = peak_bytes();
  long first = 0;
  s.spawn([&] {
    for (int i = 1; i <= 3; ++i) {
      in_scope(s, round);
      right = right && inside == 0 && passed == i * (strands / 2);
      if (i == 1) first = peak_bytes() - before;
    }
  });
  s.run();
  const long all = peak_bytes() - before;
  std::cout << passed << " of " << 3 * strands << " passed; " << first / strands
            << " bytes a strand\n";
  right = right && (keeps_freed_memory || all < first + first / 10);
  return right && s.alive() == 0 ? 0 : 1;
}

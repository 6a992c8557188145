#include "harness/processes.hpp"

#include <doctest/doctest.h>

#include <string>

namespace heddle::lab {

TEST_CASE("slices that are counted end after as many checkpoints, and at the P operations") {
  std::string order;
  const std::uint64_t before = count().strand_switches;
  {
    processes<coop::checkpoints> all(coop::checkpoints{3});
    processes<coop::checkpoints>::semaphore free(1);
    for (const char name : {'a', 'b'}) {
      all.spawn([&, name] {
        for (int i = 0; i < 4; ++i) {
          order += name;
          processes<coop::checkpoints>::checkpoint();
        }
        free.P();
        free.V();
      });
    }
    all.run();
  }
  // Ten checkpoints: eight of loops, and one before each P.
  CHECK(order == "aaabbbab");
  CHECK(count().strand_switches - before == 3);
}

}  // namespace heddle::lab

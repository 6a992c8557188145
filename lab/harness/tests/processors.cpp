#include "harness/processors.hpp"

#include <doctest/doctest.h>

#include <thread>

#include "harness/model.hpp"

using namespace heddle::lab;

namespace {

// Before anything is pinned.
const int at_first = processors();

}  // namespace

TEST_CASE("a thread that is pinned to some processors has these, and no more than there are") {
  // Affinity is a thread's own: the other tests keep theirs.
  std::thread([] {
    for (const int count : {1, at_first, 1}) {
      pin_to_processors(count);
      CHECK(processors() == count);
      std::thread([count] { CHECK(processors() == count); }).join();
    }
    CHECK_THROWS_AS(pin_to_processors(at_first + 1), cannot_run);
    CHECK(processors() == 1);
    pin_to_processor(at_first - 1);
    CHECK(processors() == 1);
    CHECK_THROWS_AS(pin_to_processor(at_first), cannot_run);
  }).join();
}

#include <doctest/doctest.h>

#include "workloads/buffer/workload.hpp"

namespace heddle::lab::buffer_oracle_test {

// Two producers with one item each, one consumer, two slots; `steps` says what they do, a letter a
// step: P and p produce and deposit, of either producer; C fetches.
verdict run(std::string_view steps) {
  const parameters values(buffer::problem::declare());
  buffer::problem work(values.with("producers", 2).with("slots", 2).with("steps", 1));
  for (const char step : steps) {
    if (step == 'C') {
      work.fetch(0, no_checkpoint);
    } else {
      const int who = step == 'P' ? 0 : 1;
      work.produce(who, no_checkpoint);
      work.deposit(who, no_checkpoint);
    }
  }
  return work.check();
}

TEST_CASE("the buffer's oracle passes each item once, and in its producer's order") {
  CHECK(run("PpCC").ok);
  CHECK(run("pCPC").ok);
  CHECK_FALSE(run("PC").ok);      // one is missing
  CHECK_FALSE(run("PpC").ok);     // one was left in the buffer
  CHECK_FALSE(run("PpCCC").ok);   // one came twice
  CHECK_FALSE(run("PPpCC").ok);   // one was written over
  CHECK_FALSE(run("PCPCpC").ok);  // one too many
  CHECK_FALSE(run("CPpC").ok);    // one was fetched before it was there
}

}  // namespace heddle::lab::buffer_oracle_test

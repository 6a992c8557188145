#include <doctest/doctest.h>

#include "workloads/simulator/event_driven.hpp"
#include "workloads/simulator/workload.hpp"

namespace heddle::lab::simulator_oracle_test {

using simulating::history;
using simulating::what;

history simulate(const simulating::scenario& given) {
  history happened;
  simulating::event_driven(given, happened).run();
  return happened;
}

verdict judge(const history& happened) {
  const parameters values(simulating::problem::declare());
  simulating::problem work(values);
  work.happened() = happened;
  return work.check();
}

TEST_CASE("the simulation of the default scenario is the same in every language") {
  // goroutine/main_test.go expects the same.
  CHECK(simulate({}) ==
        history{.events = 8000, .digest = 17553327171593267405u, .end = 616'712'399});
  CHECK(simulate({.seed = 2}).digest != simulate({}).digest);
}

TEST_CASE("the simulator's oracle passes what the event-driven form does and nothing else") {
  const history right = simulate({});
  CHECK(judge(right).ok);
  CHECK_FALSE(judge({}).ok);
  CHECK_FALSE(judge(simulate({.seed = 2})).ok);
  CHECK_FALSE(judge(simulate({.requests = 19})).ok);
  history late = right;
  ++late.end;
  CHECK_FALSE(judge(late).ok);
  history twice = right;
  twice.note(right.end, what::has_its_answer, 0, 19);
  CHECK_FALSE(judge(twice).ok);
}

TEST_CASE("a history knows when, to whom and what happened") {
  const auto digest_of = [](std::int64_t now, what happened, int connection, int request) {
    history one;
    one.note(now, happened, connection, request);
    return one.digest;
  };
  const std::uint64_t one = digest_of(10, what::asks, 1, 2);
  CHECK(one == digest_of(10, what::asks, 1, 2));
  CHECK(one != digest_of(11, what::asks, 1, 2));
  CHECK(one != digest_of(10, what::answers, 1, 2));
  CHECK(one != digest_of(10, what::asks, 2, 2));
  CHECK(one != digest_of(10, what::asks, 1, 1));
}

}  // namespace heddle::lab::simulator_oracle_test

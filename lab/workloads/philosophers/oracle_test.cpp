#include <doctest/doctest.h>

#include "workloads/philosophers/workload.hpp"

namespace heddle::lab::philosophers_oracle_test {

// Three philosophers with one meal each.
philosophers::problem three() {
  const parameters values(philosophers::problem::declare());
  return philosophers::problem(values.with("philosophers", 3).with("steps", 1));
}

void think_all(philosophers::problem& work) {
  for (int who = 0; who < 3; ++who) work.think(who, no_checkpoint);
}

void leave_all(philosophers::problem& work) {
  for (int who = 0; who < 3; ++who) work.leave();
}

TEST_CASE("the philosophers' oracle passes one who eats at a time") {
  auto work = three();
  think_all(work);
  for (int who = 0; who < 3; ++who) work.eat(who, no_checkpoint, [] {});
  leave_all(work);
  CHECK(work.check().ok);
}

TEST_CASE("the philosophers' oracle notices neighbours who eat at a time") {
  auto work = three();
  think_all(work);
  work.begin_eating(0);
  work.begin_eating(1);
  for (int who = 0; who < 2; ++who) {
    work.chew(who, no_checkpoint);
    work.end_eating(who);
  }
  work.eat(2, no_checkpoint, [] {});
  leave_all(work);
  CHECK_FALSE(work.check().ok);
}

TEST_CASE("the philosophers' oracle notices a meal too few, one too many, and none who leave") {
  auto hungry = three();
  think_all(hungry);
  hungry.eat(0, no_checkpoint, [] {});
  hungry.eat(1, no_checkpoint, [] {});
  leave_all(hungry);
  CHECK_FALSE(hungry.check().ok);

  auto greedy = three();
  think_all(greedy);
  for (const int who : {0, 1, 2, 2}) greedy.eat(who, no_checkpoint, [] {});
  leave_all(greedy);
  CHECK_FALSE(greedy.check().ok);

  auto staying = three();
  think_all(staying);
  for (int who = 0; who < 3; ++who) staying.eat(who, no_checkpoint, [] {});
  CHECK_FALSE(staying.check().ok);
}

TEST_CASE("the philosophers' oracle notices a neighbour who eats while another gives way") {
  const parameters values(philosophers::problem::declare());
  for (const bool neighbour : {false, true}) {
    philosophers::problem work(
        values.with("philosophers", 4).with("steps", 1).with("yields-inside", 3));
    const auto eat = [&](int who, const auto& meanwhile) {
      work.think(who, no_checkpoint);
      work.eat(who, no_checkpoint, meanwhile);
      work.leave();
    };
    int pauses = 0;
    eat(0, [&] {
      if (++pauses == 2) eat(neighbour ? 1 : 2, [] {});
    });
    eat(neighbour ? 2 : 1, [] {});
    eat(3, [] {});
    CHECK(pauses == 3);
    CHECK(work.check().ok == !neighbour);
  }
}

TEST_CASE("what a work loop computes is known without running it") {
  for (const std::int64_t iterations : {0, 1, 2, 3, 1000}) {
    CAPTURE(iterations);
    CHECK(work_loop(7, iterations, no_checkpoint) ==
          after_work(7, static_cast<std::uint64_t>(iterations)));
  }
}

}  // namespace heddle::lab::philosophers_oracle_test

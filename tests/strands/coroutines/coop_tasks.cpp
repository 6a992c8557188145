// Our own runtime's coroutines: tasks on its scheduler, tasks that fibers await, generators.
#include <heddle/coop/generator.hpp>
#include <heddle/coop/hybrid.hpp>
#include <heddle/coop/recursive_generator.hpp>
#include <heddle/coop/scheduler.hpp>
#include <heddle/coop/sync/semaphore.hpp>
#include <heddle/coop/yield.hpp>

#include "../chance.hpp"

namespace {

namespace coop = heddle::coop;
using coop::task;

task<int> fetches(int number) {
  truth::call here{"fetches", truth::coroutine()};
  const truth::guard last{here};
  co_await coop::yield();
  here.back();
  truth::point();
  if (number % 3 == 0) throw number;
  co_return number;
}

task<int> sums(int depth) {
  truth::call here{"sums", truth::coroutine()};
  int sum = 0;
  for (int i = 0; i < 3; ++i) {
    try {
      sum += co_await fetches(static_cast<int>(chance(9)));
    } catch (int) {
      --sum;
    }
    here.back();
    truth::point();
    if (depth > 0) sum += co_await sums(depth - 1);
    here.back();
    truth::point();
  }
  co_return sum;
}

task<> holds(coop::semaphore& door) {
  truth::call here{"holds", truth::coroutine()};
  co_await door.P();
  here.back();
  truth::point();
  co_await coop::yield();
  here.back();
  truth::point();
  door.V();
}

coop::generator<int> counts(int to) {
  truth::call here{"counts", truth::coroutine()};
  for (int i = 0; i < to; ++i) {
    co_yield i;
    here.back();
    truth::point();
  }
}

coop::recursive_generator<int> ordered(int depth) {
  truth::call here{"ordered", truth::coroutine()};
  if (depth > 0) co_yield ordered(depth - 1);
  here.back();
  truth::point();
  co_yield depth;
  here.back();
  truth::point();
  if (depth > 0) co_yield ordered(depth - 1);
  here.back();
  truth::point();
}

/// A generator's caller is in the middle of its loop when an element comes.
TRACED int walks() {
  const truth::call here{"walks"};
  int sum = 0;
  for (const int value : counts(4)) {
    here.back();
    truth::point();
    sum += value;
  }
  here.back();
  for (const int value : ordered(3)) {
    here.back();
    truth::point();
    if (value == 3) break;
  }
  here.back();
  truth::point();
  return sum;
}

/// A fiber that awaits tasks, which run on its stack between their waits.
TRACED void mixes(coop::semaphore& door) {
  const truth::call here{"mixes"};
  coop::await(sums(1));
  here.back();
  truth::point();
  coop::await(coop::yield());
  here.back();
  walks();
  here.back();
  coop::await(door.P());
  here.back();
  truth::point();
  door.V();
}

}  // namespace

TRACED int main() {
  const truth::call here{"main"};
  coop::scheduler s({.random_seed = 3});
  coop::semaphore door(1, "door");
  for (int i = 0; i < 20; ++i) {
    s.spawn(sums(2));
    s.spawn(holds(door));
    s.spawn([&]() PLAIN {
      truth::running() = new truth::strand(truth::kind::fiber);
      mixes(door);
    });
  }
  here.back();
  s.run();
  here.back();
  walks();
}

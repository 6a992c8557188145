#pragma once

#include <cstdint>

#include "harness/waits.hpp"
#include "heddle/coop/await.hpp"
#include "heddle/coop/strand.hpp"
#include "heddle/coop/sync/watched.hpp"
#include "heddle/coop/wait_for.hpp"
#include "heddle/coop/yield.hpp"

namespace heddle::lab {

/// The ways in which a fiber waits under CM (Euro-Par 2000, section 2), one class for each. Each
/// class has
/// - `variable<T>`: what conditions depend on;
/// - `until(holds, next, variables…)`: goes on when `holds()`; `next()` is the strand that could
///   make it so, for a named yield;
/// - `yield()`, and `done()` what it came to.
class waiting_base {
 public:
  template <class T>
  using variable = T;

  void yield() {
    ++done_.switches;
    coop::await(coop::yield());
  }
  [[nodiscard]] waits& done() { return done_; }

 protected:
  waits done_;
};

/// `waitfor`: the scheduler evaluates the condition at the strand's turn, without a switch to it.
class by_wait_for : public waiting_base {
 public:
  template <class Condition, class Next, class... Variables>
  void until(Condition holds, const Next&, const Variables&...) {
    const std::uint64_t before = done_.evaluations;
    coop::await(coop::wait_for(done_.counting(holds)));
    if (done_.evaluations != before) ++done_.switches;
  }
};

/// Waits by the loop that Figure 1(b) writes out: `do not(condition) -> nap(0) od`, an unnamed
/// yield each time.
class by_yield_loop : public waiting_base {
 public:
  template <class Condition, class Next, class... Variables>
  void until(Condition holds, const Next&, const Variables&...) {
    while (!holds()) {
      ++done_.evaluations;
      yield();
    }
  }
};

/// The same with a named yield (section 3.1): "select the process to which to yield".
class by_named_yield : public waiting_base {
 public:
  template <class Condition, class Next, class... Variables>
  void until(Condition holds, const Next& next, const Variables&...) {
    while (!holds()) {
      ++done_.evaluations;
      ++done_.switches;
      coop::await(coop::yield_to(next()));
    }
  }
};

/// Without re-evaluation: the condition is looked at when one of its variables changes. It may have
/// ceased to hold by the strand's turn, hence the loop.
class by_wait_until : public waiting_base {
 public:
  template <class T>
  using variable = coop::watched<T>;

  template <class Condition, class Next, class... Variables>
  void until(Condition holds, const Next&, Variables&... variables) {
    while (!holds()) {
      ++done_.switches;
      coop::await(coop::wait_until(done_.counting(holds), variables...));
    }
  }
};

}  // namespace heddle::lab

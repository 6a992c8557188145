// Included once for each kind of strand. Every wait there is, under a limit and under cancellation.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "heddle/coop/hybrid.hpp"
#include "heddle/coop/in_scope.hpp"
#include "heddle/coop/select.hpp"
#include "heddle/coop/sync/barrier.hpp"
#include "heddle/coop/sync/channel.hpp"
#include "heddle/coop/sync/condition.hpp"
#include "heddle/coop/sync/mutex.hpp"
#include "heddle/coop/sync/rw_lock.hpp"
#include "heddle/coop/sync/semaphore.hpp"
#include "heddle/coop/sync/watched.hpp"
#include "heddle/coop/wait_for.hpp"
#include "heddle/coop/when.hpp"
#include "heddle/coop/when_tasks.hpp"
#include "strand_kinds.hpp"

namespace {

const int limit_seeds = seeds(300, 10);

#if !defined(HEDDLE_LIMITS_SUITE_WAITS)
#define HEDDLE_LIMITS_SUITE_WAITS

// Things to wait for, none of which comes before its time: everything is taken, or not there.
struct nothing_comes {
  explicit nothing_comes(scheduler& s)
      : sleeper(s.spawn([]() -> task<> { co_await sleep_for(10s); })),
        sleepers{sleeper, sleeper},
        children(s) {
    static_cast<void>(taken.try_lock());
    static_cast<void>(try_select(full.push(0)));
  }

  heddle::coop::semaphore permits{0, "permits"};
  heddle::coop::mutex taken{"taken"};
  heddle::coop::mutex free{"free"};
  heddle::coop::rw_lock lock{"lock"};
  heddle::coop::barrier both{2, "both"};
  heddle::coop::condition changed{"changed"};
  channel<int> full{1, "full"};
  channel<int> empty{1, "empty"};
  watched<bool> door{false, "door"};
  strand<> sleeper;
  std::vector<strand<>> sleepers;
  scope children;

  // That no trace is left of waits that ended early.
  void check() {
    permits.V();
    REQUIRE(permits.permits() == 1);
    taken.unlock();
    REQUIRE_FALSE(taken.locked());
    REQUIRE_FALSE(free.locked());
    lock.unlock_shared();
    REQUIRE(lock.readers() == 0);
    REQUIRE_FALSE(lock.writing());
    REQUIRE(full.size() == 1);
    REQUIRE(empty.size() == 0);
    REQUIRE_FALSE(try_select(empty.pop()).has_value());
    REQUIRE(try_select(empty.push(1)).has_value());
  }
};

#endif

}  // namespace

// Runs `with(wait)` for every wait: an expression over `w`, a nothing_comes.
#define EVERY_WAIT(with)                                          \
  with(w.permits.P());                                            \
  with(w.taken.scoped_lock());                                    \
  with(w.lock.scoped_lock());                                     \
  with(w.both.arrive_and_wait());                                 \
  with(w.full.push(1));                                           \
  with(w.empty.pop());                                            \
  with(select(w.empty.pop(), w.full.push(2)));                    \
  with(w.sleeper.join());                                         \
  with(when_all(w.sleeper, w.sleeper));                           \
  with(when_all(w.sleepers));                                     \
  with(when_any(w.sleeper, w.sleeper));                           \
  with(when_any(w.sleepers));                                     \
  with(w.children.join());                                        \
  with(wait_for([] { return false; }));                           \
  with(wait_until([&w] { return w.door.get(); }, w.door));        \
  with(when_all(never_ends(w.permits), never_ends(w.permits)));   \
  with(when_any(never_ends(w.permits), never_ends(w.permits)));   \
  with(on_fiber([&w] { ::heddle::coop::await(w.permits.P()); })); \
  with(in_scope(s, [&w](scope& inner) -> task<> {                 \
    inner.spawn(never_ends(w.permits));                           \
    co_return;                                                    \
  }))

namespace {

#if !defined(HEDDLE_LIMITS_SUITE_TASKS)
#define HEDDLE_LIMITS_SUITE_TASKS
task<> never_ends(heddle::coop::semaphore& never) { co_await never.P(); }
#endif

}  // namespace

TEST_CASE(KIND "every wait can be limited in time, and leaves nothing behind") {
  under_policies(limit_seeds, [](const scheduler_options& options) {
    scheduler s(options);
    nothing_comes w(s);
    w.children.spawn([]() -> task<> { co_await sleep_for(10s); });
    int waits = 0;
    int timed_out = 0;
    s.spawn(BODY(&) {
      WAIT(w.lock.scoped_lock_shared()).release();
#define LIMITED(...)                                                       \
  s.spawn(BODY(&) {                                                        \
    ++waits;                                                               \
    timed_out += static_cast<bool>(WAIT(within(1s, __VA_ARGS__))) ? 0 : 1; \
    REQUIRE(s.now() == time_point{} + 1s);                                 \
  })
      EVERY_WAIT(LIMITED);
#undef LIMITED
      s.spawn(BODY(&) {  // gives its mutex away, and has it again
        ++waits;
        const auto guard = WAIT(w.free.scoped_lock());
        timed_out += WAIT(within(1s, w.changed.wait(w.free))) ? 0 : 1;
      });
      s.spawn(BODY(&) {  // behind a writer that waits, until that gives up
        WAIT(sleep_for(500ms));
        REQUIRE(WAIT(within(1s, w.lock.scoped_lock_shared())));
        REQUIRE(s.now() == time_point{} + 1s);
      });
    });
    s.run();
    REQUIRE(waits == 20);
    REQUIRE(timed_out == waits);
    REQUIRE(s.now() == time_point{} + 10s);
    w.check();
  });
}

TEST_CASE(KIND "every wait can be cancelled, and leaves nothing behind") {
  under_policies(limit_seeds, [](const scheduler_options& options) {
    scheduler s(options);
    nothing_comes w(s);
    w.children.spawn([]() -> task<> { co_await sleep_for(10s); });
    int waits = 0;
    int unwound = 0;
    std::vector<strand<>> all;
    s.spawn(BODY(&) {
      WAIT(w.lock.scoped_lock_shared()).release();
#define CANCELLED(...)                    \
  all.push_back(s.spawn(BODY(&) {         \
    ++waits;                              \
    const exit_counter guard{unwound};    \
    static_cast<void>(WAIT(__VA_ARGS__)); \
    FAIL("came");                         \
  }))
      EVERY_WAIT(CANCELLED);
      CANCELLED(sleep_for(10s));
      CANCELLED(sleep_until(time_point{} + 10s));
#undef CANCELLED
      WAIT(sleep_for(1s));
      for (const auto& each : all) each.cancel();
      for (const auto& each : all) {
        bool told = false;
        try {
          WAIT(each.join());
        } catch (const strand_cancelled&) {
          told = true;
        }
        REQUIRE(told);
      }
      REQUIRE(s.now() == time_point{} + 1s);
    });
    s.run();
    REQUIRE(waits == 21);
    REQUIRE(unwound == waits);
    w.check();
  });
}

TEST_CASE(KIND "the scheduler may be destroyed during every wait") {
  int waits = 0;
  int unwound = 0;
  auto owner = std::make_unique<scheduler>();
  {
    scheduler& s = *owner;
    nothing_comes w(s);
    heddle::coop::semaphore never(0);
    s.spawn(BODY(&) {
      w.sleeper.cancel();
      w.sleeper = s.spawn(never_ends(never));
      w.sleepers = {w.sleeper, w.sleeper};
      w.children.spawn(never_ends(never));
      WAIT(w.lock.scoped_lock_shared()).release();
#define DESTROYED(...)                    \
  s.spawn(BODY(&) {                       \
    ++waits;                              \
    const exit_counter guard{unwound};    \
    static_cast<void>(WAIT(__VA_ARGS__)); \
    FAIL("came");                         \
  })
      EVERY_WAIT(DESTROYED);
#undef DESTROYED
    });
    CHECK_THROWS_AS(s.run(), deadlock);
    CHECK(waits == 19);
    CHECK(unwound == 0);
    owner.reset();
  }
  CHECK(unwound == waits);
}

TEST_CASE(KIND "a whole task can be limited: it is cancelled and waited for") {
  under_policies(limit_seeds, [](const scheduler_options& options) {
    scheduler s(options);
    s.spawn(BODY(&s) {
      int ended = 0;  // referred to by tasks that must not outlive the wait
      const auto steps = [](int count, int& counted) -> task<int> {
        const exit_counter guard{counted};
        for (int i = 0; i < count; ++i) co_await sleep_for(1s);
        co_return count;
      };
      REQUIRE_FALSE(WAIT(within(5s, steps(10, ended))).has_value());
      REQUIRE(s.now() == time_point{} + 5s);
      REQUIRE(ended == 1);
      REQUIRE(WAIT(within(5s, steps(3, ended))) == 3);
      heddle::coop::semaphore never(0);
      REQUIRE_FALSE(WAIT(within(2s, never_ends(never))));
      never.V();
      REQUIRE(WAIT(within(2s, never_ends(never))));
      REQUIRE(s.now() == time_point{} + 10s);
      REQUIRE(s.alive() == 1);
    });
    s.run();
  });
}

TEST_CASE(KIND "a barrier whose strands were destroyed begins anew") {
  heddle::coop::barrier both(2);
  for (int round = 0; round < 3; ++round) {
    scheduler s;
    bool last = false;
    s.spawn(BODY(&) { WAIT(both.arrive_and_wait()); });
    if (round == 1) s.spawn(BODY(&) { last = WAIT(both.arrive_and_wait()); });
    if (round == 1) {
      s.run();
      CHECK(last);
    } else {
      CHECK_THROWS_AS(s.run(), deadlock);
    }
  }
}

TEST_CASE(KIND "of a limit and a sleep, or of two limits, the first to be over ends the wait") {
  under_policies(limit_seeds, [](const scheduler_options& options) {
    scheduler s(options);
    heddle::coop::semaphore never(0);
    for (int i = 0; i < 3; ++i) {  // whose timers are beside each other
      s.spawn(BODY(&) {
        REQUIRE_FALSE(WAIT(within(1s, sleep_for(10s))));
        REQUIRE(s.now() == time_point{} + 1s);
        REQUIRE(WAIT(within(10s, sleep_for(1s))));
        REQUIRE(s.now() == time_point{} + 2s);
        REQUIRE_FALSE(WAIT(within(1s, within(10s, never.P()))).has_value());
        REQUIRE(s.now() == time_point{} + 3s);
        REQUIRE(WAIT(within(10s, within(1s, never.P()))) == false);
        REQUIRE(s.now() == time_point{} + 4s);
        WAIT(sleep_for(20s));  // nothing is left of those that were longer
        REQUIRE(s.now() == time_point{} + 24s);
      });
    }
    s.run();
  });
  scheduler s({.clock = clock_policy::simulated});
  bool unwound = false;
  auto sleeper = s.spawn(BODY(&) {
    struct on_exit {
      bool& told;
      ~on_exit() { told = true; }
    } const guard{unwound};
    static_cast<void>(WAIT(within(1s, sleep_for(10s))));
  });
  s.spawn(BODY(&) {
    WAIT(yield());
    sleeper.cancel();
  });
  s.run();
  CHECK(unwound);
  CHECK(s.now() == time_point{});
}

TEST_CASE(KIND "a drain with a limit is still not ended by a cancellation") {
  scheduler s({.clock = clock_policy::simulated});
  scope slow(s);
  slow.spawn([]() -> task<> { co_await sleep_for(3s); });
  auto drains = s.spawn(BODY(&) {
    CHECK_FALSE(WAIT(within(2s, slow.drain())));
    CHECK(s.now() == time_point{} + 2s);
    CHECK(WAIT(within(2s, slow.drain())));
    CHECK(s.now() == time_point{} + 3s);
  });
  s.spawn(BODY(&) {
    WAIT(sleep_for(1s));
    drains.cancel();
  });
  s.run();
  CHECK(s.now() == time_point{} + 3s);
}

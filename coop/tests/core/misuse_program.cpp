// Programs that break a rule of the runtime, each to be ended with a message: `misuse WHICH`.
#include <pthread.h>

#include <coroutine>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "heddle/coop/await.hpp"
#include "heddle/coop/hybrid.hpp"
#include "heddle/coop/offload.hpp"
#include "heddle/coop/parallel/groups.hpp"
#include "heddle/coop/parallel/mutex.hpp"
#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/scope.hpp"
#include "heddle/coop/sync/mutex.hpp"
#include "heddle/coop/sync/rw_lock.hpp"
#include "heddle/coop/sync/semaphore.hpp"
#include "heddle/coop/task.hpp"
#include "heddle/coop/yield.hpp"

using namespace heddle::coop;

namespace {

template <class Mutex>
void unlock_twice() {
  scheduler s;
  Mutex m("account");
  s.spawn(
      [&] {
        auto guard = await(m.scoped_lock());
        m.unlock();
      },
      "once");
  s.run();
}

template <class Mutex>
void unlock_by_stranger() {
  scheduler s;
  Mutex m("account");
  s.spawn(
      [&]() -> task<> {
        const auto guard = co_await m.scoped_lock();
        co_await yield();
      },
      "owner");
  s.spawn([&] { m.unlock(); }, "thief");
  s.run();
}

template <class Mutex>
void lock_again() {
  scheduler s;
  Mutex m("account");
  s.spawn(
      [&]() -> task<> {
        const auto guard = co_await m.scoped_lock();
        const auto again = co_await m.scoped_lock();
      },
      "owner");
  s.run();
}

void lock_to_read_what_is_written() {
  scheduler s;
  rw_lock l("index");
  s.spawn([&] {
    const auto guard = await(l.scoped_lock());
    const auto again = await(l.scoped_lock_shared());
  });
  s.run();
}

void unlock_for_one_that_ended() {
  scheduler s;
  heddle::coop::mutex m;
  for (int i = 0; i < 2; ++i) {  // the second has the block of the first
    s.spawn([&] { m.try_lock() ? void() : m.unlock(); });
    s.run();
  }
}

void unlock_in_another_group() {
  parallel::groups g({.count = 2});
  parallel::mutex m("account");
  g[0].spawn(
      [&] {
        const auto guard = await(m.scoped_lock());
        g[1].spawn([&] { m.unlock(); }, "thief");
        await(sleep_for(std::chrono::hours(1)));
      },
      "owner");
  g.run();
}

void unlock_readers() {
  scheduler s;
  rw_lock l("index");
  s.spawn([&] { l.unlock_shared(); });
  s.run();
}

void unlock_locked_outside() {
  scheduler s;
  heddle::coop::mutex m("account");
  if (!m.try_lock()) return;
  s.spawn([&] { m.unlock(); });
  s.run();
}

template <class Mutex>
void destroy_locked() {
  scheduler s;
  std::optional<Mutex> m(std::in_place, "account");
  s.spawn(
      [&]() -> task<> {
        const auto guard = co_await m->scoped_lock();
        co_await yield();
      },
      "owner");
  s.spawn([&] { m.reset(); }, "careless");
  s.run();
}

void destroy_own_lock() {
  scheduler s;
  s.spawn([] {
    std::optional<heddle::coop::mutex> m(std::in_place, "account");
    const auto guard = await(m->scoped_lock());
    m.reset();
  });
  s.run();
}

void destroy_read() {
  scheduler s;
  s.spawn([] {
    std::optional<rw_lock> l(std::in_place, "index");
    const auto guard = await(l->scoped_lock_shared());
    l.reset();
  });
  s.run();
}

void leave_scope() {
  scheduler s;
  s.spawn([&] {
    scope pages(s, "pages");
    pages.spawn([] { await(sleep_for(std::chrono::hours(1))); }, "first");
    pages.spawn([] { await(sleep_for(std::chrono::hours(1))); }, "second");
  });
  s.run();
}

void await_in_task() {
  scheduler s;
  s.spawn(
      []() -> task<> {
        await(yield());
        await(sleep_for(std::chrono::hours(1)));
        co_return;
      },
      "stackless");
  s.run();
}

void co_await_in_fiber() {
  scheduler s;
  s.spawn(
      [] {
        const auto by_hand = []() -> task<> { co_await sleep_for(std::chrono::hours(1)); }();
        by_hand.resume();
      },
      "stackful");
  s.run();
}

task<int> one() { co_return 1; }

void await_twice() {
  scheduler s;
  s.spawn(
      []() -> task<> {
        auto t = one();
        co_await std::move(t);
        co_await std::move(t);
      },
      "again");
  s.run();
}

void await_twice_in_fiber() {
  scheduler s;
  s.spawn([] {
    auto t = one();
    auto other = std::move(t);
    await(std::move(t));  // NOLINT: that it is told
  });
  s.run();
}

// Both wait in it.
void await_while_awaited() {
  scheduler s;
  auto t = []() -> task<> { co_await sleep_for(std::chrono::milliseconds(1)); }();
  for (const char* const name : {"first", "second"}) {
    s.spawn([&]() -> task<> { co_await std::move(t); }, name);
  }
  s.run();
}

void spawn_twice() {
  scheduler s;
  auto t = one();
  s.spawn(std::move(t));
  s.spawn(std::move(t));  // NOLINT: that it is told
}

void swallow() {
  scheduler s({.clock = clock_policy::simulated});
  s.spawn(
      [] {
        try {
          await(semaphore(0).P());
        } catch (...) {
        }
        await(yield());
      },
      "swallows");
  try {
    s.run();
  } catch (const deadlock&) {
  }
}

void wait_in_destructor() {
  scheduler s;
  s.spawn(
      []() -> task<> {
        struct waits {
          ~waits() noexcept(false) { await(yield()); }
        };
        const waits at_end;
        co_await semaphore(0).P();
      },
      "tidies");
  try {
    s.run();
  } catch (const deadlock&) {
  }
}

// What is right: it only does not go on.
void swallow_and_return() {
  int after = 0;
  {
    scheduler s;
    for (int i = 0; i < 3; ++i) {
      s.spawn([&] {
        try {
          await(semaphore(0).P());
        } catch (...) {
        }
        ++after;
      });
    }
    try {
      s.run();
    } catch (const deadlock&) {
    }
  }
  std::printf("%d returned\n", after);
}

void wait_in_offload() {
  scheduler s;
  s.spawn([] {});
  s.spawn([] { await(offload([] { await(yield()); })); });
  s.run();
}

void foreign_awaitable() {
  scheduler s;
  s.spawn([]() -> task<> { co_await std::suspend_always{}; }, "foreign");
  try {
    s.run();
  } catch (const deadlock& error) {
    detail::fatal(error.what());
  }
}

/// On a thread called "worker", while a strand runs.
template <class Misuse>
void from_thread(scheduler& s, const Misuse& misuse) {
  s.spawn([&] {
    std::thread worker([&] {
      pthread_setname_np(pthread_self(), "worker");
      misuse();
    });
    worker.join();
    await(yield());
  });
  s.run();
}

void spawn_from_thread() {
  scheduler s;
  from_thread(s, [&] { s.spawn([] {}); });
}

void cancel_from_thread() {
  scheduler s;
  const strand<> victim = s.spawn([] { await(sleep_for(std::chrono::hours(1))); });
  from_thread(s, [&] { victim.cancel(); });
}

void stopper_from_thread() {
  scheduler s;
  const strand<> victim = s.spawn([] { await(sleep_for(std::chrono::hours(1))); });
  from_thread(s, [&] { victim.stopper().request_stop(); });
}

void wake_from_thread() {
  scheduler s;
  semaphore door(0);
  s.spawn([&] { await(door.P()); });
  from_thread(s, [&] { door.V(); });
}

void run_from_thread() {
  scheduler s;
  from_thread(s, [&] { s.run(); });
}

void spawn_in_group_from_thread() {
  parallel::groups g({.count = 1});
  g[0].spawn([&] {
    std::thread worker([&] {
      pthread_setname_np(pthread_self(), "worker");
      g[0].scheduler().spawn([] {});
    });
    worker.join();
  });
  g.run();
}

const std::map<std::string, void (*)()> misuses = {
    {"leave-scope", &leave_scope},
    {"await-in-task", &await_in_task},
    {"co-await-in-fiber", &co_await_in_fiber},
    {"destroy-locked", &destroy_locked<heddle::coop::mutex>},
    {"destroy-written", &destroy_locked<rw_lock>},
    {"destroy-own-lock", &destroy_own_lock},
    {"destroy-read", &destroy_read},
    {"unlock-twice", &unlock_twice<heddle::coop::mutex>},
    {"unlock-by-stranger", &unlock_by_stranger<heddle::coop::mutex>},
    {"unlock-writer-twice", &unlock_twice<rw_lock>},
    {"unlock-writer-by-stranger", &unlock_by_stranger<rw_lock>},
    {"unlock-parallel-twice", &unlock_twice<parallel::mutex>},
    {"unlock-parallel-by-stranger", &unlock_by_stranger<parallel::mutex>},
    {"lock-again", &lock_again<heddle::coop::mutex>},
    {"lock-writer-again", &lock_again<rw_lock>},
    {"lock-parallel-again", &lock_again<parallel::mutex>},
    {"lock-to-read-what-is-written", &lock_to_read_what_is_written},
    {"unlock-for-one-that-ended", &unlock_for_one_that_ended},
    {"unlock-in-another-group", &unlock_in_another_group},
    {"unlock-readers", &unlock_readers},
    {"unlock-locked-outside", &unlock_locked_outside},
    {"await-twice", &await_twice},
    {"await-twice-in-fiber", &await_twice_in_fiber},
    {"await-while-awaited", &await_while_awaited},
    {"spawn-twice", &spawn_twice},
    {"swallow", &swallow},
    {"wait-in-destructor", &wait_in_destructor},
    {"swallow-and-return", &swallow_and_return},
    {"wait-in-offload", &wait_in_offload},
    {"foreign-awaitable", &foreign_awaitable},
    {"spawn-from-thread", &spawn_from_thread},
    {"cancel-from-thread", &cancel_from_thread},
    {"stopper-from-thread", &stopper_from_thread},
    {"wake-from-thread", &wake_from_thread},
    {"run-from-thread", &run_from_thread},
    {"spawn-in-group-from-thread", &spawn_in_group_from_thread},
};

}  // namespace

int main(int, char** arguments) {
  misuses.at(arguments[1])();
  std::puts("nothing was noticed");
}

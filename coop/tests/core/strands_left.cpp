// Each test declares a lock or the like behind the scheduler, so that it is destroyed first. A run
// has then left strands that use it, where they wait.
#include <doctest/doctest.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "heddle/coop/await.hpp"
#include "heddle/coop/parallel/channel.hpp"
#include "heddle/coop/parallel/groups.hpp"
#include "heddle/coop/parallel/mutex.hpp"
#include "heddle/coop/parallel/semaphore.hpp"
#include "heddle/coop/scheduler.hpp"
#include "heddle/coop/sync/barrier.hpp"
#include "heddle/coop/sync/channel.hpp"
#include "heddle/coop/sync/condition.hpp"
#include "heddle/coop/sync/mutex.hpp"
#include "heddle/coop/sync/rw_lock.hpp"
#include "heddle/coop/sync/semaphore.hpp"
#include "heddle/coop/sync/watched.hpp"
#include "heddle/coop/task.hpp"

using namespace heddle::coop;

namespace {

/// Says in `ended` whether `there` still is, when the strand that has it is destroyed.
struct notes_end {
  const bool& there;
  std::string& ended;
  ~notes_end() { ended += there ? '+' : '-'; }
};

/// `used` is declared behind the scheduler, and strands of both kinds, which use it, wait forever.
template <class Used, class Use, class UseInTask, class... Arguments>
std::string ended_strands(const Use& use, const UseInTask& use_in_task, Arguments&&... arguments) {
  std::string ended;
  bool there = true;
  scheduler s;
  std::optional<Used> used(std::in_place, std::forward<Arguments>(arguments)...);
  s.spawn([&] {
    const notes_end noted{there, ended};
    use(*used);
    await(semaphore(0).P());
  });
  s.spawn([&]() -> task<> {
    const notes_end noted{there, ended};
    co_await use_in_task(*used);
    co_await semaphore(0).P();
  });
  CHECK_THROWS_AS(s.run(), deadlock);
  CHECK(ended.empty());
  CHECK(s.alive() == 2);
  used.reset();
  there = false;
  CHECK(s.alive() == 0);
  return ended;
}

}  // namespace

TEST_CASE("strands that a deadlock has left end before what they use") {
  const auto lock = [](auto& m) { await(m.scoped_lock()).release(); };
  const auto lock_in_task = [](auto& m) -> task<> { const auto guard = co_await m.scoped_lock(); };
  CHECK(ended_strands<rw_lock>([](rw_lock&) {}, lock_in_task, "account") == "++");
  CHECK(ended_strands<heddle::coop::mutex>(lock, lock_in_task, "account") == "++");
  CHECK(ended_strands<parallel::mutex>([](auto&) {}, lock_in_task) == "++");
  const auto take = [](auto& m) { await(m.scoped_acquire()).give_back(); };
  const auto take_in_task = [](auto& m) -> task<> {
    const auto permit = co_await m.scoped_acquire();
    co_await semaphore(0).P();
  };
  CHECK(ended_strands<semaphore>(take, take_in_task, 1) == "++");
  CHECK(ended_strands<parallel::semaphore>(take, take_in_task, 1) == "++");
  const auto pop = [](auto& c) { static_cast<void>(await(c.pop())); };
  const auto pop_in_task = [](auto& c) -> task<> { static_cast<void>(co_await c.pop()); };
  CHECK(ended_strands<channel<int>>(pop, pop_in_task, 1) == "++");
  CHECK(ended_strands<parallel::channel<int>>(pop, pop_in_task, 1) == "++");
  CHECK(ended_strands<barrier>([](auto&) {},
                               [](auto& b) -> task<> { co_await b.arrive_and_wait(); }, 2) == "++");
  CHECK(ended_strands<watched<int>>(
            [](auto& w) { await(wait_until([&] { return w == 1; }, w)); },
            [](auto& w) -> task<> { co_await wait_until([&] { return w == 1; }, w); }) == "++");
}

TEST_CASE("a guard unlocks, and a strand that waits for a condition ends, before the mutex goes") {
  scheduler s;
  // On the heap, where AddressSanitizer sees a use of what is gone.
  const auto account = std::make_unique<heddle::coop::mutex>("account");
  const auto free = std::make_unique<heddle::coop::mutex>("free");
  const auto changed = std::make_unique<condition>("changed");
  const auto slots = std::make_unique<semaphore>(1);
  s.spawn([&] {
    const auto guard = await(account->scoped_lock());
    const auto permit = await(slots->scoped_acquire());
    await(semaphore(0, "nobody").P());
  });
  s.spawn([&]() -> task<> { const auto guard = co_await account->scoped_lock(); });
  s.spawn([&]() -> task<> {
    const auto guard = co_await free->scoped_lock();
    co_await changed->wait(*free);
  });
  CHECK_THROWS_AS(s.run(), deadlock);
}

TEST_CASE("strands that a failure has left end before what they use, too") {
  std::string ended;
  bool there = true;
  scheduler s;
  std::optional<channel<int>> numbers(std::in_place, 1);
  s.spawn([] { throw std::runtime_error("first"); });
  s.spawn([&]() -> task<> {
    const notes_end noted{there, ended};
    static_cast<void>(co_await numbers->pop());
  });
  CHECK_THROWS_WITH(s.run(), "first");
  numbers.reset();
  there = false;
  CHECK(ended == "+");
}

TEST_CASE("strands that a deadlock has left go on in the next run, if nothing goes") {
  scheduler s;
  semaphore door(0);
  bool passed = false;
  s.spawn([&] {
    await(door.P());
    passed = true;
  });
  CHECK_THROWS_AS(s.run(), deadlock);
  door.V();
  s.run();
  CHECK(passed);
  { const semaphore other(0); }
  s.spawn([&] { await(door.P()); });
  CHECK_THROWS_AS(s.run(), deadlock);
  { const semaphore other(0); }  // it could be one that the strand uses
  CHECK(s.alive() == 0);
  bool again = false;
  s.spawn([&] { again = true; });
  s.run();
  CHECK(again);
}

TEST_CASE("what a strand destroys ends no strand of another scheduler that was left") {
  scheduler left;
  semaphore door(0);
  left.spawn([&] { await(door.P()); });
  CHECK_THROWS_AS(left.run(), deadlock);
  scheduler s;
  s.spawn([] { const semaphore own(0); });
  s.run();
  CHECK(left.alive() == 1);
}

TEST_CASE("strands that a deadlock has left in groups end before what they use") {
  std::string ended;
  bool there = true;
  parallel::groups g({.count = 2});
  std::optional<parallel::mutex> account(std::in_place, "account");
  parallel::semaphore never(0);
  for (std::size_t i = 0; i < 2; ++i) {
    g[i].spawn([&]() -> task<> {
      const auto guard = co_await account->scoped_lock();
      const notes_end noted{there, ended};
      co_await never.P();
    });
  }
  CHECK_THROWS_AS(g.run(), deadlock);
  account.reset();
  there = false;
  CHECK(ended == "+");
  CHECK(g[0].scheduler().alive() + g[1].scheduler().alive() == 0);
}

// Everything that strands of one group use to wait for each other, in optimised code: what
// `scan_for_locks.cmake` looks for locked instructions in. It runs, too.
#include "in_group.hpp"

#include "heddle/coop/sync/barrier.hpp"
#include "heddle/coop/sync/channel.hpp"
#include "heddle/coop/sync/condition.hpp"
#include "heddle/coop/sync/mutex.hpp"
#include "heddle/coop/sync/semaphore.hpp"
#include "heddle/coop/sync/watched.hpp"
#include "heddle/coop/task.hpp"
#include "heddle/coop/wait_for.hpp"
#include "heddle/coop/yield.hpp"

using namespace heddle::coop;

struct table::state {
  state(scheduler& its_scheduler, int its_rounds) : s(its_scheduler), rounds(its_rounds) {}

  scheduler& s;
  int rounds;
  semaphore place{2};
  heddle::coop::mutex lock;
  condition changed;
  barrier line{2};
  channel<int> values{1};
  watched<int> turn{0};
  bool fork = true;
  long eaten = 0;
};

table::table(scheduler& s, int rounds) : state_(new state(s, rounds)) {}
table::~table() { delete state_; }
long table::eaten() const { return state_->eaten; }

void table::seat_fibers() {
  state& t = *state_;
  for (int i = 0; i < 2; ++i) {
    t.s.spawn([&t, i] {
      for (int k = 0; k < t.rounds; ++k) {
        await(wait_for([&t] { return t.fork; }));
        t.fork = false;
        await(t.place.P());
        await(yield());
        ++t.eaten;
        t.place.V();
        t.fork = true;
        auto held = await(t.lock.scoped_lock());
        t.changed.notify_all();
        held.unlock();
        await(t.line.arrive_and_wait());
        await(wait_until([&t, i, k] { return t.turn == 2 * k + i; }, t.turn));
        ++t.turn;
        if (i == 0) {
          await(t.values.push(k));
        } else {
          await(t.values.pop());
        }
      }
    });
  }
}

void table::seat_tasks() {
  state& t = *state_;
  for (int i = 0; i < 2; ++i) {
    t.s.spawn([&t, i]() -> task<> {
      for (int k = 0; k < t.rounds; ++k) {
        co_await wait_for([&t] { return t.fork; });
        t.fork = false;
        co_await t.place.P();
        co_await yield();
        ++t.eaten;
        t.place.V();
        t.fork = true;
        auto held = co_await t.lock.scoped_lock();
        t.changed.notify_all();
        held.unlock();
        co_await t.line.arrive_and_wait();
        co_await wait_until([&t, i, k] { return t.turn == 2 * k + i; }, t.turn);
        ++t.turn;
        if (i == 0) {
          co_await t.values.push(k);
        } else {
          co_await t.values.pop();
        }
      }
    });
  }
}

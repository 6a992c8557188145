// Included once for each kind of strand: the awaitable that docs/library.md shows.
#include <string>

#include "heddle/coop/ext/scheduler_access.hpp"
#include "strand_kinds.hpp"

namespace {

class event {
 public:
  struct set_awaitable : detail::awaitable<set_awaitable> {
    event& awaited;
    detail::wait_node node = {};
    explicit set_awaitable(event& which) : awaited(which) {}
    bool ready() const { return awaited.is_set_; }
    void park(detail::strand_block& self) { detail::wait_in(self, node, awaited.waiters_); }
    void get() const {}
  };
  set_awaitable wait() { return set_awaitable(*this); }
  void set() {
    is_set_ = true;
    while (!waiters_.empty()) scheduler_access::wake_first(waiters_);
  }

 private:
  bool is_set_ = false;
  std::string name_ = "ready";
  detail::wait_list waiters_{"event", name_};
};

}  // namespace

TEST_CASE(KIND "an awaitable of one's own wakes its strands, and can be limited and cancelled") {
  scheduler s({.clock = clock_policy::simulated});
  event ready;
  std::string trace;
  s.spawn(BODY(&) {
    WAIT(ready.wait());
    trace += 'a';
    WAIT(ready.wait());  // at once
    trace += 'b';
  });
  s.spawn(BODY(&) { trace += WAIT(within(1ms, ready.wait())) ? '?' : 'c'; });
  const strand<> cancelled = s.spawn(BODY(&) { WAIT(ready.wait()); });
  s.spawn(BODY(&) {
    cancelled.cancel();
    WAIT(sleep_for(2ms));
    ready.set();
    trace += 'd';
  });
  s.run();
  CHECK(trace == "cdab");
}

TEST_CASE(KIND "an awaitable of one's own is named by the report of a deadlock") {
  scheduler s;
  event ready;
  s.spawn(
      BODY(&) { WAIT(ready.wait()); }, "one");
  CHECK_THROWS_WITH_AS(s.run(), doctest::Contains("strand 1 \"one\" waits for event \"ready\""),
                       deadlock);
}

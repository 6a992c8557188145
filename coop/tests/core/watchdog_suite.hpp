// Included once for each kind of strand.
#include <atomic>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "heddle/coop/watchdog.hpp"
#include "strand_kinds.hpp"

namespace {

/// A report, and when it came.
struct dated : held_up {
  time_point came;
};

/// Keeps what a watchdog reports of one strand, told by its name. On a busy machine the watchdog
/// may name others, too, which are preempted for long.
class reports {
 public:
  explicit reports(std::string name) : name_(std::move(name)) {}
  watchdog::reporter reporter() {
    return [this](const held_up& what) {
      if (what.name != name_) return;
      const std::lock_guard held(lock_);
      all_.push_back({what, time_point::clock::now()});
    };
  }
  [[nodiscard]] std::vector<dated> all() {
    const std::lock_guard held(lock_);
    return all_;
  }
  /// Blocks until there are so many.
  void wait_for(std::size_t count) {
    while (all().size() < count) std::this_thread::sleep_for(1ms);
  }

 private:
  const std::string name_;
  std::mutex lock_;
  std::vector<dated> all_;
};

}  // namespace

TEST_CASE(KIND "a watchdog names the strand that does not give way, once a turn") {
  reports said("holds");
  scheduler s;
  const watchdog barks(s, 5ms, said.reporter());
  // No turn begins before the one before it has ended.
  const time_point first = time_point::clock::now();
  time_point second{};
  s.spawn(BODY(&) { WAIT(yield()); });
  s.spawn(
      BODY(&) {
        said.wait_for(1);
        std::this_thread::sleep_for(20ms);
        CHECK(said.all().size() == 1);
        second = time_point::clock::now();
        WAIT(yield());
        said.wait_for(2);
      },
      "holds");
  s.run();
  const std::vector<dated> all = said.all();
  REQUIRE(all.size() == 2);
  for (const dated& each : all) {
    CHECK(each.strand == 2);
    CHECK(each.so_far >= 5ms);
  }
  CHECK(all[0].so_far <= all[0].came - first);
  CHECK(all[1].so_far <= all[1].came - second);
}

TEST_CASE(KIND "a watchdog says nothing of strands that wait") {
  reports said("sleeps");
  scheduler s;
  const watchdog barks(s, 1s, said.reporter());
  s.spawn(
      BODY(&) { WAIT(sleep_for(1200ms)); }, "sleeps");
  s.run();
  CHECK(said.all().empty());
}

TEST_CASE(KIND "a scheduler has one watchdog at a time, also one that a strand makes") {
  reports said("makes one");
  scheduler s;
  CHECK_THROWS_AS(watchdog(s, 0ms), std::invalid_argument);
  {
    const watchdog first(s);
    CHECK_THROWS_AS(watchdog(s, 1s), std::logic_error);
  }
  s.spawn(
      BODY(&) {
        const watchdog second(s, 5ms, said.reporter());
        said.wait_for(1);
        WAIT(yield());
      },
      "makes one");
  s.run();
  CHECK(said.all().size() >= 1);
}

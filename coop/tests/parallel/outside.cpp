// What threads that run no strands do with a scheduler. Each test would hang, or end too early, if
// a scheduler that sleeps were not woken.
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "heddle/coop/io/service.hpp"
#include "heddle/coop/parallel/channel.hpp"
#include "heddle/coop/parallel/groups.hpp"
#include "heddle/coop/parallel/mutex.hpp"
#include "heddle/coop/parallel/semaphore.hpp"
#include "heddle/coop/parallel/watched.hpp"
#include "heddle/coop/sync/semaphore.hpp"
#include "heddle/coop/wait_for.hpp"
#define STACKFUL 1
#include "strand_kinds.hpp"

namespace {

constexpr scheduler_options outside{.outside_events = true};

/// Runs `code` on another thread, after a while in which what it wakes has probably gone to sleep.
template <class Code>
std::thread later_on_thread(Code code) {
  return std::thread([code = std::move(code)]() mutable {
    std::this_thread::sleep_for(2ms);
    code();
  });
}

}  // namespace

TEST_CASE("posts of many threads run, each once, as strands of either kind") {
  scheduler s(outside);
  heddle::coop::semaphore finished(0);
  constexpr int each = 2000;
  constexpr int threads = 3;
  int fibers = 0;
  int tasks = 0;
  s.spawn([&] {
    for (int i = 0; i < 2 * each * threads; ++i) await(finished.P());
  });
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) {
    all.emplace_back([&] {
      for (int k = 0; k < each; ++k) {
        s.post([&] {
          ++fibers;
          await(yield());
          finished.V();
        });
        s.post([&]() -> task<> {
          ++tasks;
          co_await yield();
          finished.V();
        });
      }
    });
  }
  s.run();
  for (std::thread& one : all) one.join();
  CHECK(fibers == each * threads);
  CHECK(tasks == each * threads);
}

TEST_CASE("a post wakes a scheduler that sleeps: till a timer, for events, or for posts alone") {
  for (int way = 0; way < 3; ++way) {
    CAPTURE(way);
    scheduler s({.outside_events = way == 2});
    heddle::coop::semaphore door(0, "door");
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    std::optional<io::service> net;
    io::file from;
    std::optional<strand<>> sleeper;
    if (way == 0) {
      sleeper = s.spawn([] { await(sleep_for(1h)); });
    } else if (way == 1) {
      net.emplace(s);
      from = net->adopt(ends[0], "the pipe");
      sleeper = s.spawn([&] { static_cast<void>(await(from.read(io::buffer(1)))); });
    } else {
      sleeper = s.spawn([&] { await(door.P()); });
    }
    auto other = later_on_thread([&] { s.post([&] { sleeper->cancel(); }); });
    s.run();
    other.join();
    CHECK(sleeper->done());
    if (way != 1) close(ends[0]);
    close(ends[1]);
  }
}

TEST_CASE("a post beside a strand that never waits is run, too") {
  scheduler s;
  bool over = false;
  s.spawn([&] {
    while (!over) await(yield());
  });
  auto other = later_on_thread([&] { s.post([&] { over = true; }); });
  s.run();
  other.join();
  CHECK(over);
}

TEST_CASE("what is posted between runs begins in the next, and without one it is destroyed") {
  auto counted = std::make_shared<int>(0);
  {
    scheduler s;
    std::thread([&] { s.post([counted] { ++*counted; }); }).join();
    s.run();
    CHECK(*counted == 1);
    std::thread([&] { s.post([counted] { ++*counted; }); }).join();
    CHECK(counted.use_count() == 2);
  }
  CHECK(counted.use_count() == 1);
  CHECK(*counted == 1);
}

TEST_CASE("what a posted strand throws is thrown by run(), and its name is in reports") {
  scheduler s(outside);
  s.post([] { throw std::runtime_error("from a post"); });
  CHECK_THROWS_WITH_AS(s.run(), "from a post", std::runtime_error);
  scheduler other;
  heddle::coop::semaphore never(0);
  other.post([&]() -> task<> { co_await never.P(); }, "posted");
  CHECK_THROWS_WITH_AS(other.run(), doctest::Contains("strand 1 \"posted\" waits"), deadlock);
}

TEST_CASE("a stop handle cancels from any thread, and outlives the strand and the scheduler") {
  stop_handle late;
  bool unwound = false;
  {
    scheduler s;
    auto victim = s.spawn([&] {
      try {
        await(sleep_for(1h));
      } catch (const cancelled&) {
        unwound = true;
        throw;
      }
    });
    stop_handle stop = victim.stopper();
    auto other = later_on_thread([stop] { stop.request_stop(); });
    s.run();
    other.join();
    CHECK(unwound);
    stop.request_stop();  // it has ended
    s.spawn([] { await(yield()); });
    s.run();
    stop_handle().request_stop();
  }
  // Memory of a scheduler that is gone is not touched: what is in it then would be no address.
  struct alignas(scheduler) memory {
    std::byte bytes[sizeof(scheduler)];
  };
  const auto room = std::make_unique<memory>();
  auto* const gone = new (room.get()) scheduler;
  late = gone->spawn([] {}).stopper();
  gone->~scheduler();
  std::memset(room.get(), 0x5a, sizeof(memory));
  late.request_stop();
  for (const std::byte each : room->bytes) REQUIRE(each == std::byte{0x5a});
}

TEST_CASE("a stop handle of a strand that has ended stops no other one") {
  scheduler s;
  const auto ended = s.spawn([] {});
  s.run();
  bool went_on = false;
  // In the place that the other one had.
  s.spawn([&] {
    ended.stopper().request_stop();
    await(yield());
    await(sleep_for(1ms));
    went_on = true;
  });
  s.run();
  CHECK(went_on);
}

TEST_CASE("a stop handle and post() reach a strand of a group") {
  parallel::groups g({.count = 2, .outside_posts = true});
  parallel::semaphore never(0);
  auto victim = g[1].scheduler().spawn([&] { await(never.P()); });
  const stop_handle stop = victim.stopper();
  std::atomic<bool> posted{false};
  auto other = later_on_thread([&] {
    g[1].scheduler().post([&] { posted = parallel::group::current() == &g[1]; });
    while (!posted) std::this_thread::yield();
    stop.request_stop();
  });
  g.run();
  other.join();
  CHECK(posted);
  CHECK(victim.done());
}

TEST_CASE("what threads give by types of parallel:: wakes a lone scheduler") {
  for (int round = 0; round < 20; ++round) {
    scheduler s(outside);
    parallel::semaphore filled(0, "filled");
    parallel::watched<int> level(0, "level");
    int seen = 0;
    s.spawn([&] {
      for (int i = 0; i < 100; ++i) await(filled.P());
      ++seen;
    });
    s.spawn([&]() -> task<> {
      for (int i = 0; i < 100; ++i) co_await filled.P();
      ++seen;
    });
    s.spawn([&] {
      while (!await(within(10us, filled.P()))) {
      }
      ++seen;
    });
    s.spawn([&] {
      await(parallel::wait_until([&] { return level.get() == 3; }, level));
      ++seen;
    });
    std::thread other([&] {
      for (int i = 0; i < 201; ++i) {
        if (i % 50 == 7) std::this_thread::sleep_for(100us);
        filled.V();
      }
      for (int i = 1; i <= 3; ++i) level = i;
    });
    s.run();
    other.join();
    REQUIRE(seen == 4);
    REQUIRE(filled.permits() == 0);
  }
}

TEST_CASE("a scheduler may go as soon as its strands have ended, though a V has not returned") {
  for (int round = 0; round < 200; ++round) {
    parallel::semaphore permit(0);
    std::thread other;
    {
      auto s = std::make_unique<scheduler>(outside);  // whose memory sanitizers watch
      s->spawn([&] { await(permit.P()); });
      other = std::thread([&] { permit.V(); });
      s->run();
    }
    other.join();
  }
}

TEST_CASE("a permit that is under way when its strand is destroyed is no danger") {
  for (int round = 0; round < 200; ++round) {
    parallel::semaphore permit(0);
    std::atomic<bool> given{false};
    std::thread other;
    {
      scheduler s;
      s.spawn([&] { await(permit.P()); });
      CHECK_THROWS_AS(s.run(), deadlock);
      other = std::thread([&] {
        permit.V();
        given = true;
      });
      if (round % 2 == 0) {
        while (!given) std::this_thread::yield();
      }
    }
    other.join();
  }
}

TEST_CASE("a scheduler with outside events ends when its strands have") {
  scheduler s(outside);
  s.run();
  s.spawn([] { await(yield()); });
  s.run();
  CHECK(s.alive() == 0);
}

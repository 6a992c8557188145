// Included once for each kind of strand.
#include <fcntl.h>
#include <sys/socket.h>

#include <array>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "heddle/coop/io/service.hpp"
#include "heddle/coop/parallel/semaphore.hpp"
#include "heddle/coop/sync/semaphore.hpp"
#include "helpers.hpp"
#include "io/helpers.hpp"

TEST_CASE(KIND "each group runs on a thread of its own, which stays on its processor") {
  parallel::groups g({.count = 2});
  std::array<std::string, 2> allowed;
  std::array<int, 2> processor{};
  std::array<std::set<int>, 2> threads;
  for (std::size_t i = 0; i < 2; ++i) {
    for (int strand = 0; strand < 3; ++strand) {
      g[i].spawn(BODY(&, i) {
        CHECK(parallel::group::current() == &g[i]);
        for (int turn = 0; turn < 3; ++turn) {
          threads[i].insert(gettid());
          WAIT(yield());
        }
        allowed[i] = status_of("thread-self", "Cpus_allowed_list");
        processor[i] = sched_getcpu();
      });
    }
  }
  g.run();
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(threads[i].size() == 1);
    CHECK(allowed[i] == std::to_string(g[i].processor()));
    CHECK(processor[i] == g[i].processor());
  }
  CHECK(threads[0] != threads[1]);
  if (!g.oversubscribed()) CHECK(g[0].processor() != g[1].processor());
}

TEST_CASE(KIND "there may be more groups than processors, which is told") {
  const auto many = static_cast<std::size_t>(std::thread::hardware_concurrency()) + 3;
  parallel::groups g({.count = many});
  CHECK(g.size() == many);
  CHECK(g.oversubscribed());
  std::atomic<int> ran{0};
  parallel::semaphore token(1, "token");
  for (std::size_t i = 0; i < many; ++i) {
    g[i].spawn(BODY(&) {
      for (int round = 0; round < 20; ++round) {
        WAIT(token.P());
        ++ran;
        WAIT(yield());
        token.V();
      }
    });
  }
  g.run();
  CHECK(ran == static_cast<int>(many) * 20);
}

TEST_CASE(KIND "strands spawn others in any group, and run() waits for all of them") {
  parallel::groups g({.count = 3});
  std::array<int, 3> ran{};  // each group's own
  struct spawner {
    parallel::groups& g;
    std::array<int, 3>& ran;
    void in(std::size_t i, int depth) const {
      g[i].spawn(
          BODY(self = *this, i, depth) {
            ++self.ran[i];
            if (depth == 0) RETURN;
            WAIT(yield());
            self.in((i + 1) % 3, depth - 1);
            self.in((i + 2) % 3, depth - 1);
          },
          "spawned");
    }
  };
  for (int run = 1; run <= 3; ++run) {
    spawner{g, ran}.in(0, 7);
    g.run();
    CHECK(ran[0] + ran[1] + ran[2] == run * 255);
  }
}

TEST_CASE(KIND "a body goes to its group, and is destroyed there") {
  struct tracker {
    int* thread;
    tracker(int* its_thread) : thread(its_thread) {}
    tracker(tracker&& other) noexcept : thread(std::exchange(other.thread, nullptr)) {}
    ~tracker() {
      if (thread != nullptr) *thread = gettid();
    }
  };
  parallel::groups g({.count = 2});
  int ran_on = 0;
  int ended_on = 0;
  int never_ran = 0;
  g[1].spawn([tracked = tracker(&ended_on), &ran_on]() { ran_on = gettid(); });
  g.run();
  CHECK(ran_on == ended_on);
  CHECK(ran_on != gettid());
  {
    parallel::groups other({.count = 1});
    other[0].spawn(BODY(tracked = std::make_shared<tracker>(&never_ran)) { WAIT(yield()); });
  }
  CHECK(never_ran != 0);
}

TEST_CASE(KIND "a deadlock names every strand with its group") {
  parallel::groups g({.count = 2, .pin = false});
  parallel::semaphore door(0, "door");
  heddle::coop::semaphore gate(0, "gate");
  g[0].spawn(
      BODY(&) { WAIT(door.P()); }, "ann");
  g[1].spawn(
      BODY(&) { WAIT(gate.P()); }, "bob");
  g[1].spawn(
      BODY(&) { WAIT(sleep_for(1ms)); }, "eve");
  CHECK_THROWS_WITH_AS(g.run(),
                       "deadlock: nothing can run any more, but 2 strands have not ended\n"
                       "  group 0\n"
                       "  strand 1 \"ann\" waits for semaphore \"door\"\n"
                       "  group 1\n"
                       "  strand 1 \"bob\" waits for semaphore \"gate\"\n",
                       deadlock);
  door.V();
  g[1].spawn(BODY(&) {
    gate.V();
    WAIT(yield());
  });
  g.run();
}

TEST_CASE(KIND "what a strand threw, run() throws when all have ended") {
  parallel::groups g({.count = 2});
  bool ended = false;
  g[0].spawn(BODY(&) {
    WAIT(sleep_for(2ms));
    ended = true;
  });
  g[1].spawn(BODY() {
    WAIT(yield());
    throw std::runtime_error("in group 1");
  });
  CHECK_THROWS_WITH_AS(g.run(), "in group 1", std::runtime_error);
  CHECK(ended);
  g.run();
}

TEST_CASE(KIND "strands that have not ended are destroyed on their group's thread") {
  struct at_end {
    int& thread;
    ~at_end() { thread = gettid(); }
  };
  std::array<int, 2> began{};
  std::array<int, 2> ended{};
  {
    parallel::semaphore never(0);
    parallel::groups g({.count = 2});
    for (std::size_t i = 0; i < 2; ++i) {
      g[i].spawn(BODY(&, i) {
        const at_end note{ended[i]};
        began[i] = gettid();
        WAIT(never.P());
      });
    }
    CHECK_THROWS_AS(g.run(), deadlock);
  }
  CHECK(began == ended);
  // The semaphore that strands wait for may be destroyed before them.
  parallel::groups g({.count = 2});
  parallel::semaphore gone(0);
  g[0].spawn(BODY(&) { WAIT(gone.P()); });
  g[1].spawn(BODY(&) { WAIT(gone.P()); });
  CHECK_THROWS_AS(g.run(), deadlock);
}

TEST_CASE(KIND "destructors of strands may post to any group, also to one that is gone") {
  parallel::semaphore never(0, "never");
  parallel::semaphore given(0, "given");
  std::atomic<int> freed{0};
  {
    parallel::groups g({.count = 3});
    struct poster {
      parallel::groups& g;
      parallel::semaphore& given;
      std::atomic<int>& freed;
      ~poster() {
        for (std::size_t i = 0; i < 3; ++i) {
          const auto counted = std::shared_ptr<int>(new int, [&freed = freed](const int* last) {
            delete last;
            ++freed;
          });
          g[i].spawn([counted] {});
          g[i].spawn(stack_size{128 * 1024}, [counted] {});
          given.V();
        }
      }
    };
    for (std::size_t i = 0; i < 3; ++i) {
      g[i].spawn(BODY(&) {
        const poster last{g, given, freed};
        WAIT(never.P());
      });
      g[i].spawn(BODY(&) { WAIT(given.P()); });
    }
    CHECK_THROWS_AS(g.run(), deadlock);
    CHECK(freed == 0);
  }
  CHECK(freed == 9);
}

TEST_CASE(KIND "a group that has nothing to run sleeps, whatever others do") {
  parallel::groups g({.count = 2});
  parallel::semaphore over(0);
  std::atomic<int> idle_thread{0};
  bool slept = false;
  g[0].spawn(BODY(&) {
    idle_thread = gettid();
    WAIT(over.P());
  });
  g[1].spawn(BODY(&) {
    // Loops as long as it takes: the time limit of the test ends it otherwise.
    while (!slept) {
      const int thread = idle_thread;
      slept = thread != 0 && status_of(std::to_string(thread), "State").starts_with("S");
      WAIT(yield());
    }
    over.V();
  });
  g.run();
  CHECK(slept);
}

TEST_CASE(KIND "threads that are no group's may post while groups wait for them") {
  parallel::groups g({.count = 2, .outside_posts = true});
  parallel::semaphore given(0);
  int taken = 0;
  std::atomic<bool> spawned{false};
  g[0].spawn(BODY(&) {
    for (; taken < 50; ++taken) WAIT(given.P());
  });
  std::thread outside([&] {
    for (int i = 0; i < 50; ++i) {
      std::this_thread::sleep_for(100us);
      if (i == 20)
        g[1].spawn(BODY(&) {
          spawned = true;
          WAIT(yield());
        });
      given.V();
    }
  });
  g.run();
  outside.join();
  CHECK(taken == 50);
  CHECK(spawned);
}

TEST_CASE(KIND "a group that waits for input and output is woken by others, and by that") {
  parallel::groups g({.count = 2});
  parallel::semaphore there(0);
  parallel::semaphore back(0);
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  std::string read;
  g[0].spawn(BODY(&) {
    scheduler& own = g[0].scheduler();
    heddle::coop::io::service files(own);
    const auto reader = own.spawn(BODY(&) {
      auto from = files.adopt(ends[0], "the pipe");
      heddle::coop::io::buffer text(16);
      const std::size_t count = WAIT(from.read(text)).value();
      read = text.text(count);
    });
    for (int i = 0; i < 50; ++i) {
      WAIT(there.P());
      back.V();
    }
    WAIT(reader.join());
  });
  g[1].spawn(BODY(&) {
    for (int i = 0; i < 50; ++i) {
      if (i % 10 == 0) WAIT(sleep_for(200us));
      there.V();
      WAIT(back.P());
    }
    CHECK(::write(ends[1], "hello", 5) == 5);
  });
  g.run();
  ::close(ends[1]);
  CHECK(read == "hello");
}

// By a thread that does not run the group: io_uring can be made for the one that makes it alone.
TEST_CASE(KIND "whoever made the groups can make their input and output") {
  over_every_socket_mechanism([](const io::service_options& options) {
    parallel::groups g({.count = 2});
    std::array<std::unique_ptr<io::service>, 2> services;
    std::array<std::string, 2> got;
    for (std::size_t i = 0; i < 2; ++i) {
      services[i] = std::make_unique<io::service>(g[i].scheduler(), options);
    }
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    for (std::size_t i = 0; i < 2; ++i) {
      g[i].spawn(BODY(&, i) {
        const io::file self = WAIT(services[i]->open("/proc/self/stat", O_RDONLY)).value();
        const io::buffer page(4096);
        CHECK(WAIT(self.read(page, 0)).value() > 10);
        const io::socket peer = services[i]->adopt_socket(ends[i], "peer");
        WAIT(sleep_for(1ms));
        WAIT(peer.write_all(io::buffer::copy_of("hello"))).value();
        got[i] = page.text(WAIT(peer.read(page)).value());
      });
    }
    g.run();
    CHECK(got == std::array<std::string, 2>{"hello", "hello"});
  });
}

TEST_CASE(KIND "groups that cannot be are refused") {
  CHECK_THROWS_AS(parallel::groups({.each = {.clock = clock_policy::simulated}}),
                  std::invalid_argument);
  CHECK_THROWS_AS(parallel::groups({.spin = -1us}), std::invalid_argument);
  CHECK_THROWS_AS(parallel::groups({.each = {.stack_bytes = 1}}), std::invalid_argument);
  parallel::groups g({.count = 1});
  CHECK_THROWS_AS(g[0].spawn(stack_size{1}, [] {}), std::invalid_argument);
}

// The two sides of sleeping and being woken, at every distance of each other: a wake-up that is
// lost never ends.
TEST_CASE(KIND "no wake-up is lost, whenever it comes") {
  stress(6, [](int round) {
    parallel::groups g(varied(round));
    parallel::semaphore there(0);
    parallel::semaphore back(0);
    // Where other programs have the processors, a wake-up may take milliseconds.
    constexpr int trips = 3000;
    const auto enough = std::chrono::steady_clock::now() + 1s;
    int sent = 0;
    int arrived = 0;
    bool over = false;
    const auto work = [](int amount) {
      for (int i = 0; i < amount; ++i) asm volatile("");
    };
    g[0].spawn(BODY(&) {
      while (sent < trips && std::chrono::steady_clock::now() < enough) {
        work(sent % 89 * 8);
        ++sent;
        there.V();
        WAIT(back.P());
      }
      over = true;
      there.V();
    });
    bool ended = false;
    g[1].spawn(BODY(&) {
      for (int i = 0;; ++i) {
        WAIT(there.P());
        if (over) break;
        ++arrived;
        work(i % 97 * 8);
        back.V();
      }
      ended = true;
    });
    if (round % 3 == 1) {
      g[1].spawn(BODY(&) {
        while (!ended) WAIT(sleep_for(20us));
      });
    }
    g.run();
    REQUIRE(arrived > 0);
    REQUIRE(arrived == sent);
  });
}

TEST_CASE(KIND "the end of all groups is seen once and for all, whoever is last") {
  stress(300, [](int round) {
    parallel::groups g({.count = 3, .spin = round % 2 == 0 ? 0us : 5us});
    std::atomic<int> ran{0};
    for (int run = 0; run < 10; ++run) {
      for (std::size_t i = 0; i < 3; ++i) {
        g[i].spawn(BODY(&, i) {
          ++ran;
          g[(i + 1) % 3].spawn(BODY(&) {
            ++ran;
            WAIT(yield());
          });
          WAIT(yield());
        });
      }
      g.run();
      REQUIRE(ran == (run + 1) * 6);
    }
  });
}

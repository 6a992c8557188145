#include <doctest/doctest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "backends.hpp"

namespace {

using heddle::coop::pthread_context;

std::size_t thread_count() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

// The kernel takes an ended thread out of /proc a moment after pthread_join() returned.
bool comes_to(std::size_t threads) {
  for (int tries = 0; tries < 5'000 && thread_count() != threads; ++tries) usleep(1'000);
  return thread_count() == threads;
}

struct exit_count {
  int& count;
  ~exit_count() { ++count; }
};

}  // namespace

TEST_CASE_TEMPLATE("a round-robin scheduler runs every context in turn", Context, HEDDLE_BACKENDS) {
  constexpr int contexts = 5;
  constexpr int turns = 20;
  Context scheduler;
  std::vector<int> order;
  std::vector<std::unique_ptr<strand<Context>>> strands(contexts);
  for (int i = 0; i < contexts; ++i) {
    strands[i] = std::make_unique<strand<Context>>([&, i] {
      for (int turn = 0; turn < turns; ++turn) {
        order.push_back(i);
        Context::switch_to(strands[i]->context, scheduler);
      }
    });
  }
  for (int round = 0; round <= turns; ++round) {  // the last one lets each return
    for (auto& strand : strands) Context::switch_to(scheduler, strand->context);
  }
  REQUIRE(order.size() == contexts * turns);
  for (int k = 0; k < contexts * turns; ++k) CHECK(order[k] == k % contexts);
}

TEST_CASE_TEMPLATE("any context switches to any other", Context, HEDDLE_BACKENDS) {
  // A walk over all ordered pairs of four contexts, the blank one among them, taken from one list
  // by the context that runs: each step is a direct switch.
  constexpr int contexts = 4;
  std::vector<int> walk;
  for (int round = 0; round < 3; ++round) {
    for (int a = 0; a < contexts; ++a) {
      for (int b = 0; b < contexts; ++b) {
        if (a != b) walk.insert(walk.end(), {a, b});
      }
    }
  }
  Context blank;
  std::vector<std::unique_ptr<strand<Context>>> strands(contexts);
  const auto context = [&](int i) -> Context& { return i == 0 ? blank : strands[i]->context; };
  std::size_t at = 0;
  bool in_order = true;
  const auto run = [&](int self) {
    while (at < walk.size()) {
      in_order = in_order && walk[at] == self;
      ++at;
      const int next = at < walk.size() ? walk[at] : 0;
      if (next == self) continue;
      Context::switch_to(context(self), context(next));
    }
  };
  for (int i = 1; i < contexts; ++i) {
    strands[i] = std::make_unique<strand<Context>>([&run, i] { run(i); });
  }
  run(0);
  CHECK(at == walk.size());
  CHECK(in_order);
}

TEST_CASE_TEMPLATE("a context that returns goes home, whoever resumed it last", Context,
                   HEDDLE_BACKENDS) {
  Context home;
  std::string trace;
  std::unique_ptr<strand<Context>> first;
  std::unique_ptr<strand<Context>> second;
  first = std::make_unique<strand<Context>>([&] {
    trace += 'a';
    Context::switch_to(first->context, second->context);
    trace += 'd';
  });
  second = std::make_unique<strand<Context>>([&] { trace += 'b'; });
  Context::switch_to(home, first->context);
  trace += 'c';
  Context::switch_to(home, first->context);
  CHECK(trace == "abcd");
}

TEST_CASE_TEMPLATE("destroying a suspended context unwinds its stack", Context, HEDDLE_BACKENDS) {
  Context home;
  int unwound = 0;
  bool went_on = false;
  {
    strand<Context>* self = nullptr;
    strand<Context> suspended([&] {
      const exit_count outer{unwound};
      const auto deeper = [&](auto& again, int depth) -> void {
        const exit_count inner{unwound};
        if (depth > 0) return again(again, depth - 1);
        Context::switch_to(self->context, home);
        went_on = true;
      };
      deeper(deeper, 3);
    });
    self = &suspended;
    Context::switch_to(home, suspended.context);
    CHECK(unwound == 0);
  }
  CHECK(unwound == 5);
  CHECK_FALSE(went_on);
}

TEST_CASE_TEMPLATE("a context that transfers is told to unwind and may just return", Context,
                   HEDDLE_BACKENDS) {
  Context home;
  auto told = heddle::coop::resume_reason::run;
  {
    strand<Context>* self = nullptr;
    strand<Context> suspended([&] { told = Context::transfer(self->context, home); });
    self = &suspended;
    Context::switch_to(home, suspended.context);
  }
  CHECK(told == heddle::coop::resume_reason::unwind);
}

TEST_CASE_TEMPLATE("a context may destroy another, which is then gone", Context, HEDDLE_BACKENDS) {
  Context home;
  int unwound = 0;
  std::unique_ptr<strand<Context>> victim;
  victim = std::make_unique<strand<Context>>([&] {
    const exit_count guard{unwound};
    Context::switch_to(victim->context, home);
  });
  strand<Context> killer([&] {
    victim.reset();
    CHECK(unwound == 1);
  });
  Context::switch_to(home, victim->context);
  Context::switch_to(home, killer.context);
  CHECK(unwound == 1);
}

TEST_CASE_TEMPLATE("destroying a context that never ran runs nothing", Context, HEDDLE_BACKENDS) {
  bool ran = false;
  {
    const strand<Context> unused([&] { ran = true; });
  }
  CHECK_FALSE(ran);
}

TEST_CASE("a pthread context's thread is joined when it is destroyed") {
  const std::size_t before = thread_count();
  pthread_context home;
  for (int round = 0; round < 20; ++round) {
    strand<pthread_context>* self = nullptr;
    strand<pthread_context> suspended([&] { pthread_context::switch_to(self->context, home); });
    strand<pthread_context> finished([] {});
    self = &suspended;
    CHECK(comes_to(before));  // not before the first switch
    pthread_context::switch_to(home, suspended.context);
    pthread_context::switch_to(home, finished.context);
    CHECK(thread_count() >= before + 1);
  }
  CHECK(comes_to(before));
}

TEST_CASE_TEMPLATE("a stack below the minimum is refused with both sizes named", Context,
                   HEDDLE_BACKENDS) {
  const std::size_t minimum = Context::minimum_stack_bytes();
  CHECK_NOTHROW(strand<Context>([] {}, minimum));
  try {
    const strand<Context> small([] {}, minimum - 1);
    FAIL("accepted");
  } catch (const std::invalid_argument& error) {
    const std::string message = error.what();
    CHECK(message.find(std::to_string(minimum)) != std::string::npos);
    CHECK(message.find(std::to_string(minimum - 1)) != std::string::npos);
  }
}

TEST_CASE_TEMPLATE("the smallest stack holds a throw, a catch and an unwinding", Context,
                   HEDDLE_BACKENDS) {
  Context home;
  bool caught = false;
  int unwound = 0;
  {
    strand<Context>* self = nullptr;
    strand<Context> small(
        [&] {
          const exit_count guard{unwound};
          try {
            throw std::runtime_error("on a small stack");
          } catch (const std::runtime_error&) {
            caught = true;
          }
          Context::switch_to(self->context, home);
        },
        smallest_to_throw_on<Context>());
    self = &small;
    Context::switch_to(home, small.context);
  }
  CHECK(caught);
  CHECK(unwound == 1);
}

TEST_CASE_TEMPLATE("ten thousand contexts are alive at once", Context, HEDDLE_STACKFUL_BACKENDS) {
#if defined(HEDDLE_TSAN)
  constexpr int contexts = 1'000;  // ThreadSanitizer has room for 8128 flows of control
#else
  constexpr int contexts = 10'000;
#endif
  Context home;
  int unwound = 0;
  long sum = 0;
  {
    std::vector<std::unique_ptr<strand<Context>>> strands(contexts);
    for (int i = 0; i < contexts; ++i) {
      strands[i] = std::make_unique<strand<Context>>(
          [&, i] {
            const exit_count guard{unwound};
            for (;;) {
              sum += i;
              Context::switch_to(strands[i]->context, home);
            }
          },
          smallest_to_throw_on<Context>());
    }
    for (int round = 0; round < 2; ++round) {
      for (auto& strand : strands) Context::switch_to(home, strand->context);
    }
  }
  CHECK(sum == 2L * contexts * (contexts - 1) / 2);
  CHECK(unwound == contexts);
}

#include "heddle/coop/context/fiber_context.h"

#include <doctest/doctest.h>

#include <cerrno>
#include <string>
#include <vector>

#include "heddle/coop/ext/sanitizer.hpp"

namespace {

// The source's test program: a scheduler in the main context, and contexts that yield to it.
FiberContext* scheduler;
FiberContext* running;
int num_counters;
int calls;
int destroyed;

void yield() { FiberContextSwitchTo(running, scheduler); }

void my_context_func() {
  struct guard {
    ~guard() { ++destroyed; }
  } const on_exit;
  for (int counter = 0; counter < num_counters; ++counter) {
    ++calls;
    yield();
  }
}

void nothing() {}

const std::vector<std::string> backends = {
    "asm",     "ucontext",
#if !defined(HEDDLE_TSAN)
    "setjmp",
#endif
    "pthread",
#if defined(HEDDLE_BACKEND_BOOST)
    "boost",
#endif
#if defined(HEDDLE_BACKEND_PTH)
    "pth",
#endif
};

}  // namespace

TEST_CASE("the FiberContext API runs the source's program on every mechanism") {
  for (const std::string& backend : backends) {
    CAPTURE(backend);
    REQUIRE(FiberContextSelectBackend(backend.c_str()) == 0);
    num_counters = 10;
    calls = 0;
    destroyed = 0;
    scheduler = FiberContextNewBlank();
    REQUIRE(scheduler != nullptr);
    std::vector<FiberContext*> contexts;
    for (int i = 0; i < 8; ++i) {
      contexts.push_back(FiberContextNew(&my_context_func, 64 * 1024));
      REQUIRE(contexts.back() != nullptr);
    }
    SUBCASE("to the end") {
      for (int round = 0; round <= num_counters; ++round) {
        for (FiberContext* context : contexts) {
          running = context;
          FiberContextSwitchTo(scheduler, context);
        }
      }
      CHECK(calls == 80);
      CHECK(destroyed == 8);
    }
    SUBCASE("deleted halfway") {
      for (int round = 0; round < 5; ++round) {
        for (FiberContext* context : contexts) {
          running = context;
          FiberContextSwitchTo(scheduler, context);
        }
      }
      CHECK(calls == 40);
      CHECK(destroyed == 0);
    }
    for (FiberContext* context : contexts) FiberContextDelete(context);
    CHECK(destroyed == 8);
    FiberContextDelete(scheduler);
  }
  REQUIRE(FiberContextSelectBackend("asm") == 0);
}

TEST_CASE("the FiberContext API says what was wrong") {
  for (const std::string& backend : backends) {
    CAPTURE(backend);
    REQUIRE(FiberContextSelectBackend(backend.c_str()) == 0);
    errno = 0;
    CHECK(FiberContextNew(&nothing, 1024) == nullptr);
    CHECK(errno == EINVAL);
    CHECK(std::string(FiberContextError()).find("1024 bytes is too small") != std::string::npos);
  }
  errno = 0;
  CHECK(FiberContextSelectBackend("windows") == -1);
  CHECK(errno == EINVAL);
  std::string all;
  for (const std::string& backend : backends) all += " " + backend;
  CHECK(std::string(FiberContextError()).ends_with(all));
  CHECK(FiberContextNew(nullptr, 64 * 1024) == nullptr);
  FiberContextDelete(nullptr);
  REQUIRE(FiberContextSelectBackend("asm") == 0);
}

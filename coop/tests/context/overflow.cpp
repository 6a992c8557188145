// Tests the end of a program whose stack overflows, seen from outside.
#include <doctest/doctest.h>

#include <string>

#include "child_outcome.hpp"
#include "heddle/coop/ext/sanitizer.hpp"

namespace {

struct outcome : child_outcome {
  explicit outcome(const std::string& way) : child_outcome(HEDDLE_OVERFLOW_PROGRAM, way) {}
};

}  // namespace

TEST_CASE("what overflowed its stack is named, with the size and the remedy") {
  struct {
    const char* way;
    const char* who;
    const char* remedy;
  } const cases[] = {
      {"strand", "strand 2 \"parser\" overflowed its stack of 32768 bytes",
       "scheduler_options::stack_bytes"},
      {"chosen", "strand 2 \"deep\" overflowed its stack of 131072 bytes",
       "a stack_size to spawn()"},
      {"thread", "strand 1 \"elsewhere\" overflowed its stack of 65536 bytes",
       "scheduler_options::stack_bytes"},
      {"asm", "a context overflowed its stack of 65536 bytes", "the context's stack size"},
      {"ucontext", "a context overflowed its stack of 65536 bytes", "the context's stack size"},
  };
  for (const auto& each : cases) {
    const outcome result(each.way);
    CAPTURE(result.output);
    CHECK(result.says(std::string("error: heddle: ") + each.who));
    CHECK(result.says(each.remedy));
    CHECK(result.died_of_it());
  }
}

TEST_CASE("an overflow leaves the neighbours intact, and the handler before ours runs") {
  const outcome result("between-neighbours");
  CAPTURE(result.output);
  CHECK(result.says("a context overflowed its stack of 16384 bytes"));
  CHECK(WIFEXITED(result.status));
  CHECK(WEXITSTATUS(result.status) == 42);
}

TEST_CASE("a wild access to a guard page is not called an overflow") {
  const outcome result("wild-access");
  CAPTURE(result.output);
  CHECK(result.says("accessed the guard page of a stack of 65536 bytes that is not its own"));
  CHECK_FALSE(result.says("overflowed"));
  CHECK(result.died_of_it());
}

TEST_CASE("a fault elsewhere is none of our business") {
  const outcome result("elsewhere");
  CAPTURE(result.output);
  CHECK_FALSE(result.says("heddle: "));
  CHECK(result.died_of_it());
}

#if !defined(HEDDLE_ASAN) && !defined(HEDDLE_TSAN)  // which need more than 2 KB for a switch
TEST_CASE("a stack that has no room to be unwound is not unwound into its neighbour") {
  const outcome result("no-room-to-unwind");
  CAPTURE(result.output);
  CHECK(result.says("its stack has no room left to unwind it"));
}
#endif

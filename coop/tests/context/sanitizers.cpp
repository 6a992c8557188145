// That a sanitizer, told of our stacks and frames, still finds what it is there for.
#include <doctest/doctest.h>

#include <string>

#include "child_outcome.hpp"

namespace {

void finds(const char* way, const std::string& flaw) {
  const child_outcome result(HEDDLE_SANITIZER_PROGRAM, way);
  CAPTURE(result.output);
  CHECK(result.says(flaw));
  CHECK(WIFEXITED(result.status));
  CHECK(WEXITSTATUS(result.status) != 0);
}

}  // namespace

#if defined(HEDDLE_ASAN) || defined(HEDDLE_FINDS_BY_ASAN)

TEST_CASE("AddressSanitizer sees an access beyond a local variable on a fiber's stack") {
  finds("beyond-local", "stack-buffer-overflow");
}

TEST_CASE("AddressSanitizer sees a use of a stack whose context is gone") {
  finds("stack-after-end", "use-after-poison");
}

TEST_CASE("AddressSanitizer sees a use of the frame of a task that is gone") {
  finds("frame-after-end", "heap-use-after-free");
}

TEST_CASE("AddressSanitizer sees nothing in what is right: deep stacks, throws, moves, ends") {
  const child_outcome result(HEDDLE_SANITIZER_PROGRAM, "nothing");
  CAPTURE(result.output);
  CHECK(result.output.empty());
  CHECK(result.status == 0);
}

#endif
#if defined(HEDDLE_TSAN)

TEST_CASE("ThreadSanitizer sees a race between fibers of two threads, each by its stack") {
  finds("race", "data race");
  const child_outcome result(HEDDLE_SANITIZER_PROGRAM, "race");
  CHECK(result.says("counts_up"));
  CHECK(result.says("counts_down"));
}

TEST_CASE("ThreadSanitizer sees no race between fibers of one thread") {
  const child_outcome result(HEDDLE_SANITIZER_PROGRAM, "no-race");
  CAPTURE(result.output);
  CHECK(result.status == 0);
}

#endif

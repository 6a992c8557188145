// Tests that the traced program does not notice the recorder.
#include <doctest/doctest.h>

#include <sstream>

#include "raw_trace.hpp"
#include "run.hpp"

TEST_CASE("errno, signal mask and descriptors are left alone") {
  const Scratch scratch;
  const auto trace = scratch.path() / "trace";
  const Outcome outcome = run({.arguments = {"manners"}, .trace = trace.string()});
  CHECK(outcome.err == "");
  CHECK(outcome.exit_code == 0);
  CHECK(read_trace(trace).at(0).enters() == 200'000);
}

TEST_CASE("a program's own malloc is neither called nor entangled") {
  const Scratch scratch;
  const auto trace = scratch.path() / "trace";
  const Outcome without =
      run({.arguments = {"malloc"}, .trace = trace.string(), .recorded = false});
  const Outcome outcome = run({.arguments = {"malloc"}, .trace = trace.string()});
  REQUIRE(outcome.exit_code == 0);
  CHECK(outcome.out == without.out);
  CHECK(read_trace(trace).at(0).enters() == std::stoull(outcome.out));
}

TEST_CASE("the library needs libc and nothing else") {
  const Outcome outcome =
      run({.arguments = {"/bin/sh", "-c", "readelf -dW " HEDDLE_LIBRARY}, .recorded = false});
  REQUIRE(outcome.exit_code == 0);
  std::istringstream lines(outcome.out);
  std::string needed;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("(NEEDED)") != std::string::npos) needed += line.substr(line.find('['));
  }
  CHECK(needed == "[libc.so.6]");
}

// A program may take rights from itself: what then cannot be recorded is counted, and said once.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>

#include "raw_trace.hpp"
#include "run.hpp"
#include "ways.hpp"

namespace {

constexpr std::uint64_t kCalls = 100'000;

struct Recorded {
  Outcome outcome;
  RawProcess process;
};

Recorded withdraw(const std::string& way, const std::string& what) {
  const Scratch scratch;
  const auto trace = scratch.path() / "trace";
  Outcome outcome = run(
      {.arguments = {way + "withdraws", what, std::to_string(kCalls)}, .trace = trace.string()});
  CAPTURE(what);
  REQUIRE(outcome.exit_code == 0);
  return {outcome, read_trace(trace).at(0)};
}

}  // namespace

TEST_CASE("a program may close all its descriptors and change its directory") {
  for (const std::string& way : ways()) {
    for (const std::string what : {"descriptors", "directory"}) {
      CAPTURE(what);
      const Recorded recorded = withdraw(way, what);
      CHECK(recorded.outcome.err == "");
      CHECK(recorded.process.enters() == kCalls + 1);
      CHECK(recorded.process.all_dropped() == 0);
    }
  }
}

TEST_CASE(
    "without a descriptor, the root directory or the user's rights all that is lost is counted") {
  struct Right {
    const char* what;
    const char* said;
    bool for_root;
  };
  const Right rights[] = {{"limit", "too many open files", false},
                          {"root", "did the program chroot", true},
                          {"user", "permission denied", true}};
  for (const std::string& way : ways()) {
    for (const Right& right : rights) {
      if (right.for_root && geteuid() != 0) {
        MESSAGE("not tested: only root may change its ", right.what, "; run as root");
        continue;
      }
      CAPTURE(right.what);
      const auto [outcome, process] = withdraw(way, right.what);
      CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
      CHECK(outcome.err.find(right.said) != std::string::npos);
      CHECK(process.events() > 2000);
      CHECK(process.all_dropped() > 0);
      CHECK(process.events() + process.all_dropped() == 2 * (kCalls + 1));
    }
  }
}

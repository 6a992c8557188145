// fork, vfork, posix_spawn, exec: both sides are recorded, and none hangs.
#include <doctest/doctest.h>

#include <sstream>

#include "raw_trace.hpp"
#include "run.hpp"
#include "ways.hpp"

namespace {

bool is(const RawProcess& process, pid_t pid) {
  return process.directory.filename() == std::to_string(pid);
}

}  // namespace

TEST_CASE("forked children and their parent are recorded, whoever forks") {
  constexpr int kChildren = 50;
  for (const std::string& way : ways()) {
    for (const std::string who : {"thread", "handler"}) {
      CAPTURE(way);
      CAPTURE(who);
      const Scratch scratch;
      const auto trace = scratch.path() / "trace";
      const Outcome outcome = run(
          {.arguments = {way + "forks", who, std::to_string(kChildren)}, .trace = trace.string()});
      REQUIRE(outcome.exit_code == 0);
      std::uint64_t calls = 0;
      int well = 0;
      std::istringstream(outcome.out) >> calls >> well;
      CHECK(well == kChildren);
      const auto processes = read_trace(trace);
      REQUIRE(processes.size() == kChildren + 1);
      for (const RawProcess& process : processes) {
        CHECK(process.all_dropped() == 0);
        if (is(process, outcome.pid)) {
          CHECK(process.enters() == calls);
          continue;
        }
        CHECK(process.parent == static_cast<std::uint32_t>(outcome.pid));
        // A handler may have forked between a call's enter, which is its parent's, and its count.
        CHECK(process.enters() <= 1000);
        CHECK(process.enters() >= (who == "thread" ? 1000 : 999));
        CHECK(process.modules.size() >= 4);
      }
    }
  }
}

TEST_CASE("programs started by vfork, posix_spawn, fork and exec are recorded") {
  constexpr int kTimes = 20;
  for (const std::string& way : ways()) {
    for (const std::string how : {"vfork", "spawn", "fork"}) {
      CAPTURE(way);
      CAPTURE(how);
      const Scratch scratch;
      const auto trace = scratch.path() / "trace";
      const Outcome outcome = run(
          {.arguments = {way + "spawns", how, std::to_string(kTimes)}, .trace = trace.string()});
      REQUIRE(outcome.exit_code == 0);
      int started = 0, between = 0;
      for (const RawProcess& process : read_trace(trace)) {
        if (is(process, outcome.pid)) {
          CHECK(process.pid == static_cast<std::uint32_t>(outcome.pid));
          CHECK(process.threads.at(0).tid == process.pid);
          // vfork's child calls in its parent's memory, and so in its trace.
          CHECK(process.enters() == std::stoull(outcome.out));
          CHECK(well_nested(process.threads.at(0)));
        } else if (process.flags == 0) {
          CHECK(process.enters() == 1);  // between fork and exec
          ++between;
        } else {
          CHECK(process.enters() == 3);
          ++started;
        }
      }
      CHECK(started == kTimes);
      CHECK(between == (how == "fork" ? kTimes : 0));
    }
  }
}

TEST_CASE("programs started with an environment of their own are recorded") {
  for (const std::string& way : ways()) {
    const auto start = [&](const std::string& how, std::size_t processes) {
      CAPTURE(way);
      CAPTURE(how);
      const Scratch scratch;
      const auto trace = scratch.path() / "trace";
      const Outcome outcome = run({.arguments = {way + "replaces", how}, .trace = trace.string()});
      REQUIRE(outcome.exit_code == 7);
      CHECK(outcome.err == "");
      const auto recorded = read_trace(trace);
      REQUIRE(recorded.size() == processes);
      for (const RawProcess& process : recorded) {
        CHECK(process.enters() == (is(process, outcome.pid) ? 1 : 2));
      }
      return outcome.out;
    };
    for (const char* how : {"execve", "execle", "execvpe", "fexecve", "execveat", "execv", "execvp",
                            "execl", "execlp", "posix_spawn", "posix_spawnp"}) {
      CHECK(start(how, 2) == HEDDLE_LIBRARY "\n");
    }
    CHECK(start("preload", 2) == HEDDLE_LIBRARY ":libm.so.6\n");
    // Our directory without our library: that was on purpose.
    CHECK(start("unpreload", 1) == "nothing\n");
  }
}

TEST_CASE("where nothing can be recorded an environment stays as it is") {
  for (const std::string& way : ways()) {
    // A bare preload, and a trace that is gone.
    const Scratch scratch;
    const Outcome bare =
        run({.arguments = {way + "replaces", "execve"}, .directory = scratch.path()});
    CHECK(bare.exit_code == 7);
    CHECK(bare.out == "nothing\n");
  }
}

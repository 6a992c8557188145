// fork, vfork, posix_spawn, exec: both sides are recorded, and none hangs.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "planner.hpp"
#include "raw_trace.hpp"
#include "run.hpp"
#include "ways.hpp"

namespace {

bool is(const RawProcess& process, pid_t pid) {
  return process.directory.filename() == std::to_string(pid);
}

}  // namespace

TEST_CASE("a forked child does not wait for a plan that its parent has") {
  for (const std::string& way : ways()) {
    const Scratch scratch;
    const auto trace = scratch.path() / "trace";
    const Planner planner(trace, {});
    const Outcome outcome =
        run({.arguments = {way + "forks", "thread", "20"}, .trace = trace.string(), .in_child = [] {
               setenv("HEDDLE_COROUTINES", "auto", 1);
             }});
    CHECK(outcome.exit_code == 0);
    CHECK(planner.requests() >= 1);
    CHECK(planner.requests() < 10);
  }
}

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

TEST_CASE("a forked child names the record within whose calls its parent forked it") {
  for (const std::string who : {"main", "thread", "child"}) {
    CAPTURE(who);
    const Scratch scratch;
    const auto trace = scratch.path() / "trace";
    REQUIRE(run({.arguments = {"makers", "fork", who}, .trace = trace.string()}).exit_code == 0);
    const auto processes = read_trace(trace);
    REQUIRE(processes.size() == (who == "child" ? 3 : 2));
    int forked = 0;
    for (const RawProcess& child : processes) {
      if (child.fork_making == 0) {
        CHECK(child.fork_image == 0);
        continue;
      }
      ++forked;
      const auto parent = std::find_if(processes.begin(), processes.end(), [&](const auto& other) {
        return other.pid == child.fork_pid && other.first_ticks == child.fork_image;
      });
      REQUIRE(parent != processes.end());
      CHECK(child.parent == parent->pid);
      const RawThread& thread = parent->threads.at(child.fork_thread - 1);
      const auto making =
          std::find_if(thread.notes.begin(), thread.notes.end(),
                       [&](const RawNote& note) { return note.type == 11 && note.more == 1; });
      REQUIRE(making != thread.notes.end());
      CHECK(making->number == child.fork_making);
      // The last event before it is the enter of divide(), the first behind it that of after().
      REQUIRE(making->before >= 1);
      REQUIRE(making->before < thread.records.size());
      CHECK(!thread.records[making->before - 1].exit);
      CHECK(!thread.records[making->before].exit);
      CHECK(making->ticks >= thread.records[making->before - 1].ticks);
      CHECK(making->ticks <= child.first_ticks);
    }
    CHECK(forked == (who == "child" ? 2 : 1));
  }
}

TEST_CASE("programs that are started, and children of clone, name no fork") {
  const auto forked = [](const std::vector<std::string>& arguments, std::size_t images) {
    const Scratch scratch;
    const auto trace = scratch.path() / "trace";
    CHECK(run({.arguments = arguments, .trace = trace.string()}).exit_code == 0);
    const auto processes = read_trace(trace);
    CHECK(processes.size() == images);
    return std::count_if(processes.begin(), processes.end(),
                         [](const RawProcess& process) { return process.fork_making != 0; });
  };
  CHECK(forked({"spawns", "vfork", "1"}, 2) == 0);
  CHECK(forked({"spawns", "spawn", "1"}, 2) == 0);
  // The second image between fork and exec; before the first fork nothing was recorded.
  CHECK(forked({"spawns", "fork", "2"}, 5) == 1);
  CHECK(forked({"makers", "clone"}, 2) == 0);
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
        } else if ((process.flags & 1) == 0) {
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

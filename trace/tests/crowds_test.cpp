// Threads in crowds, cancelled, killed.
#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <random>
#include <sstream>

#include "raw_trace.hpp"
#include "run.hpp"
#include "ways.hpp"

TEST_CASE("ten thousand threads that come and go need the memory of those that live") {
  for (const std::string& way : ways()) {
    CAPTURE(way);
    const Scratch scratch;
    const auto trace = scratch.path() / "trace";
    const Outcome outcome =
        run({.arguments = {way + "crowd", "10000", "10", "30"}, .trace = trace.string()});
    REQUIRE(outcome.exit_code == 0);
    std::uint64_t calls = 0;
    long kib = 0, mappings = 0;
    std::istringstream(outcome.out) >> calls >> kib >> mappings;
    CHECK(calls == 300'000);
    CHECK(kib < 1024);
    CHECK(mappings < 10);
    const RawProcess process = read_trace(trace).at(0);
    CHECK(process.enters() == calls);
    CHECK(process.events() == 2 * calls);
    CHECK(process.all_dropped() == 0);
    CHECK(process.threads.size() == 10'000);
    CHECK(process.buffers <= 11);  // one may begin while the one before it ends
  }
}

TEST_CASE("two hundred threads fill their blocks at once and wait for no file of another's") {
  for (const std::string& way : ways()) {
    CAPTURE(way);
    const Scratch scratch;
    const auto trace = scratch.path() / "trace";
    const Outcome outcome =
        run({.arguments = {way + "crowd", "200", "200", "6000"}, .trace = trace.string()});
    REQUIRE(outcome.exit_code == 0);
    const RawProcess process = read_trace(trace).at(0);
    REQUIRE(process.threads.size() == 200);
    for (const RawThread& thread : process.threads) {
      CHECK(thread.enters() == 6000);
      CHECK(thread.dropped == 0);
      CHECK(thread.flags == 1);
      CHECK(well_nested(thread));
    }
    CHECK(!std::filesystem::exists(process.directory / "events"));
    for (std::uint32_t i = 1; i <= process.buffers; ++i) {
      CHECK(std::filesystem::exists(process.directory / ("events-" + std::to_string(i))));
    }
  }
}

TEST_CASE("threads that are cancelled or end themselves inside a call are recorded to there") {
  constexpr std::uint64_t kThreads = 40;
  for (const std::string& way : ways()) {
    for (const std::string how : {"deferred", "asynchronous", "exit"}) {
      CAPTURE(way);
      CAPTURE(how);
      const Scratch scratch;
      const auto trace = scratch.path() / "trace";
      const Outcome outcome = run({.arguments = {way + "cancelled", how, std::to_string(kThreads)},
                                   .trace = trace.string()});
      REQUIRE(outcome.exit_code == 0);
      const RawProcess process = read_trace(trace).at(0);
      const std::uint64_t calls = std::stoull(outcome.out);
      CHECK(process.enters() >= calls);
      CHECK(process.enters() <= calls + (how == "asynchronous" ? kThreads : 0));
      CHECK(process.all_dropped() == 0);
      REQUIRE(process.threads.size() == kThreads + 1);
      CHECK(process.buffers == 2);
      std::uint64_t ended = 0;
      for (const RawThread& thread : process.threads) ended += thread.flags;
      CHECK(ended == kThreads);
    }
  }
}

TEST_CASE("whatever four threads had returned when they were killed is in the trace") {
  std::mt19937 random(4711);
  std::uniform_int_distribution<useconds_t> instants(2'000, 20'000);
  for (int i = 0; i < kills(); ++i) {
    const Scratch scratch;
    const auto trace = scratch.path() / "trace";
    const auto counter = scratch.path() / "counter";
    const useconds_t instant = instants(random);
    CAPTURE(instant);
    const Outcome outcome =
        run({.arguments = {ways()[static_cast<std::size_t>(i) % ways().size()] + "killed_threads",
                           counter.string()},
             .trace = trace.string(),
             .kill_after = instant});
    REQUIRE(outcome.exit_code == -9);
    std::uint64_t returned[32] = {};
    std::ifstream(counter, std::ios::binary)
        .read(reinterpret_cast<char*>(returned), sizeof returned);
    std::map<std::string, std::uint64_t> found;
    if (returned[0] + returned[8] + returned[16] + returned[24] > 0) {
      const RawProcess process = read_trace(trace).at(0);
      for (const RawThread& thread : process.threads) {
        CHECK(thread.dropped == 0);
        found[thread.name] = thread.records.size();
      }
    }
    for (int thread = 0; thread < 4; ++thread) {
      CAPTURE(thread);
      const std::uint64_t count = returned[8 * thread];
      if (count == 0) continue;  // killed before it began
      // For each returned leaf: step, leaf, leaf's exit, and step's exit for all but the last.
      const std::uint64_t records = found[std::to_string(thread)];
      CHECK(records >= 4 * count - 1);
      CHECK(records <= 4 * count + 4);
    }
  }
}

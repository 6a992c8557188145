// Threads: names, stacks and ends.
#include <doctest/doctest.h>

#include <cstdlib>
#include <map>

#include "raw_trace.hpp"
#include "run.hpp"
#include "ways.hpp"

TEST_CASE("each thread has its name, its stack and its end") {
  const Scratch scratch;
  const auto trace = scratch.path() / "trace";
  REQUIRE(run({.arguments = {"threads"}, .trace = trace.string()}).exit_code == 0);
  const RawProcess process = read_trace(trace).at(0);
  std::map<std::string, const RawThread*> by_name;
  for (const RawThread& thread : process.threads) by_name[thread.name] = &thread;
  REQUIRE(process.threads.size() == 4);
  for (const char* name : {"threads", "spinner-1", "spinner-2", "weaver"}) {
    CAPTURE(name);
    REQUIRE(by_name.count(name) == 1);
    const RawThread& thread = *by_name[name];
    CHECK(well_nested(thread));
    CHECK(thread.dropped == 0);
    CHECK(thread.flags == (std::string(name) == "threads" ? 0 : 1));
    for (const RawRecord& record : thread.records) {
      CHECK(record.stack_pointer > thread.stack_low);
      CHECK(record.stack_pointer < thread.stack_high);
    }
  }
  // spin and its twists, weave and its beats, beside what std::thread's templates add to all three
  // alike.
  CHECK(by_name["spinner-2"]->enters() - by_name["spinner-1"]->enters() == 10);
  CHECK(by_name["spinner-1"]->enters() - by_name["weaver"]->enters() == 6);
}

TEST_CASE("threads come and go without losing a call") {
  const Scratch scratch;
  const auto trace = scratch.path() / "trace";
  REQUIRE(run({.arguments = {"many"}, .trace = trace.string()}).exit_code == 0);
  const RawProcess process = read_trace(trace).at(0);
  REQUIRE(process.threads.size() == 400);
  for (const RawThread& thread : process.threads) {
    CHECK(thread.records.size() == 200);
    CHECK(thread.flags == 1);
    CHECK(well_nested(thread));
  }
}

TEST_CASE("calls before libc knows the environment are recorded as it says") {
  for (const std::string& way : ways()) {
    CAPTURE(way);
    const Scratch scratch;
    const auto trace = scratch.path() / "trace";
    const Outcome outcome = run({.arguments = {way + "early"},
                                 .directory = scratch.path(),
                                 .trace = trace.string(),
                                 .in_child = [] { setenv("HEDDLE_DEPTH", "1", 1); }});
    REQUIRE(outcome.exit_code == 0);
    CHECK(outcome.err == "");
    CHECK(read_trace(trace).at(0).enters() == 2);  // first() and main(), not what they call
  }
}

TEST_CASE("calls by destructors after the thread's end and after exit are recorded") {
  const Scratch scratch;
  const auto trace = scratch.path() / "trace";
  const Outcome outcome = run({.arguments = {"late"}, .trace = trace.string()});
  REQUIRE(outcome.exit_code == 0);
  const RawProcess process = read_trace(trace).at(0);
  CHECK(process.enters() == std::stoull(outcome.out));
  CHECK(process.events() == 2 * std::stoull(outcome.out));
  CHECK(process.all_dropped() == 0);
  CHECK(process.threads.size() == 4);
}

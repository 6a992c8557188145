// Threads: names, stacks and ends.
#include <doctest/doctest.h>

#include <cstdlib>
#include <map>
#include <set>

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

TEST_CASE("a thread names the record in which its creator made it") {
  for (const std::string& way : ways()) {
    CAPTURE(way);
    const Scratch scratch;
    const auto trace = scratch.path() / "trace";
    const Outcome outcome =
        run({.arguments = {way + "makers", "threads"}, .trace = trace.string()});
    CAPTURE(outcome.err);
    REQUIRE(outcome.exit_code == 0);
    const RawProcess process = read_trace(trace).at(0);
    std::map<std::string, const RawThread*> by_name;
    for (const RawThread& thread : process.threads) by_name[thread.name] = &thread;
    const auto maker_of = [&](const char* name) -> std::string {
      const auto found = by_name.find(name);
      REQUIRE(found != by_name.end());
      for (const RawThread& thread : process.threads) {
        for (const RawNote& note : thread.notes) {
          if (note.type == 11 && note.more == 2 && note.number == found->second->made_by) {
            CHECK(note.ticks <= found->second->first_ticks);
            return thread.name;
          }
        }
      }
      return "";
    };
    CHECK(maker_of("makers") == "");
    CHECK(maker_of("outer") == "makers");
    CHECK(maker_of("inner") == "outer");
    CHECK(maker_of("detached") == "makers");
    CHECK(maker_of("c11") == "makers");
    for (const RawThread& thread : process.threads) {
      // The detached one may not have come to its end.
      CHECK((well_nested(thread) || thread.name == "detached"));
      // libc, not we, called the thread's function.
      REQUIRE(!thread.records.empty());
      const RawRecord& first = thread.records[0];
      const RawModule* const caller = process.module_of(first.call_site, first.ticks);
      REQUIRE(caller != nullptr);
      if (thread.made_by != 0) CHECK(caller->path.find("libc.so") != std::string::npos);
    }
  }
}

TEST_CASE("each of two thousand threads names its own record") {
  const Scratch scratch;
  const auto trace = scratch.path() / "trace";
  REQUIRE(run({.arguments = {"makers", "crowd"}, .trace = trace.string()}).exit_code == 0);
  const RawProcess process = read_trace(trace).at(0);
  std::set<std::uint32_t> makings;
  for (const RawThread& thread : process.threads) makings.insert(thread.made_by);
  CHECK(process.threads.size() == 1 + 2000);
  CHECK(makings.size() == 1 + 2000);
}

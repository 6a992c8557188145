// Handlers that interrupt the hooks, and are themselves instrumented.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>

#include "raw_trace.hpp"
#include "run.hpp"
#include "ways.hpp"

namespace {

/// The program's counts, by name.
std::map<std::string, std::uint64_t> counts(const std::string& text) {
  std::map<std::string, std::uint64_t> result;
  std::istringstream lines(text);
  std::string name;
  for (std::uint64_t count; lines >> name >> count;) result[name] = count;
  return result;
}

/// The enters that the trace should have.
std::vector<std::uint64_t> expected(const std::string& text) {
  auto count = counts(text);
  std::vector<std::uint64_t> result{count["on_signal"], count["tick"], count["work"], count["leaf"],
                                    count["after"]};
  std::sort(result.begin(), result.end());
  return result;
}

/// Names differ in their counts alone: each function's enters, in order of size.
std::vector<std::uint64_t> enters(const RawThread& thread) {
  std::map<std::uint64_t, std::uint64_t> by_function;
  for (const RawRecord& record : thread.records) {
    if (!record.exit) ++by_function[record.function];
  }
  std::vector<std::uint64_t> result;
  for (const auto& [function, count] : by_function) result.push_back(count);
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace

TEST_CASE(
    "handlers lose no call of hooks that seldom read the clock, or that look for coroutines") {
  struct Setting {
    const char* name;
    const char* value;
  };
  for (const std::string& way : ways()) {
    for (const Setting& setting :
         {Setting{"HEDDLE_CLOCK", "sparse"}, {"HEDDLE_COROUTINES", "scan"}}) {
      for (const std::string from : {"timer", "thread"}) {
        CAPTURE(way);
        CAPTURE(std::string(setting.name));
        CAPTURE(from);
        const Scratch scratch;
        const auto trace = scratch.path() / "trace";
        const Outcome outcome = run({.arguments = {way + "signals", "20000", from, "stack"},
                                     .trace = trace.string(),
                                     .in_child = [&] { setenv(setting.name, setting.value, 1); }});
        REQUIRE(outcome.exit_code == 0);
        const RawThread thread = read_trace(trace).at(0).threads.at(0);
        CHECK(thread.dropped == 0);
        CHECK(enters(thread) == expected(outcome.out));
        CHECK(well_nested(thread));
      }
    }
  }
}

TEST_CASE("handlers at the highest rate lose no call and break none, on any stack") {
  for (const std::string& way : ways()) {
    for (const std::string from : {"timer", "thread"}) {
      for (const std::string stack : {"stack", "altstack"}) {
        CAPTURE(way);
        CAPTURE(from);
        CAPTURE(stack);
        const Scratch scratch;
        const auto trace = scratch.path() / "trace";
        const Outcome outcome =
            run({.arguments = {way + "signals", "20000", from, stack}, .trace = trace.string()});
        REQUIRE(outcome.exit_code == 0);
        CHECK(counts(outcome.out)["on_signal"] >= 300);
        const RawThread thread = read_trace(trace).at(0).threads.at(0);
        CHECK(thread.dropped == 0);
        CHECK(enters(thread) == expected(outcome.out));
        CHECK(well_nested(thread));
        CHECK(std::is_sorted(
            thread.records.begin(), thread.records.end(),
            [](const RawRecord& a, const RawRecord& b) { return a.ticks < b.ticks; }));
      }
    }
  }
}

TEST_CASE("a handler may jump out of a hook") {
  for (const std::string& way : ways()) {
    for (const std::string from : {"timer", "thread"}) {
      CAPTURE(way);
      CAPTURE(from);
      const std::string stack = from == "timer" ? "altstack" : "stack";
      const Scratch scratch;
      const auto trace = scratch.path() / "trace";
      const Outcome outcome = run(
          {.arguments = {way + "signals", "20000", from, stack, "jump"}, .trace = trace.string()});
      REQUIRE(outcome.exit_code == 0);
      auto count = counts(outcome.out);
      CHECK(count["jumps"] >= 100);
      const RawThread thread = read_trace(trace).at(0).threads.at(0);
      CHECK(thread.dropped == 0);
      // A jump may come between an enter and the program's own count of it.
      const std::uint64_t counted =
          count["on_signal"] + count["tick"] + count["work"] + count["leaf"] + count["after"];
      CHECK(thread.enters() >= counted);
      CHECK(thread.enters() <= counted + count["jumps"]);
      // The records after the last jump are complete.
      const std::size_t size = thread.records.size();
      REQUIRE(size > 2000);
      RawThread end{};
      end.records.assign(thread.records.end() - 2000, thread.records.end());
      CHECK(well_nested(end));
    }
  }
}

// Modules at one address after another, or at addresses that 32 bits don't tell apart.
#include <doctest/doctest.h>

#include <cstdlib>
#include <map>
#include <sstream>

#include "raw_trace.hpp"
#include "run.hpp"
#include "ways.hpp"

namespace {

/// Enters by the file that holds the function, without its directory.
std::map<std::string, std::uint64_t> enters_by_module(const RawProcess& process) {
  std::map<std::string, std::uint64_t> result;
  for (const RawThread& thread : process.threads) {
    for (const RawRecord& record : thread.records) {
      if (record.exit) continue;
      const RawModule* module = process.module_of(record.function, record.ticks);
      ++result[module == nullptr ? "none" : std::filesystem::path(module->path).filename()];
    }
  }
  return result;
}

}  // namespace

TEST_CASE("two libraries that take turns at one address are told apart") {
  for (const std::string& way : ways()) {
    CAPTURE(way);
    const Scratch scratch;
    const auto trace = scratch.path() / "trace";
    const Outcome outcome = run({.arguments = {way + "twins", "20"}, .trace = trace.string()});
    REQUIRE(outcome.exit_code == 0);
    REQUIRE(outcome.out == "60 100 20\n");  // all at the same address
    const RawProcess process = read_trace(trace).at(0);
    const std::map<std::string, std::uint64_t> expected{{"twin-3.so", 60}, {"twin-5.so", 100}};
    CHECK(enters_by_module(process) == expected);
    CHECK(well_nested(process.threads.at(0)));
  }
}

TEST_CASE("while two texts overlap modulo 4 GiB, whole addresses are recorded") {
  for (const std::string& way : ways()) {
    CAPTURE(way);
    const Scratch scratch;
    const auto trace = scratch.path() / "trace";
    const Outcome outcome = run({.arguments = {way + "overlap"}, .trace = trace.string()});
    REQUIRE(outcome.exit_code == 0);
    REQUIRE(outcome.out == "1200 1000 1\n");  // they do
    const RawProcess process = read_trace(trace).at(0);
    const std::map<std::string, std::uint64_t> expected{{"overlap", 1200}, {"twin-3.so", 1000}};
    CHECK(enters_by_module(process) == expected);
    const RawThread& thread = process.threads.at(0);
    CHECK(thread.wides >= 4000);
    CHECK(thread.wides < 4400);  // not before and not for long after
    CHECK(well_nested(thread));
  }
}

TEST_CASE("while two texts overlap modulo 4 GiB, a short call leaves no record either") {
  for (const std::string& way : ways()) {
    CAPTURE(way);
    const Scratch scratch;
    const auto trace = scratch.path() / "trace";
    const Outcome outcome =
        run({.arguments = {way + "overlap"}, .trace = trace.string(), .in_child = [] {
               setenv("HEDDLE_MIN_TIME", "3600000000000", 1);
             }});
    REQUIRE(outcome.exit_code == 0);
    REQUIRE(outcome.out == "1200 1000 1\n");
    CHECK(enters_by_module(read_trace(trace).at(0)).empty());
  }
}

// Tests the content of the records, and that none is missing.
#include <doctest/doctest.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include "raw_trace.hpp"
#include "run.hpp"

TEST_CASE("a bare preload records every call and says where the trace is") {
  const Scratch scratch;
  const Outcome outcome = run({.arguments = {"abc", "an argument"}, .directory = scratch.path()});
  REQUIRE(outcome.exit_code == 0);
  const auto directory = scratch.path() / ("heddle.trace." + std::to_string(outcome.pid));
  CHECK(outcome.out == "");
  CHECK(outcome.err == "heddle: recorded abc (pid " + std::to_string(outcome.pid) + ") in " +
                           directory.string() + " — print it with: heddle replay " +
                           directory.string() + "\n");

  const auto trace = read_trace(directory);
  REQUIRE(trace.size() == 1);
  const RawProcess& process = trace[0];
  CHECK(process.magic == "HEDLPROC");
  CHECK(process.version == 5);
  CHECK(process.flags == 1);
  CHECK(process.pid == static_cast<std::uint32_t>(outcome.pid));
  CHECK(process.parent == static_cast<std::uint32_t>(getpid()));
  CHECK(process.directory.filename() == std::to_string(outcome.pid));
  CHECK(process.executable == TRACED_PROGRAMS "/abc");
  const std::string line = std::string(TRACED_PROGRAMS "/abc") + '\0' + "an argument" + '\0';
  CHECK(process.command_line.substr(0, line.size() + 1) == line + '\0');
  CHECK(process.dropped == 0);
  char host[256];
  REQUIRE(gethostname(host, sizeof host) == 0);
  CHECK(process.host == host);

  REQUIRE(process.threads.size() == 1);
  const RawThread& thread = process.threads[0];
  CHECK(thread.tid == static_cast<std::uint32_t>(outcome.pid));
  CHECK(thread.name == "abc");
  CHECK(thread.dropped == 0);
  REQUIRE(thread.records.size() == 8);  // main, A, B, C
  CHECK(well_nested(thread));
  std::uint64_t before = process.first_ticks;
  for (int i = 0; i < 8; ++i) {
    const RawRecord& record = thread.records[static_cast<std::size_t>(i)];
    CHECK(record.exit == (i >= 4));
    CHECK(record.ticks >= before);
    before = record.ticks;
    if (!record.exit) {
      const RawModule* module = process.module_of(record.function, record.ticks);
      REQUIRE(module != nullptr);
      CHECK(module->path == TRACED_PROGRAMS "/abc");
      CHECK(module->build_id.size() == 40);
      REQUIRE(process.module_of(record.call_site, record.ticks) != nullptr);
    }
    CHECK(record.stack_pointer > thread.stack_low);
    CHECK(record.stack_pointer < thread.stack_high);
  }
  CHECK(before <= process.latest_ticks[(process.latest_stamps - 1) % 2]);
  for (std::size_t i = 1; i < 4; ++i) {  // deeper is lower, or inlined
    CHECK(thread.records[i].stack_pointer <= thread.records[i - 1].stack_pointer);
  }
}

TEST_CASE("a program that calls no hook leaves no trace") {
  const Scratch scratch;
  const auto trace = scratch.path() / "trace";
  const Outcome outcome = run({.arguments = {"/bin/true"}, .trace = trace.string()});
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.err == "");
  CHECK_FALSE(std::filesystem::exists(trace));
}

TEST_CASE("calls are counted exactly over many chunks") {
  const Scratch scratch;
  const auto trace = scratch.path() / "trace";
  // fib(25) makes 242785 calls, main is one more. The answer is not 5: exit code 1.
  const Outcome outcome = run({.arguments = {"recursion", "25"}, .trace = trace.string()});
  REQUIRE(outcome.exit_code == 1);
  const RawProcess process = read_trace(trace).at(0);
  CHECK(process.threads.at(0).enters() == 242785 + 1);
  CHECK(well_nested(process.threads.at(0)));
}

TEST_CASE("a long run takes few mappings, of which a process has 65530") {
  const Scratch scratch;
  const auto trace = scratch.path() / "trace";
  const Outcome outcome = run({.arguments = {"long"}, .trace = trace.string()});
  REQUIRE(outcome.exit_code == 0);
  const int mappings = std::stoi(outcome.out);
  CHECK(mappings >= 1);
  CHECK(mappings <= 10);
  const RawThread thread = read_trace(trace).at(0).threads.at(0);
  CHECK(thread.enters() == 1000000);
  CHECK(thread.dropped == 0);
}

TEST_CASE("a signal handler that interrupts the hooks loses nothing and breaks nothing") {
  const Scratch scratch;
  const auto trace = scratch.path() / "trace";
  const Outcome outcome = run({.arguments = {"handler", "1000000"}, .trace = trace.string()});
  REQUIRE(outcome.exit_code == 0);
  std::multiset<std::uint64_t> expected{1};  // main
  std::istringstream lines(outcome.out);
  std::string name;
  for (std::uint64_t count; lines >> name >> count;) expected.insert(count);
  REQUIRE(expected.size() == 5);
  REQUIRE(*expected.begin() == 1);
  const RawProcess process = read_trace(trace).at(0);
  const RawThread& thread = process.threads.at(0);
  CHECK(thread.dropped == 0);
  CHECK(well_nested(thread));
  std::map<std::uint64_t, std::uint64_t> counted;
  for (const RawRecord& record : thread.records) {
    if (!record.exit) ++counted[record.function];
  }
  std::multiset<std::uint64_t> found;
  for (const auto& [function, count] : counted) found.insert(count);
  CHECK(found == expected);
}

TEST_CASE("whatever had returned when the program was killed is in the trace") {
  std::mt19937 random(4711);
  std::uniform_int_distribution<useconds_t> instants(1'000, 40'000);
  for (int i = 0; i < kills(); ++i) {
    const Scratch scratch;
    const auto trace = scratch.path() / "trace";
    const auto counter = scratch.path() / "counter";
    const useconds_t instant = instants(random);
    CAPTURE(instant);
    const Outcome outcome = run({.arguments = {"killed", counter.string()},
                                 .trace = trace.string(),
                                 .kill_after = instant});
    REQUIRE(outcome.exit_code == -9);
    std::uint64_t returned = 0;
    std::ifstream(counter, std::ios::binary)
        .read(reinterpret_cast<char*>(&returned), sizeof returned);
    if (returned == 0) continue;  // killed while it was starting
    const RawProcess process = read_trace(trace).at(0);
    CHECK(process.flags == 0);
    const RawThread& thread = process.threads.at(0);
    // main, then for each returned leaf: step, leaf, leaf's exit, and step's exit for all but the
    // last.
    CHECK(thread.records.size() >= 4 * returned);
    CHECK(thread.records.size() <= 4 * returned + 5);
  }
}

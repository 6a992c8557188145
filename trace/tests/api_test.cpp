// include/heddle/trace.h: what a program tells the recorder; and the flight recorder, with its
// snapshots.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdlib>
#include <map>

#include "raw_trace.hpp"
#include "run.hpp"
#include "ways.hpp"

namespace {

/// On disk: buffers have holes between their slots.
std::uint64_t bytes_in(const std::filesystem::path& directory) {
  std::uint64_t sum = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    struct stat status;
    if (stat(entry.path().c_str(), &status) == 0)
      sum += 512 * static_cast<std::uint64_t>(status.st_blocks);
  }
  return sum;
}

/// Enters of each function, in order of its address.
std::vector<std::uint64_t> enters_by_function(const RawProcess& process) {
  std::map<std::uint64_t, std::uint64_t> counts;
  for (const RawThread& thread : process.threads) {
    for (const RawRecord& record : thread.records) {
      if (!record.exit) ++counts[record.function];
    }
  }
  std::vector<std::uint64_t> result;
  for (const auto& [function, count] : counts) result.push_back(count);
  return result;
}

}  // namespace

TEST_CASE("a program says what it is doing, and what is not to be recorded") {
  const Scratch scratch;
  const auto trace = scratch.path() / "trace";
  const Outcome outcome = run({.arguments = {"told"}, .trace = trace.string()});
  CHECK(outcome.err == "");
  REQUIRE(outcome.out == "201 1000 0\n");
  const RawProcess process = read_trace(trace).at(0);
  REQUIRE(process.threads.size() == 1);
  const RawThread& thread = process.threads[0];
  CHECK(thread.name == "the loom");
  CHECK(thread.enters() == 201);
  CHECK(well_nested(thread));
  struct Expected {
    std::uint64_t type, more, number;
    const char* text;
    std::size_t before;
  };
  const Expected expected[] = {
      {6, 5, 0, "begin", 0}, {5, 1, 2000, "", 200},     {8, 4, 4711, "weft", 400},
      {7, 1, 4711, "", 400}, {9, 4, 4711, "warp", 402}, {7, 1, 0, "", 402},
      {7, 2, 4711, "", 402}, {6, 0, 0, "", 402},
  };
  REQUIRE(thread.notes.size() == std::size(expected));
  for (std::size_t i = 0; i < std::size(expected); ++i) {
    CAPTURE(i);
    CHECK(thread.notes[i].type == expected[i].type);
    CHECK(thread.notes[i].more == expected[i].more);
    CHECK(thread.notes[i].number == expected[i].number);
    CHECK(thread.notes[i].text == expected[i].text);
    CHECK(thread.notes[i].before == expected[i].before);
  }
}

TEST_CASE("without the recorder heddle/trace.h does nothing") {
  const Outcome outcome = run({.arguments = {"told"}, .recorded = false});
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.out == "201 1000 0\n");
}

TEST_CASE("a paused program is recorded from heddle_start() on") {
  const Scratch scratch;
  const auto trace = scratch.path() / "trace";
  const Outcome outcome = run({.arguments = {"told"}, .trace = trace.string(), .in_child = [] {
                                 setenv("HEDDLE_PAUSED", "1", 1);
                               }});
  REQUIRE(outcome.out == "201 1000 0\n");
  const RawThread thread = read_trace(trace).at(0).threads.at(0);
  CHECK(thread.enters() == 101);
  REQUIRE(!thread.notes.empty());
  CHECK(thread.notes[0].type == 5);
  CHECK(thread.notes[0].number == 2 * 1100);
}

TEST_CASE("a program may pause while another thread calls, whatever the hooks do") {
  struct Setting {
    const char* name;
    const char* value;
  };
  for (const std::string& way : ways()) {
    for (const Setting& setting : {Setting{"HEDDLE_CLOCK", "tsc"},
                                   {"HEDDLE_CLOCK", "sparse"},
                                   {"HEDDLE_DEPTH", "1"},
                                   {"HEDDLE_MIN_TIME", "1000"}}) {
      CAPTURE(way);
      CAPTURE(std::string(setting.name));
      CAPTURE(std::string(setting.value));
      const Scratch scratch;
      const auto trace = scratch.path() / "trace";
      const Outcome outcome =
          run({.arguments = {way + "pauses"}, .trace = trace.string(), .in_child = [&] {
                 setenv(setting.name, setting.value, 1);
                 setenv("HEDDLE_FLIGHT", "1000000", 1);
               }});
      CHECK(outcome.exit_code == 0);
      CHECK(outcome.err == "");
    }
  }
}

TEST_CASE("a flight recording tells in each block which strand runs, unless that is not known") {
  const Scratch scratch;
  const auto trace = scratch.path() / "trace";
  const Outcome outcome =
      run({.arguments = {"told", "60000"}, .trace = trace.string(), .in_child = [] {
             setenv("HEDDLE_FLIGHT", "4000000", 1);
           }});
  REQUIRE(outcome.out == "201 1000 0\n");
  const RawThread thread = read_trace(trace).at(0).threads.at(0);
  std::size_t before = 0, behind = 0;
  for (const RawNote& note : thread.notes) {
    if (note.type != 7 || note.more != 1 || note.number != 4711) continue;
    ++(note.before < 402 + 2 * 60'000 ? before : behind);
  }
  CHECK(before > 10);
  CHECK(behind == 0);
}

TEST_CASE("a flight recorder keeps the latest calls, and snapshots of earlier ones") {
  constexpr std::uint64_t kCalls = 400'000;  // 9.6 MB of records
  for (const int signal : {0, SIGUSR2}) {
    CAPTURE(signal);
    const Scratch scratch;
    const auto trace = scratch.path() / "trace";
    const Outcome outcome =
        run({.arguments = {"flight", std::to_string(kCalls), std::to_string(signal)},
             .trace = trace.string(),
             .in_child = [signal] {
               setenv("HEDDLE_FLIGHT", "4000000", 1);
               setenv("HEDDLE_SNAPSHOT_SIGNAL", std::to_string(signal).c_str(), 1);
             }});
    CAPTURE(outcome.err);
    REQUIRE(outcome.exit_code == -9);
    CHECK(outcome.err == "");
    const RawProcess end = read_trace(trace).at(0);
    REQUIRE(end.threads.size() == 3);
    // Each of the two ended with its last call, and has the calls before it without a hole.
    for (std::size_t i = 1; i <= 2; ++i) {
      const RawThread& thread = end.threads[i];
      CHECK(thread.flags == 1);
      CHECK(thread.enters() > 4000);
      CHECK(thread.enters() < kCalls / 2);
      CHECK(thread.records.back().exit);
    }
    CHECK(bytes_in(trace / std::to_string(outcome.pid)) < 5'000'000);
    for (int i = 1; i <= 2; ++i) {
      const RawProcess snapshot = read_trace(trace / ("snapshot-" + std::to_string(i))).at(0);
      REQUIRE(snapshot.threads.size() == 1);
      // Only the newer function's calls are in the newer snapshot.
      const auto counts = enters_by_function(snapshot);
      REQUIRE(counts.size() == 1);
      CHECK(counts[0] > 100'000);
      CHECK(counts[0] < kCalls / 2);
      CHECK(bytes_in(snapshot.directory) < 5'000'000);
      CHECK(snapshot.module_bytes == std::filesystem::file_size(snapshot.directory / "modules"));
    }
    CHECK_FALSE(std::filesystem::exists(trace / "snapshot-3"));
  }
}

// Calls that do not return: the process ends in them, or they are unwound; and odd stacks.
#include <doctest/doctest.h>
#include <signal.h>

#include <cstdlib>
#include <sstream>

#include "raw_trace.hpp"
#include "run.hpp"
#include "ways.hpp"

TEST_CASE("whichever way a process ends inside its calls, they are recorded") {
  struct End {
    const char* how;
    int exit_code;
    bool seen;  ///< by the recorder
  };
  const End ends[] = {
      {"exit", 0, true},         {"thread-exit", 0, true},      {"main-thread", 0, true},
      {"_exit", 0, false},       {"quick_exit", 0, false},      {"abort", -SIGABRT, false},
      {"segv", -SIGSEGV, false}, {"overflow", -SIGSEGV, false},
  };
  for (const std::string& way : ways()) {
    for (const End& end : ends) {
      const std::string how = end.how;
      CAPTURE(way);
      CAPTURE(how);
      const Scratch scratch;
      const auto trace = scratch.path() / "trace";
      const Outcome outcome =
          run({.arguments = {way + "leaves", end.how}, .trace = trace.string()});
      CHECK(outcome.exit_code == end.exit_code);
      const RawProcess process = read_trace(trace).at(0);
      CHECK(process.flags == (end.seen ? 1 : 0));
      CHECK(process.enters() == std::stoull(outcome.out));
      CHECK(process.events() == process.enters());
      CHECK(process.all_dropped() == 0);
    }
  }
}

TEST_CASE("a program that survives the overflow of its stack does so in a hook, too") {
  for (const std::string& way : ways()) {
    CAPTURE(way);
    const Scratch scratch;
    const auto trace = scratch.path() / "trace";
    const Outcome outcome = run({.arguments = {way + "recovers", "1000"},
                                 .trace = trace.string(),
                                 // Blocks of 64 KiB: hooks often need more stack than a record's.
                                 .in_child = [] { setenv("HEDDLE_FLIGHT", "1000000", 1); }});
    REQUIRE(outcome.exit_code == 0);
    CHECK(outcome.out == "1000\n");
    CHECK(read_trace(trace).at(0).all_dropped() == 0);
  }
}

TEST_CASE("calls left by exceptions and longjmp are as the format says") {
  for (const std::string& way : ways()) {
    CAPTURE(way);
    const Scratch scratch;
    const auto trace = scratch.path() / "trace";
    const Outcome outcome = run({.arguments = {way + "unwinds"}, .trace = trace.string()});
    REQUIRE(outcome.exit_code == 0);
    std::uint64_t calls = 0, thrown = 0, jumped = 0;
    std::istringstream(outcome.out) >> calls >> thrown >> jumped;
    const RawProcess process = read_trace(trace).at(0);
    CHECK(process.enters() == calls);
    // The unwinder runs the first way's exit hooks, not the second's.
    const bool exits = !process.threads.at(0).records.at(0).entry_way;
    CHECK(process.events() == 2 * calls - jumped - (exits ? 0 : thrown));
    CHECK(process.all_dropped() == 0);
    // Each longjmp tells where it goes: above the eleven calls that it leaves.
    constexpr std::uint64_t kJump = 18, kLeft = 11;
    std::uint64_t jumps = 0, landings = 0;
    for (const RawThread& thread : process.threads) {
      for (const RawNote& note : thread.notes) {
        if (note.type != kJump) continue;
        if (note.number % 2 != 0) {
          // An exception runs a destructor or the handler, which calls, or the exit hook.
          ++landings;
          REQUIRE(note.before < thread.records.size());
          const std::uint64_t after = thread.records[note.before].stack_pointer;
          CHECK(after <= note.number + 1);
          CHECK(note.number + 1 - after < 256);
          continue;
        }
        ++jumps;
        REQUIRE(note.before >= kLeft);
        REQUIRE(note.before < thread.records.size());
        const std::uint64_t after = thread.records[note.before].stack_pointer;
        for (std::uint64_t left = 1; left <= kLeft; ++left) {
          CHECK(thread.records[note.before - left].stack_pointer < note.number);
        }
        CHECK(after < note.number);
        CHECK(note.number + 1 - after < 256);
      }
    }
    CHECK(jumps * kLeft == jumped);
    // A call of `deeper` lands to destroy its guard, all but the innermost. The first way also
    // lands to run the exit hooks of the innermost and of qsort's comparison. The caller of each of
    // 200 throws handles it.
    CHECK(landings == (exits ? thrown + 200 : thrown - 100));
  }
}

TEST_CASE("stacks may be far apart, small, and misaligned") {
  const std::vector<std::vector<std::string>> stacks = {{"alloca", "3000000"},
                                                        {"alloca", "100000000"},
                                                        {"fibers", "65536"},
                                                        {"fibers", "4096"},
                                                        {"misaligned", "65536"}};
  for (const std::string& way : ways()) {
    for (const auto& stack : stacks) {
      CAPTURE(way);
      CAPTURE(stack[0]);
      CAPTURE(stack[1]);
      const Scratch scratch;
      const auto trace = scratch.path() / "trace";
      const Outcome outcome =
          run({.arguments = {way + "stacks", stack[0], stack[1]}, .trace = trace.string()});
      REQUIRE(outcome.exit_code == 0);
      const RawThread thread = read_trace(trace).at(0).threads.at(0);
      CHECK(thread.enters() == std::stoull(outcome.out));
      CHECK(thread.dropped == 0);
      // One fiber ends in its call, and so does the other's switch to it.
      const bool fibers = stack[0] == "fibers";
      CHECK(thread.records.size() == 2 * thread.enters() - (fibers ? 2 : 0));
      if (!fibers) CHECK(well_nested(thread));
    }
  }
}

TEST_CASE("the hooks take little of the program's stack") {
  const auto bytes = [](const Outcome& outcome) {
    std::vector<std::size_t> result;
    std::istringstream lines(outcome.out);
    std::string when;
    for (std::size_t each; lines >> when >> each;) result.push_back(each);
    return result;
  };
  for (const std::string& way : ways()) {
    CAPTURE(way);
    const Scratch scratch;
    const std::vector<std::string> arguments = {way + "room", TRACED_PROGRAMS "/twin-3.so"};
    const Outcome alone = run({.arguments = arguments, .recorded = false});
    const Outcome outcome =
        run({.arguments = arguments, .trace = (scratch.path() / "trace").string()});
    REQUIRE(outcome.exit_code == 0);
    REQUIRE(bytes(alone).size() == 4);
    REQUIRE(bytes(outcome).size() == 4);
    for (std::size_t i = 0; i < 4; ++i) {
      CAPTURE(i);
      CHECK(bytes(alone)[i] < 256);  // it measures the hooks
      CHECK(bytes(outcome)[i] > 256);
      CHECK(bytes(outcome)[i] <= 1536);
    }
  }
}

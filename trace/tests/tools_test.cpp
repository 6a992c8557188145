// Beside others who look into the process, or use what the recorder uses.
#include <doctest/doctest.h>

#include <cstdlib>

#include "raw_trace.hpp"
#include "run.hpp"
#include "ways.hpp"

namespace {

bool have(const std::string& tool) {
  const bool found =
      run({.arguments = {"/bin/sh", "-c", "command -v " + tool}, .recorded = false}).exit_code == 0;
  if (!found) MESSAGE("not tested: there is no ", tool, " here; install it: apt install ", tool);
  return found;
}

}  // namespace

TEST_CASE("a program that was told to have restartable sequences for itself has them") {
  for (const std::string& way : ways()) {
    CAPTURE(way);
    for (const char* tunables : {"", "glibc.pthread.rseq=0"}) {
      CAPTURE(tunables);
      const auto with = [tunables] { setenv("GLIBC_TUNABLES", tunables, 1); };
      const Outcome without =
          run({.arguments = {way + "sequences"}, .recorded = false, .in_child = with});
      const Scratch scratch;
      const auto trace = scratch.path() / "trace";
      const Outcome outcome =
          run({.arguments = {way + "sequences"}, .trace = trace.string(), .in_child = with});
      REQUIRE(outcome.exit_code == 0);
      CHECK(outcome.out == without.out);
      const RawProcess process = read_trace(trace).at(0);
      CHECK(process.enters() == 10'000);
      CHECK(process.events() == 20'000);
    }
  }
}

TEST_CASE("under valgrind every call is recorded") {
  if (!have("valgrind")) return;
  for (const std::string& way : ways()) {
    CAPTURE(way);
    const Scratch scratch;
    const auto trace = scratch.path() / "trace";
    const std::string command = "exec valgrind -q --error-exitcode=9 " + way + "crowd 20 4 500";
    const Outcome outcome = run({.arguments = {"/bin/sh", "-c", command}, .trace = trace.string()});
    CHECK(outcome.err == "");
    REQUIRE(outcome.exit_code == 0);
    const RawProcess process = read_trace(trace).at(0);
    CHECK(process.enters() == 20 * 500);
    CHECK(process.threads.size() == 20);
    for (const RawThread& thread : process.threads) CHECK(well_nested(thread));
  }
}

TEST_CASE("a debugger can step through the hooks") {
  if (!have("gdb")) return;
  for (const std::string& way : ways()) {
    CAPTURE(way);
    const Scratch scratch;
    const auto trace = scratch.path() / "trace";
    const std::string command =
        "exec gdb -batch -nx -ex 'set startup-with-shell off' "
        "-ex 'set environment LD_PRELOAD " HEDDLE_LIBRARY
        "' "
        "-ex 'break call' -ex run -ex 'delete' -ex 'stepi 3000' -ex continue "
        "--args " +
        way + "withdraws directory 100";
    const Outcome outcome = run(
        {.arguments = {"/bin/sh", "-c", "unset LD_PRELOAD; " + command}, .trace = trace.string()});
    CAPTURE(outcome.out);
    REQUIRE(outcome.exit_code == 0);
    CHECK(outcome.out.find("exited normally") != std::string::npos);
    const RawProcess process = read_trace(trace).at(0);
    CHECK(process.enters() == 101);
    CHECK(process.events() == 202);
  }
}

TEST_CASE("a program with a sanitizer in it is recorded, thread by thread") {
  for (const std::string name : {"asan", "tsan"}) {
    CAPTURE(name);
    const Scratch scratch;
    const auto trace = scratch.path() / "trace";
    const Outcome outcome = run({.arguments = {"crowd-" + name, "60", "20", "3000"},
                                 .trace = trace.string(),
                                 .in_child = [] {
                                   // It insists on being the first library, unless it is told.
                                   setenv("ASAN_OPTIONS", "verify_asan_link_order=0", 1);
                                 }});
    CHECK(outcome.err == "");
    REQUIRE(outcome.exit_code == 0);
    const RawProcess process = read_trace(trace).at(0);
    CHECK(process.enters() == 60 * 3000);
    CHECK(process.threads.size() == 60);
    CHECK(process.all_dropped() == 0);
    for (const RawThread& thread : process.threads) CHECK(well_nested(thread));
  }
}

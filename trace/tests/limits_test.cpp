// Full disks and other limits: recording stops with an exact count and one line; the program goes
// on.
#include <doctest/doctest.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>

#include "planner.hpp"
#include "raw_trace.hpp"
#include "run.hpp"

namespace {

constexpr std::uint64_t kEvents = 2 * (242785 + 1);  // of `recursion 25`, which returns 1

void limit_files(rlim_t bytes) {
  const rlimit few{bytes, bytes};
  setrlimit(RLIMIT_FSIZE, &few);
}

void check_exact(const Outcome& outcome, const std::filesystem::path& trace, const char* reason,
                 std::uint32_t trouble) {
  CAPTURE(outcome.err);
  CHECK(outcome.exit_code == 1);
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  CHECK(outcome.err.find(reason) != std::string::npos);
  const RawProcess process = read_trace(trace).at(0);
  CHECK(process.flags == 1);
  CHECK(process.trouble == trouble);
  const RawThread& thread = process.threads.at(0);
  CHECK(thread.dropped > 0);
  CHECK(thread.records.size() > 0);
  CHECK(thread.records.size() + thread.dropped == kEvents);
}

}  // namespace

TEST_CASE("a file size limit stops recording, without SIGXFSZ") {
  const Scratch scratch;
  const auto trace = scratch.path() / "trace";
  const Outcome outcome =
      run({.arguments = {"recursion", "25"}, .trace = trace.string(), .in_child = [] {
             limit_files(300 << 10);
           }});
  check_exact(outcome, trace, "file size limit", EFBIG);
}

TEST_CASE("a full disk stops recording") {
  const Scratch scratch;
  if (mount("tmpfs", scratch.path().c_str(), "tmpfs", 0, "size=3m") != 0) {
    MESSAGE("not tested: cannot mount a small tmpfs here (", std::strerror(errno),
            "); run as root to test a full disk");
    return;
  }
  const auto trace = scratch.path() / "trace";
  const Outcome outcome = run({.arguments = {"recursion", "25"}, .trace = trace.string()});
  check_exact(outcome, trace, "no space left", ENOSPC);
  REQUIRE(umount(scratch.path().c_str()) == 0);
}

TEST_CASE("under an address space limit all is recorded in what memory there is") {
  const Scratch scratch;
  const auto trace = scratch.path() / "trace";
  const Outcome outcome =
      run({.arguments = {"recursion", "25"}, .trace = trace.string(), .in_child = [] {
             const rlimit few{12 << 20, 12 << 20};
             setrlimit(RLIMIT_AS, &few);
           }});
  CHECK(outcome.exit_code == 1);
  CHECK(outcome.err == "");
  CHECK(read_trace(trace).at(0).events() == kEvents);
}

TEST_CASE("a flight recorder that gets less room than it may take says why") {
  for (const bool limited : {false, true}) {
    CAPTURE(limited);
    const Scratch scratch;
    const auto trace = scratch.path() / "trace";
    const Outcome outcome =
        run({.arguments = {"recursion", "25"}, .trace = trace.string(), .in_child = [limited] {
               setenv("HEDDLE_FLIGHT", "64000000", 1);
               const rlimit few{12 << 20, 12 << 20};
               if (limited) setrlimit(RLIMIT_AS, &few);
             }});
    CHECK(outcome.exit_code == 1);
    const RawProcess process = read_trace(trace).at(0);
    CHECK(process.flight_trouble == (limited ? ENOMEM : 0));
    CHECK((process.events() == kEvents) == !limited);
    // Two blocks, of which the second is a whole one, or both of these.
    CHECK(block_bytes(process.directory) > 1'000'000);
  }
}

TEST_CASE("a thread without a descriptor for its file is counted in the process") {
  const Scratch scratch;
  const auto trace = scratch.path() / "trace";
  const Outcome outcome = run({.arguments = {"descriptors"}, .trace = trace.string()});
  CAPTURE(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  REQUIRE(outcome.out == "1002\n");
  CHECK(outcome.err.find("too many open files") != std::string::npos);
  const RawProcess process = read_trace(trace).at(0);
  CHECK(process.threads.size() == 1);
  CHECK(process.enters() == 2);
  CHECK(process.dropped == 2000);
  CHECK(process.trouble == EMFILE);
}

TEST_CASE("without a directory the program runs as ever and the loss is stated") {
  const Scratch scratch;
  const Outcome outcome = run({.arguments = {"recursion"}, .trace = "/proc/no/such/place"});
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.err ==
        "heddle: nothing of this process is recorded: cannot write /proc/no/such/place: no such "
        "directory; was it removed, or did the program chroot? record elsewhere: heddle record -o "
        "DIR\nheddle: 46 events were not recorded\n");
}

TEST_CASE("no program waits for somebody to read what the recorder says") {
  const auto fill_pipe = [] {
    int ends[2];
    if (pipe2(ends, O_NONBLOCK) != 0) _exit(125);
    const char some[4096] = {};
    while (write(ends[1], some, sizeof some) > 0) {
    }
    while (write(ends[1], some, 1) > 0) {
    }
    if (fcntl(ends[1], F_SETFL, 0) != 0 || dup2(ends[1], STDERR_FILENO) < 0) _exit(125);
    alarm(20);
  };
  const Outcome outcome =
      run({.arguments = {"recursion"}, .trace = "/proc/no/such/place", .in_child = fill_pipe});
  CHECK(outcome.exit_code == 0);
}

TEST_CASE("what a process cannot record is counted in the trace, if that can be written") {
  const Scratch scratch;
  const auto trace = scratch.path() / "trace";
  const Planner planner(trace, {});
  const Outcome outcome = run(
      {.arguments = {"recursion"}, .trace = trace.string(), .in_child = [] { limit_files(512); }});
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.err.find("file size limit reached") != std::string::npos);
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  std::ostringstream control;
  control << std::ifstream(trace / "control").rdbuf();
  const std::string bytes = control.str();
  REQUIRE(bytes.size() == 4096);
  std::uint64_t lost = 0;
  std::uint32_t trouble = 0;
  std::memcpy(&lost, bytes.data() + 24, sizeof lost);
  std::memcpy(&trouble, bytes.data() + 32, sizeof trouble);
  CHECK(lost == 46);
  CHECK(trouble == EFBIG);
}

TEST_CASE("where nothing can be recorded a call takes few instructions and no system call") {
  for (const auto& [program, most] : std::vector<std::pair<const char*, long>>{
           {"filtered-function-O2", 80}, {"filtered-entry-O2", 110}}) {
    CAPTURE(std::string(program));
    const Outcome outcome =
        run({.arguments = {program, "costs"}, .trace = "/proc/no/such/place", .in_child = [] {
               setenv("HEDDLE_COROUTINES", "auto", 1);
             }});
    REQUIRE(outcome.exit_code == 0);
    const long instructions = std::stol(outcome.out);
    CHECK(instructions > 0);
    CHECK(instructions <= most);
  }
}

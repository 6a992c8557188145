// A program may take rights from itself: what then cannot be recorded is counted, and said once.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "raw_trace.hpp"
#include "run.hpp"
#include "ways.hpp"

namespace {

constexpr std::uint64_t kCalls = 100'000;

struct Recorded {
  Outcome outcome;
  RawProcess process;
};

Recorded withdraw(const std::string& way, const std::string& what) {
  const Scratch scratch;
  const auto trace = scratch.path() / "trace";
  Outcome outcome = run(
      {.arguments = {way + "withdraws", what, std::to_string(kCalls)}, .trace = trace.string()});
  CAPTURE(what);
  REQUIRE(outcome.exit_code == 0);
  return {outcome, read_trace(trace).at(0)};
}

}  // namespace

TEST_CASE("a program may close all its descriptors and change its directory") {
  for (const std::string& way : ways()) {
    for (const std::string what : {"descriptors", "directory"}) {
      CAPTURE(what);
      const Recorded recorded = withdraw(way, what);
      CHECK(recorded.outcome.err == "");
      CHECK(recorded.process.enters() == kCalls + 1);
      CHECK(recorded.process.all_dropped() == 0);
    }
  }
}

TEST_CASE("a program with other rights than who started it writes nowhere") {
  if (geteuid() != 0) {
    MESSAGE("not tested: only root may give a program its rights; run as root");
    return;
  }
  namespace fs = std::filesystem;
  const Scratch scratch;
  fs::permissions(scratch.path(), fs::perms::all);
  const fs::path program = scratch.path() / "secured";
  fs::copy_file(TRACED_PROGRAMS "/secured", program);
  const auto start = [&](mode_t mode, const std::string& trace) {
    REQUIRE(chmod(program.c_str(), mode) == 0);
    return run({.arguments = {program.string()},
                .directory = scratch.path(),
                .trace = trace,
                .recorded = false,
                .in_child = [] {
                  if (setgid(65534) != 0 || setuid(65534) != 0) _exit(125);
                }});
  };
  const auto trace = (scratch.path() / "trace").string();
  if (start(04755, trace).out.substr(0, 2) != "1 ") {
    MESSAGE("not tested: programs get no rights of their own in ", scratch.path());
    return;
  }
  for (const std::string& directory : {trace, std::string()}) {
    const Outcome outcome = start(04755, directory);
    CHECK(outcome.exit_code == 0);
    CHECK(outcome.out == "1 none\n");
    CHECK(outcome.err == "");
    CHECK(std::distance(fs::directory_iterator(scratch.path()), {}) == 1);
  }
  CHECK(start(0755, trace).out == "0 " + trace + "\n");
  CHECK(read_trace(trace).at(0).enters() == 2);
}

TEST_CASE("a program may give up system calls that recording needs") {
  for (const std::string& way : ways()) {
    for (const std::string what : {"strict", "filter", "seccomp", "one", "allowing", "refused"}) {
      CAPTURE(what);
      const Scratch scratch;
      const auto trace = scratch.path() / "trace";
      // The kernel refuses a filter that jumps back at once.
      const Outcome outcome = run({.arguments = {way + "secluded", what, std::to_string(kCalls)},
                                   .trace = trace.string(),
                                   .in_child = [] { alarm(100); }});
      CHECK(outcome.exit_code == 0);
      CHECK(outcome.out == std::to_string(kCalls + 1) + "\n");
      const bool barred = what != "allowing" && what != "refused";
      CHECK((outcome.err.find("recording ends here") != std::string::npos) == barred);
      const RawProcess process = read_trace(trace).at(0);
      CHECK(process.events() + process.all_dropped() == 2 * (kCalls + 1));
      CHECK(process.enters() == (barred ? 1 : kCalls + 1));
    }
  }
}

TEST_CASE("what a filter denies to the recorder is counted") {
  for (const std::string& way : ways()) {
    const Scratch scratch;
    const auto trace = scratch.path() / "trace";
    const Outcome outcome = run({.arguments = {way + "secluded", "denying", std::to_string(kCalls)},
                                 .trace = trace.string()});
    CHECK(outcome.exit_code == 0);
    CHECK(outcome.out == std::to_string(kCalls + 1) + "\n");
    CHECK(outcome.err.find("operation not permitted") != std::string::npos);
    const RawProcess process = read_trace(trace).at(0);
    CHECK(process.all_dropped() > 0);
    CHECK(process.events() + process.all_dropped() == 2 * (kCalls + 1));
  }
}

TEST_CASE("a process that is killed in the recorder says so") {
  for (const std::string& way : ways()) {
    const Scratch scratch;
    const auto trace = scratch.path() / "trace";
    const Outcome outcome = run({.arguments = {way + "secluded", "unseen", std::to_string(kCalls)},
                                 .trace = trace.string()});
    CHECK(outcome.exit_code == -SIGSYS);
    for (const auto& process : std::filesystem::directory_iterator(trace)) {
      if (!process.is_directory()) continue;
      std::ifstream header(process.path() / "process", std::ios::binary);
      header.seekg(200);
      CHECK(header.get() == 1);
    }
  }
}

TEST_CASE("nothing is written into another user's directory") {
  if (geteuid() != 0) {
    MESSAGE("not tested: only root may give a directory away; run as root");
    return;
  }
  for (const std::string& way : ways()) {
    const Scratch scratch;
    const auto trace = scratch.path() / "trace";
    std::filesystem::create_directory(trace);
    REQUIRE(chown(trace.c_str(), 65534, 65534) == 0);
    const Outcome outcome =
        run({.arguments = {way + "secluded", "allowing", "10"}, .trace = trace.string()});
    CHECK(outcome.exit_code == 0);
    CHECK(outcome.err.find("permission denied") != std::string::npos);
    CHECK(std::filesystem::is_empty(trace));
  }
}

TEST_CASE("a process joins only the trace that it was started for") {
  namespace fs = std::filesystem;
  const Scratch scratch;
  const fs::path trace = scratch.path() / "trace";
  fs::create_directory(trace);
  struct stat status {};
  REQUIRE(stat(trace.c_str(), &status) == 0);
  const auto identity = [](dev_t device, ino_t inode) {
    return std::to_string(device) + ":" + std::to_string(inode);
  };
  const std::string right = identity(status.st_dev, status.st_ino);
  const auto start = [](const fs::path& directory, const std::string& expected,
                        const fs::path& told) {
    const auto tell = [&] { setenv("HEDDLE_TRACE", (expected + ":" + told.string()).c_str(), 1); };
    const Outcome outcome =
        run({.arguments = {"recursion"}, .trace = directory.string(), .in_child = tell});
    CHECK(outcome.exit_code == 0);
    return outcome.err;
  };
  const fs::path link = scratch.path() / "link", none = scratch.path() / "none";
  fs::create_directory_symlink(trace, link);
  const std::string another = "it is another directory than the one that recording began in";
  for (const auto& wrong :
       {identity(status.st_dev, status.st_ino + 1), identity(status.st_dev + 1, status.st_ino)}) {
    CHECK(start(trace, wrong, trace).find(another) != std::string::npos);
  }
  CHECK(start(link, right, link).find(another) != std::string::npos);
  CHECK(fs::is_empty(trace));
  CHECK(start(none, right, none).find("no such directory") != std::string::npos);
  CHECK_FALSE(fs::exists(none));
  // A program may name another directory than heddle record's.
  CHECK(start(none, right, trace) == "");
  CHECK(read_trace(none).at(0).enters() == 23);
  // The right one is heddle record's, which has marked it.
  std::ofstream(trace / "heddle") << "heddle trace 5\n";
  CHECK(start(trace, right, trace) == "");
  CHECK(read_trace(trace).at(0).enters() == 23);
}

TEST_CASE("a directory that holds other files does not become a trace") {
  namespace fs = std::filesystem;
  for (const char* const theirs : {"thesis.txt", "heddle"}) {
    CAPTURE(theirs);
    const Scratch scratch;
    const fs::path home = scratch.path() / "home";
    fs::create_directory(home);
    std::ofstream(home / theirs) << "precious";
    const Outcome outcome = run({.arguments = {"recursion"}, .trace = home.string()});
    CHECK(outcome.exit_code == 0);
    CHECK(outcome.err.find("it holds other files and is no trace") != std::string::npos);
    CHECK(std::distance(fs::directory_iterator(home), {}) == 1);
  }
}

TEST_CASE("a link that HEDDLE_DIR names is followed once") {
  namespace fs = std::filesystem;
  const Scratch scratch;
  const fs::path trace = scratch.path() / "trace", link = scratch.path() / "link";
  fs::create_directory(trace);
  fs::create_directory_symlink("trace", link);
  for (const char* const end : {"", "/"}) {
    const Outcome outcome = run({.arguments = {"recursion"}, .trace = link.string() + end});
    CHECK(outcome.err == "");
  }
  CHECK(read_trace(trace).size() == 2);
}

TEST_CASE("arguments can be kept out of a trace") {
  const Scratch scratch;
  const auto trace = scratch.path() / "trace";
  const std::string secret = "--password=9f3b1c";
  const Outcome outcome =
      run({.arguments = {"told", secret}, .trace = trace.string(), .in_child = [] {
             setenv("HEDDLE_REDACT", "1", 1);
           }});
  REQUIRE(outcome.exit_code >= 0);
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(trace)) {
    if (!entry.is_regular_file()) continue;
    ++files;
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    CHECK(text.find(secret) == std::string::npos);
    if (entry.path().filename() == "process") {
      CHECK(text.find(std::string("/told\0[redacted]\0", 17)) != std::string::npos);
    }
  }
  CHECK(files > 2);
}

TEST_CASE(
    "without a descriptor, the root directory or the user's rights all that is lost is counted") {
  struct Right {
    const char* what;
    const char* said;
    bool for_root;
  };
  const Right rights[] = {{"limit", "too many open files", false},
                          {"root", "did the program chroot", true},
                          {"user", "permission denied", true}};
  for (const std::string& way : ways()) {
    for (const Right& right : rights) {
      if (right.for_root && geteuid() != 0) {
        MESSAGE("not tested: only root may change its ", right.what, "; run as root");
        continue;
      }
      CAPTURE(right.what);
      const auto [outcome, process] = withdraw(way, right.what);
      CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
      CHECK(outcome.err.find(right.said) != std::string::npos);
      CHECK(process.events() > 2000);
      CHECK(process.all_dropped() > 0);
      CHECK(process.events() + process.all_dropped() == 2 * (kCalls + 1));
    }
  }
}

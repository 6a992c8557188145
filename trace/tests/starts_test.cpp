// Programs that are started, and libraries that are opened, which cannot be recorded.
#include <doctest/doctest.h>
#include <features.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "raw_trace.hpp"
#include "run.hpp"

namespace {

/// The trace's list of what was started or opened and not recorded, each line without the path.
std::vector<std::string> unrecorded(const std::filesystem::path& trace) {
  std::vector<std::string> lines;
  std::ifstream file(trace / "unrecorded");
  for (std::string line; std::getline(file, line);) {
    lines.push_back(line.substr(0, line.find_last_of(' ')));
  }
  return lines;
}

}  // namespace

TEST_CASE("a program that is started and cannot be recorded is listed") {
  const Scratch scratch;
  const auto trace = scratch.path() / "trace";
  const auto start = [&](const char* how, const std::string& program, int code,
                         const std::vector<std::string>& expected) {
    CAPTURE(how);
    CAPTURE(program);
    std::filesystem::remove_all(trace);
    const auto in_path = [] {
      setenv("PATH", "/nowhere:" TRACED_PROGRAMS, 1);
      alarm(100);
    };
    const Outcome outcome =
        run({.arguments = {"starts", how, program}, .trace = trace.string(), .in_child = in_path});
    CHECK(outcome.exit_code == code);
    CHECK(outcome.err == "");
    CHECK(unrecorded(trace) == expected);
  };
  const std::string none = TRACED_PROGRAMS "/static";
  const std::vector<std::string> one = {"started static"};
  for (const char* how : {"execve", "execv", "execvp", "execlp", "fexecve", "posix_spawn"}) {
    start(how, none, 7, one);
  }
  for (const char* how : {"execvp", "execlp", "posix_spawnp"}) start(how, "static", 7, one);
  // A script is what its interpreter is.
  const auto script = scratch.path() / "script";
  std::ofstream(script) << "#! " << none << " -x\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  start("execve", script.string(), 7, one);
  // Those that are recorded, and those that are not there.
  start("execve", TRACED_PROGRAMS "/abc", 0, {});
  start("posix_spawn", "/nowhere", 127, {});
  start("execve", "/nowhere", 127, {});
  // A FIFO, which nobody writes to, is none, and no interpreter.
  const auto fifo = scratch.path() / "fifo";
  REQUIRE(mkfifo(fifo.c_str(), 0700) == 0);
  std::ofstream(script) << "#!" << fifo.string() << '\n';
  for (const auto& odd : {fifo, script}) {
    start("execve", odd.string(), 127, {});
    start("posix_spawn", odd.string(), 127, {});
  }
  // One that cannot be started after all.
  const auto barred = scratch.path() / "barred";
  std::filesystem::copy_file(none, barred);
  std::filesystem::permissions(barred, std::filesystem::perms::owner_read);
  start("execve", barred.string(), 127, {"started static", "failed static"});
  start("posix_spawn", barred.string(), 127, {});
  struct statvfs file_system {};
  REQUIRE(statvfs(scratch.path().c_str(), &file_system) == 0);
  if (geteuid() == 0 && (file_system.f_flag & ST_NOSUID) == 0) {
    const auto other = scratch.path() / "other";
    std::filesystem::copy_file(TRACED_PROGRAMS "/abc", other);
    REQUIRE(chown(other.c_str(), 65534, 65534) == 0);
    REQUIRE(chmod(other.c_str(), 04755) == 0);
    start("execve", other.string(), 0, {"started rights"});
  }
}

// Older ones do not tell of other namespaces.
#if __GLIBC_PREREQ(2, 35)
TEST_CASE("a library with hooks in a link namespace of its own is listed, once") {
  const Scratch scratch;
  const auto trace = scratch.path() / "trace";
  const Outcome outcome = run({.arguments = {"elsewhere"}, .trace = trace.string()});
  CAPTURE(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  CHECK(read_trace(trace).at(0).threads.at(0).enters() == 1);
  std::string line;
  std::getline(std::ifstream(trace / "unrecorded"), line);
  CHECK(line == "opened namespace " TRACED_PROGRAMS "/plugin.so");
  CHECK(unrecorded(trace).size() == 1);
}
#endif

// Processes that change shape: fork, exec, dlopen.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>

#include "raw_trace.hpp"
#include "run.hpp"

namespace {

/// A file of zeros behind this text.
void write_file(const std::filesystem::path& path, const std::string& text, std::uintmax_t size) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << text;
  std::filesystem::resize_file(path, size);
}

}  // namespace

TEST_CASE("a forked child has a directory of its own and leaves its parent's alone") {
  const Scratch scratch;
  const auto trace = scratch.path() / "trace";
  const Outcome outcome = run({.arguments = {"forker"}, .trace = trace.string()});
  REQUIRE(outcome.exit_code == 0);
  auto processes = read_trace(trace);
  REQUIRE(processes.size() == 2);
  const auto parent_first = [&](const RawProcess& p) {
    return p.pid == static_cast<std::uint32_t>(outcome.pid);
  };
  std::partition(processes.begin(), processes.end(), parent_first);
  const RawProcess &parent = processes[0], &child = processes[1];
  CHECK(parent.pid == static_cast<std::uint32_t>(outcome.pid));
  CHECK(child.parent == parent.pid);
  CHECK(child.flags == 1);
  CHECK(parent.enters() == 5);  // main, before, divide, in_parent twice
  CHECK(parent.events() == 10);
  CHECK(child.enters() == 3);  // in_child; main and divide were entered by the parent
  CHECK(child.events() == 6);
  CHECK(child.modules.size() == parent.modules.size());
  CHECK(well_nested(parent.threads.at(0)));
}

TEST_CASE("the directory that was made ready is the first process's, whatever there is of it") {
  constexpr std::uintmax_t kNone = 0, kShort = 100, kWhole = 4096 + (2 << 20);
  for (const std::uintmax_t size : {kNone, kShort, kWhole}) {
    CAPTURE(size);
    const Scratch scratch;
    const auto trace = scratch.path() / "trace", spare = trace / "spare";
    write_file(trace / "control", std::string("HEDLCTRL\2\0\0\0", 12), 4096);
    write_file(trace / "heddle", "heddle trace 5\n", 15);
    std::filesystem::create_directory(spare);
    if (size != kNone) {
      write_file(spare / "process", "", std::min<std::uintmax_t>(size, 4096));
      write_file(spare / "buffer-1", "", size);
    }
    const Outcome outcome = run({.arguments = {"forker"}, .trace = trace.string()});
    REQUIRE(outcome.exit_code == 0);
    CHECK_FALSE(std::filesystem::exists(spare));
    CHECK(read_trace(trace).size() == 2);
    // A million calls, through every slot again and again.
    std::filesystem::remove_all(trace / std::to_string(outcome.pid));
    std::filesystem::create_directory(spare);
    if (size != kNone) write_file(spare / "buffer-1", "", size);
    const Outcome many = run({.arguments = {"long"}, .trace = trace.string()});
    REQUIRE(many.exit_code == 0);
    CHECK_FALSE(std::filesystem::exists(spare));
    for (const RawProcess& process : read_trace(trace)) {
      if (process.pid != static_cast<std::uint32_t>(many.pid)) continue;
      CHECK(process.enters() == 1'000'000);
      CHECK(well_nested(process.threads.at(0)));
    }
  }
}

TEST_CASE("after a bare preload a forked child's trace is where its parent's is") {
  const Scratch scratch;
  const Outcome outcome = run({.arguments = {"forker"}, .directory = scratch.path()});
  REQUIRE(outcome.exit_code == 0);
  CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
  CHECK(read_trace(scratch.path() / ("heddle.trace." + std::to_string(outcome.pid))).size() == 2);
}

TEST_CASE("a second program image in the same process has a second directory") {
  const Scratch scratch;
  const auto trace = scratch.path() / "trace";
  const Outcome outcome = run({.arguments = {"execs"}, .trace = trace.string()});
  REQUIRE(outcome.exit_code == 7);
  const auto processes = read_trace(trace);
  REQUIRE(processes.size() == 2);
  const std::string pid = std::to_string(outcome.pid);
  CHECK(processes[0].directory.filename() == pid);
  CHECK(processes[0].flags == 2);
  CHECK(processes[0].enters() == 2);
  CHECK(processes[1].directory.filename() == pid + ".1");
  CHECK(processes[1].flags == 1);
  CHECK(processes[1].enters() == 3);
}

TEST_CASE("a module opened at run time is known from its constructor to its destructor") {
  const Scratch scratch;
  const auto trace = scratch.path() / "trace";
  // The plugin is found by the program's RUNPATH, which the real dlopen looks up by its caller.
  const Outcome outcome =
      run({.arguments = {"plugin_main"}, .directory = scratch.path(), .trace = trace.string()});
  CAPTURE(outcome.err);
  REQUIRE(outcome.exit_code == 0);
  const RawProcess process = read_trace(trace).at(0);
  const RawThread& thread = process.threads.at(0);
  CHECK(well_nested(thread));
  CHECK(thread.enters() == 3 + 12);
  int in_plugin = 0;
  for (const RawRecord& record : thread.records) {
    if (record.exit) continue;
    const RawModule* module = process.module_of(record.function, record.ticks);
    REQUIRE(module != nullptr);
    if (module->path == TRACED_PROGRAMS "/plugin.so") ++in_plugin;
  }
  CHECK(in_plugin == 12);
  const auto unloads = std::count_if(process.modules.begin(), process.modules.end(),
                                     [](const RawModule& m) { return !m.load; });
  CHECK(unloads == 2);
  CHECK(process.module_bytes == std::filesystem::file_size(process.directory / "modules"));
}

TEST_CASE("a module opened just before a kill is known") {
  const Scratch scratch;
  const auto trace = scratch.path() / "trace";
  const Outcome outcome = run({.arguments = {"opened"}, .trace = trace.string()});
  CAPTURE(outcome.err);
  REQUIRE(outcome.exit_code == -9);
  const RawProcess process = read_trace(trace).at(0);
  const RawThread& thread = process.threads.at(0);
  REQUIRE(thread.enters() == 1 + 4);  // main; constructor, helper, plugin_work, helper
  for (std::size_t i = 1; i < thread.records.size(); ++i) {
    const RawRecord& record = thread.records[i];
    if (record.exit) continue;
    const RawModule* module = process.module_of(record.function, record.ticks);
    REQUIRE(module != nullptr);
    CHECK(module->path == TRACED_PROGRAMS "/plugin.so");
  }
}

// Which coroutine is entered, compared with what the program did.
#include <doctest/doctest.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "raw_trace.hpp"
#include "run.hpp"
#include "ways.hpp"

namespace {

/// A line of the program's.
struct Deed {
  char what;
  std::uint64_t frame;
};

std::vector<Deed> deeds(const std::string& text) {
  std::vector<Deed> result;
  std::istringstream lines(text);
  char what = 0;
  for (std::uint64_t frame = 0; lines >> what >> std::hex >> frame;)
    result.push_back({what, frame});
  return result;
}

constexpr std::uint64_t kCapture = 10;

/// Frames in the order of the enters that they come before, of those that the program knows. (Any
/// function that is called by the first word of what a register points to looks like a
/// coroutine's.)
std::vector<std::uint64_t> captured(const RawThread& thread, const std::set<std::uint64_t>& known) {
  std::vector<std::uint64_t> result;
  for (const RawNote& note : thread.notes) {
    if (note.type != kCapture) continue;
    const std::uint64_t frame = note.number & 0xffff'ffff'ffff;
    if (!known.contains(frame)) continue;
    result.push_back(frame);
    REQUIRE(note.before < thread.records.size());
    const RawRecord& enter = thread.records[note.before];
    CHECK(!enter.exit);
    // Also by the sparse clock: other threads may have the frame before and behind.
    CHECK(!enter.untimed);
    CHECK((enter.function & 0xffffffff) == note.more);
  }
  return result;
}

/// Whether the frames are those of the deeds: a birth may show none (its actor's first call may be
/// inlined, and so have no hook of the second way), a resumption shows one, a destruction one or
/// two (the destroying function calls the actor).
bool follows(const std::vector<std::uint64_t>& frames, const std::vector<Deed>& deeds,
             bool births_show) {
  std::set<std::size_t> reached{0};  // how many frames the deeds so far may have shown
  for (std::size_t i = 0; i < deeds.size(); ++i) {
    const Deed& deed = deeds[i];
    std::set<std::size_t> next;
    for (const std::size_t at : reached) {
      const auto shows = [&](std::size_t k) {
        return k < frames.size() && frames[k] == deed.frame;
      };
      if (deed.what == 'b' && !births_show) next.insert(at);
      if (shows(at)) next.insert(at + 1);
      if (deed.what == 'd' && shows(at) && shows(at + 1)) next.insert(at + 2);
    }
    if (next.empty()) {
      MESSAGE("deed " << i << " " << deed.what << " is not among the frames from "
                      << *reached.begin());
      return false;
    }
    reached = next;
  }
  return reached.contains(frames.size());
}

struct Setting {
  const char* name;
  const char* value;
};

}  // namespace

TEST_CASE("where memory cannot be looked at, a line says so and the program goes on") {
  const Scratch scratch;
  const auto trace = scratch.path() / "trace";
  const Outcome outcome = run(
      {.arguments = {"coroutines-function-O2", "10", "2"}, .trace = trace.string(), .in_child = [] {
         setenv("HEDDLE_COROUTINES", "scan", 1);
         sock_filter rules[] = {
             BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
             BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
             BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
             BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
         };
         const sock_fprog program{std::size(rules), rules};
         if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
             prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
           _exit(99);
         }
       }});
  REQUIRE(outcome.exit_code == 0);
  CHECK(outcome.err.find("process_vm_readv") != std::string::npos);
  CHECK(outcome.err.find('\n') == outcome.err.size() - 1);
  const RawProcess process = read_trace(trace).at(0);
  CHECK(process.all_dropped() == 0);
  for (const RawThread& thread : process.threads) {
    CHECK(well_nested(thread));
    CHECK(std::none_of(thread.notes.begin(), thread.notes.end(),
                       [](const RawNote& note) { return note.type == kCapture; }));
  }
}

TEST_CASE("where something like a frame was learnt to be, there may be nothing") {
  for (const std::string& way : ways()) {
    CAPTURE(way);
    const Scratch scratch;
    const auto trace = scratch.path() / "trace";
    const Outcome outcome =
        run({.arguments = {way + "lookalikes"}, .trace = trace.string(), .in_child = [] {
               setenv("HEDDLE_COROUTINES", "scan", 1);
             }});
    REQUIRE(outcome.exit_code == 7);
    const RawProcess process = read_trace(trace).at(0);
    REQUIRE(process.threads.size() == 1);
    const RawThread& thread = process.threads[0];
    CHECK(thread.dropped == 0);
    CHECK(well_nested(thread));
    CHECK(thread.records.size() == 2 * (3 * 256 + 3));
    // They were taken for frames: what was learnt was wrong at last.
    CHECK(std::count_if(thread.notes.begin(), thread.notes.end(),
                        [](const RawNote& note) { return note.type == kCapture; }) > 100);
  }
}

TEST_CASE("of calls that are left out, no frames are left") {
  for (const std::string way : {"function", "entry"}) {
#if !HEDDLE_ENTRY_WAY
    if (way == "entry") continue;
#endif
    for (const Setting& setting :
         {Setting{"HEDDLE_DEPTH", "1"}, {"HEDDLE_MIN_TIME", "3600000000000"}}) {
      CAPTURE(way);
      CAPTURE(std::string(setting.name));
      const Scratch scratch;
      const auto trace = scratch.path() / "trace";
      const Outcome outcome = run({.arguments = {"coroutines-" + way + "-O2", "3000"},
                                   .trace = trace.string(),
                                   .in_child = [&] {
                                     setenv("HEDDLE_COROUTINES", "scan", 1);
                                     setenv(setting.name, setting.value, 1);
                                   }});
      REQUIRE(outcome.exit_code == 0);
      const RawProcess process = read_trace(trace).at(0);
      REQUIRE(process.threads.size() == 1);
      const RawThread& thread = process.threads[0];
      CHECK(well_nested(thread));
      std::size_t of_others = 0;
      for (const RawNote& note : thread.notes) {
        if (note.type != kCapture) continue;
        const bool enters = note.before < thread.records.size();
        const RawRecord* const next = enters ? &thread.records[note.before] : nullptr;
        if (next == nullptr || next->exit || (next->function & 0xffffffff) != note.more) {
          ++of_others;
        }
      }
      CHECK(of_others == 0);
      CHECK(thread.records.empty() == (std::string(setting.name) == "HEDDLE_MIN_TIME"));
    }
  }
}

/// The levels of optimisation that the build has programs of.
static std::vector<std::string> traced_levels() {
  std::istringstream list(TRACED_LEVELS);
  std::vector<std::string> levels;
  for (std::string level; std::getline(list, level, ':');) levels.push_back(level);
  return levels;
}

TEST_CASE("a coroutine's enters are preceded by its frame") {
  for (const std::string way : {"function", "entry"}) {
#if !HEDDLE_ENTRY_WAY
    if (way == "entry") continue;
#endif
    for (const std::string& level : traced_levels()) {
      for (const Setting& setting :
           {Setting{"", ""}, {"HEDDLE_CLOCK", "sparse"}, {"HEDDLE_DEPTH", "1000"}}) {
        for (const std::string threads : {"0", "3"}) {
          CAPTURE(way);
          CAPTURE(level);
          CAPTURE(std::string(setting.name));
          CAPTURE(threads);
          const Scratch scratch;
          const auto trace = scratch.path() / "trace";
          const Outcome outcome =
              run({.arguments = {"coroutines-" + way + "-" + level, "300", threads},
                   .trace = trace.string(),
                   .in_child = [&] {
                     setenv("HEDDLE_COROUTINES", "scan", 1);
                     if (*setting.name != '\0') {
                       setenv(setting.name, setting.value, 1);
                     }
                   }});
          REQUIRE(outcome.exit_code == 0);
          const std::vector<Deed> did = deeds(outcome.out);
          REQUIRE(did.size() > 10000);
          std::set<std::uint64_t> known;
          for (const Deed& deed : did) known.insert(deed.frame);
          const RawProcess process = read_trace(trace).at(0);
          const auto main =
              std::find_if(process.threads.begin(), process.threads.end(),
                           [&](const RawThread& thread) { return thread.tid == process.pid; });
          REQUIRE(main != process.threads.end());
          const RawThread& thread = *main;
          REQUIRE(process.threads.size() == 1 + std::stoul(threads));
          CHECK(thread.dropped == 0);
          CHECK(well_nested(thread));
          CHECK(follows(captured(thread, known), did, way == "function"));
        }
      }
    }
  }
}

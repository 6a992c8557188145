#include "harness/measure.hpp"

#include <heddle/trace.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>

namespace heddle::lab {
namespace {

std::uint64_t ns(const timeval& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(time.tv_usec) * 1'000u;
}

std::uint64_t read(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace

// The texts are those that host/heddle/src/verbs/report/time.rs looks for.
void mark_begin() noexcept {
  constexpr const char* text = "heddle: measured from here";
  heddle_mark(text);
  // The recorder makes its files at a thread's first event: the latest mark is the one that counts.
  heddle_mark(text);
}
void mark_end() noexcept { heddle_mark("heddle: measured to here"); }

std::uint64_t now_ns() { return read(CLOCK_MONOTONIC); }
std::uint64_t cpu_now_ns() { return read(CLOCK_PROCESS_CPUTIME_ID); }

std::uint64_t page_faults_so_far() {
  rusage kernel{};
  getrusage(RUSAGE_SELF, &kernel);
  return static_cast<std::uint64_t>(kernel.ru_minflt) +
         static_cast<std::uint64_t>(kernel.ru_majflt);
}

usage usage::now() {
  usage sum;
  for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage kernel{};
    getrusage(who, &kernel);
    sum.user_ns += ns(kernel.ru_utime);
    sum.sys_ns += ns(kernel.ru_stime);
    sum.voluntary_switches += static_cast<std::uint64_t>(kernel.ru_nvcsw);
    sum.involuntary_switches += static_cast<std::uint64_t>(kernel.ru_nivcsw);
    if (who == RUSAGE_SELF) continue;
    sum.peak_rss_bytes = static_cast<std::uint64_t>(kernel.ru_maxrss) * 1024u;
  }
  return sum;
}

usage usage::since(const usage& start) const {
  return {.user_ns = user_ns - start.user_ns,
          .sys_ns = sys_ns - start.sys_ns,
          .voluntary_switches = voluntary_switches - start.voluntary_switches,
          .involuntary_switches = involuntary_switches - start.involuntary_switches,
          .peak_rss_bytes = peak_rss_bytes};
}

memory memory::now() {
  memory found;
  const auto field = [](const std::string& line, std::string_view name, std::uint64_t& bytes) {
    if (line.starts_with(name)) bytes = std::stoull(line.substr(name.size())) * 1024u;
  };
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    field(line, "VmRSS:", found.resident_bytes);
    field(line, "VmHWM:", found.peak_resident_bytes);
    field(line, "VmSize:", found.reserved_bytes);
    field(line, "VmPeak:", found.peak_reserved_bytes);
  }
  return found;
}

}  // namespace heddle::lab

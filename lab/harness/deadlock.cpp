#include "harness/deadlock.hpp"

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <utility>

namespace heddle::lab {
namespace {

constexpr std::chrono::milliseconds interval{20};

// How often the kernel has switched to or from a thread that sleeps now; nothing if the thread does
// not sleep, or is gone.
std::optional<std::uint64_t> switches_of_sleeper(const std::filesystem::path& task) {
  std::uint64_t switches = 0;
  bool sleeps = false;
  std::ifstream status(task / "status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("State:\tS")) sleeps = true;
    if (line.find("_ctxt_switches:") == std::string::npos) continue;
    switches += std::stoull(line.substr(line.find('\t') + 1));
  }
  if (!sleeps) return {};
  return switches;
}

}  // namespace

deadlock_watch::deadlock_watch(std::function<std::int64_t()> progress, std::function<void()> found)
    : progress_(std::move(progress)),
      found_(std::move(found)),
      thread_([this](const std::stop_token& stop) { watch(stop); }) {}

void deadlock_watch::watch(const std::stop_token& stop) const {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  for (look before;;) {
    never.wait_for(lock, stop, interval, [] { return false; });
    if (stop.stop_requested()) return;
    const look now = look_now(before.progress);
    if (now.switches && now == before) return found_();
    before = now;
  }
}

// The kernel is asked only where nothing seems to go on: a look is a system call or two a thread.
deadlock_watch::look deadlock_watch::look_now(std::int64_t progress_before) const {
  look now{.progress = progress_(), .switches = {}};
  if (now.progress != progress_before) return now;
  const std::string own = std::to_string(gettid());
  std::uint64_t sum = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    if (task.path().filename() == own) continue;
    const auto switches = switches_of_sleeper(task.path());
    if (!switches) return now;
    sum += *switches;
  }
  now.switches = sum;
  return now;
}

}  // namespace heddle::lab

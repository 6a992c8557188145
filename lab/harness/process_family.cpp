#include "harness/process_family.hpp"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>

namespace heddle::lab {
namespace {

std::optional<std::int64_t> cpu_ns_of(const std::vector<pid_t>& all) {
  std::int64_t sum = 0;
  for (const pid_t each : all) {
    clockid_t clock;
    timespec used;
    if (clock_getcpuclockid(each, &clock) != 0 || clock_gettime(clock, &used) != 0) return {};
    sum += std::int64_t{used.tv_sec} * 1'000'000'000 + used.tv_nsec;
  }
  return sum;
}

}  // namespace

std::optional<std::vector<pid_t>> children_of(pid_t process) {
  const std::string directory = "/proc/" + std::to_string(process);
  std::ifstream list(directory + "/task/" + std::to_string(process) + "/children");
  if (!list) {
    if (!std::filesystem::exists(directory)) return {};
    throw std::runtime_error("/proc does not say whose children processes are");
  }
  std::vector<pid_t> found;
  for (pid_t each; list >> each;) found.push_back(each);
  return found;
}

std::vector<pid_t> family(pid_t process, const std::vector<pid_t>& without,
                          const child_finder& children) {
  std::vector<pid_t> all = {process};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::optional<std::vector<pid_t>> mine = children(all[i]);
    if (!mine && i == 0) {
      throw std::runtime_error("there is no process " + std::to_string(process));
    }
    // Another one has ended meanwhile: it has none.
    if (!mine) continue;
    std::copy_if(mine->begin(), mine->end(), std::back_inserter(all), [&](pid_t each) {
      return std::find(without.begin(), without.end(), each) == without.end();
    });
  }
  return all;
}

std::int64_t family_cpu_ns(const std::function<std::vector<pid_t>()>& alive,
                           const std::function<std::int64_t()>& gone) {
  for (int tries = 0; tries < 10'000; ++tries) {
    const std::int64_t before = gone();
    const std::optional<std::int64_t> used = cpu_ns_of(alive());
    if (used && gone() == before) return before + *used;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  throw std::runtime_error("the processor time of processes that come and go cannot be read");
}

}  // namespace heddle::lab

// Helpers of the tests of groups.
#pragma once

#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <string>

#include "heddle/coop/parallel/groups.hpp"
#include "strand_kinds.hpp"

namespace parallel = heddle::coop::parallel;

/// Runs the rounds of a stress test: those given, in ./dev test, or as many of them as begin within
/// three seconds, where other programs have the processors; half under a sanitizer; as often as
/// fits into the seconds that the environment's HEDDLE_SOAK_SECONDS names, in ./dev soak.
template <class Round>
void stress(int rounds, const Round& round) {
  if (const char* const seconds = std::getenv("HEDDLE_SOAK_SECONDS")) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(seconds));
    for (int i = 0; std::chrono::steady_clock::now() < end; ++i) round(i);
  } else {
#if defined(HEDDLE_ASAN) || defined(HEDDLE_TSAN)
    rounds = (rounds + 1) / 2;
#endif
    const auto end = std::chrono::steady_clock::now() + 3s;
    for (int i = 0; i == 0 || (i < rounds && std::chrono::steady_clock::now() < end); ++i) round(i);
  }
}

/// Groups as stress tests vary them: two and three, that spin before they sleep, and that do not.
inline parallel::groups_options varied(int round) {
  parallel::groups_options options;
  options.count = 2 + static_cast<std::size_t>(round % 2);
  options.pin = round % 8 != 7;
  options.spin = round / 2 % 2 == 0 ? 0us : 30us;
  return options;
}

/// A line of /proc/thread-self/status, or of another thread's, without its name.
inline std::string status_of(const std::string& thread, const std::string& name) {
  std::ifstream status("/proc/" + thread + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name + ":"))
      return line.substr(line.find_first_not_of(" \t", name.size() + 1));
  }
  return {};
}

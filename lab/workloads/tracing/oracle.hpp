#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/model.hpp"

namespace heddle::lab::tracing {

/// The figures that are compared after a program was recorded.
struct evidence {
  std::uint64_t expected_result = 0;         ///< of the program without hooks
  std::uint64_t result = 0;                  ///< of the program that was recorded
  std::uint64_t calls_made = 0;              ///< by hooks that do nothing but count
  std::optional<std::uint64_t> calls_found;  ///< in the trace, if one is kept
  bool lossless = false;                     ///< whether a call may be missing
};

/// Recording must not change what the program computes; a trace holds no call that was not made,
/// and a lossless one holds them all.
[[nodiscard]] inline verdict judge(const evidence& given) {
  const std::string made = std::to_string(given.calls_made) + " calls";
  if (given.result != given.expected_result) {
    return {false, "expected: the result of the program without hooks, " +
                       std::to_string(given.expected_result) + "; it was " +
                       std::to_string(given.result)};
  }
  if (!given.calls_found) return {true, "the result of the program without hooks; " + made};
  const std::uint64_t found = *given.calls_found;
  if (found > given.calls_made || (given.lossless && found != given.calls_made)) {
    return {false, "expected: " + made + " in the trace, as hooks that count say; there are " +
                       std::to_string(found)};
  }
  return {true, std::to_string(found) + " of " + made + " are in the trace"};
}

}  // namespace heddle::lab::tracing

#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "workloads/recorded/profile.hpp"

namespace heddle::lab::recorded {

/// The command line is wrong. Exit code 2.
struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A lab program's line, with `model` instead of the model that it names. Throws std::runtime_error
/// if it is none.
[[nodiscard]] std::string with_model(std::string line, std::string_view model);

/// The line with further metrics in front, each as `"name": value, `. Throws std::runtime_error if
/// it is none.
[[nodiscard]] std::string with_metrics(std::string line, std::string_view metrics);

/// A line as by with_model, with the metrics `traced_ns`, `traced_over_timer` and `traced_calls`.
[[nodiscard]] std::string with_profile(std::string line, std::string_view model,
                                       const profile& traced);

/// Prints the line that `run` gives, or what went wrong. Returns the exit code: 0, 1 where it could
/// not be had or printed, 2 for a usage_error.
[[nodiscard]] int answer(const std::function<std::string()>& run);

}  // namespace heddle::lab::recorded

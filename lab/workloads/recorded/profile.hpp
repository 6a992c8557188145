#pragma once

#include <cstdint>
#include <string>

namespace heddle::lab::recorded {

/// The counts in the trace of a lab program.
struct profile {
  std::uint64_t run_ns = 0;  ///< from the enter to the exit of the model's run()
  std::uint64_t calls = 0;   ///< of all functions
};

/// Reads what `heddle report --format csv` prints.
///
/// Throws std::runtime_error unless a function `….run(….)` of the lab was called exactly once.
[[nodiscard]] profile read_profile(const std::string& csv);

}  // namespace heddle::lab::recorded

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::lab::call_log {

/// A line of a log of calls.
struct entry {
  std::int64_t time_us = 0;  ///< since 1970
  std::string what;          ///< `Enter` or `Exit`
  std::string function;      ///< the linker's name
  std::string caller;
};

/// Reads a log in the source's form (3.1), `1715025463.427789 - Enter: _Z1Av called: main`, every
/// digit of it. Throws std::runtime_error with the line that is not in that form.
[[nodiscard]] std::vector<entry> parse(const std::string& text);

/// The same in its other form (4), with addresses:
/// `1714951262.738610 - Enter function: main (0x7f4ac640dd3c) called by: __libc_start_main (0x…)`.
[[nodiscard]] std::vector<entry> parse_with_addresses(const std::string& text);

}  // namespace heddle::lab::call_log

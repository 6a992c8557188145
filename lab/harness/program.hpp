#pragma once

#include <string_view>

namespace heddle::lab {

/// A lab program's main: runs one (model, parameters) and prints the one JSON line of
/// docs/workloads.md. `flags` are the compiler flags of the models' files.
///
/// Returns the exit code: 0 the line was printed, whatever its oracle says; 1 the run failed; 2
/// usage.
int program(int argc, char** argv, std::string_view flags) noexcept;

}  // namespace heddle::lab

#pragma once

namespace heddle::lab {

/// How many processors this process may use.
[[nodiscard]] int processors();

/// Keeps this thread, and the threads and processes it will start, on the processor it is on.
/// Throws std::system_error.
void pin_to_one_processor();

}  // namespace heddle::lab

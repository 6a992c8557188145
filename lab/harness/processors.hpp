#pragma once

namespace heddle::lab {

/// Number of processors that this process may use.
[[nodiscard]] int processors();

/// Keeps this thread, and the threads and processes it will start, on the processor it is on.
/// Throws std::system_error.
void pin_to_one_processor();

/// Keeps this thread, and those that it will start, on the first `count` of the processors that the
/// process might use before any pin_to…(); the kernel chooses among these. Throws cannot_run if
/// there are not so many, std::system_error.
void pin_to_processors(int count);

/// Keeps this thread, and those that it will start, on processor number `index`, from 0, of those
/// that the process might use before any pin_to…(). Throws cannot_run if there are not so many,
/// std::system_error.
void pin_to_processor(int index);

}  // namespace heddle::lab

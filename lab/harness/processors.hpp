#pragma once

namespace heddle::lab {

/// How many processors this process may use.
[[nodiscard]] int processors();

/// Keeps this thread, and the threads and processes it will start, on the processor it is on.
/// Throws std::system_error.
void pin_to_one_processor();

/// As pin_to_one_processor(), on `count` processors: the first of those that the process might use
/// before any pin_to…(), among which the kernel chooses. Throws cannot_run if there are not so
/// many, std::system_error.
void pin_to_processors(int count);

/// Keeps this thread, and those that it will start, on processor number `index`, from 0, of those
/// that the process might use before any pin_to…(). Throws cannot_run if there are not so many,
/// std::system_error.
void pin_to_processor(int index);

}  // namespace heddle::lab

// Mutexes, as a wait for a condition leaves and takes them.
#pragma once

#include "objects.hpp"

namespace heddle::trace {

/// The number of a mutex's object, which is met now if it was not before; 0: it has none.
[[nodiscard]] std::uint32_t mutex_number(const void* mutex, const Caller& caller);

/// A wait lets go of a mutex, which the calling thread has.
void mutex_let_go(const void* mutex, const Caller& caller);

/// The wait has taken it again. That is no operation of the program's, and is not counted.
void mutex_taken_again(const void* mutex, const Caller& caller);

}  // namespace heddle::trace

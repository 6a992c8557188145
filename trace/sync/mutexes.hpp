// Mutexes, as a wait for a condition leaves and takes them.
#pragma once

#include "objects.hpp"

namespace heddle::trace {

/// A wait lets go of a mutex, which the calling thread has.
void mutex_let_go(const void* mutex, const Caller& caller);

/// The wait has taken it again. That is no operation of the program's, and is not counted.
void mutex_taken_again(const void* mutex, const Caller& caller);

}  // namespace heddle::trace

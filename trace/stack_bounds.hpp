// Where the calling thread's stack lies.
#pragma once

#include <cstdint>

namespace heddle::trace {

/// The request of ioctl(2) by which /proc/self/maps tells of one mapping: _IOWR('f', 17, struct
/// procmap_query).
inline constexpr unsigned long kProcmapQuery = 0xc0686611;

struct StackBounds {
  std::uint64_t low, high;  ///< 0, 0 = unknown
};

/// Whose stack: in a forked child the first thread may go on on the one of the thread that forked.
enum class Stack { kMain, kForked, kOther };

/// Asks the kernel, because pthread_getattr_np allocates and the thread may be inside its program's
/// malloc. `given`: the lowest address of the stack that the thread's creator gave it, as the
/// mapping that this lies in may hold more; 0 = none. `scratch` is for the text of /proc/self/maps
/// on kernels before 6.11.
[[nodiscard]] StackBounds stack_bounds(Stack which, std::uint64_t given, char* scratch,
                                       std::uint64_t bytes);

}  // namespace heddle::trace

#pragma once

#include <cstdint>
#include <functional>

namespace heddle::lab {

/// Number of system calls that `body` makes, all its threads and processes together, and the few of
/// starting and ending. It runs in a traced child process, at a fraction of its speed.
///
/// Throws std::runtime_error when it cannot be counted: ptrace not permitted, or the child failed.
/// Call it while the process has one thread only.
[[nodiscard]] std::uint64_t count_syscalls(const std::function<void()>& body);

}  // namespace heddle::lab

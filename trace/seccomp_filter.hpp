// What a seccomp filter says of a system call.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <cstdint>

namespace heddle::trace {

/// The action that a filter takes, as the kernel finds it: classic BPF over struct seccomp_data.
/// SECCOMP_RET_ALLOW for a filter that the kernel refuses. Linear in the filter's length.
[[nodiscard]] std::uint32_t seccomp_action(const sock_fprog& program, const seccomp_data& call);

}  // namespace heddle::trace

#pragma once

#include "heddle/coop/ext/operation.hpp"

namespace heddle::coop::io::detail {

/// Makes the system call, on this thread. Returns what it returned, or -errno. What need not end is
/// first waited for, together with `cancelled_fd`: -ECANCELED if that is readable before.
long perform(const operation& wanted, int cancelled_fd) noexcept;

}  // namespace heddle::coop::io::detail

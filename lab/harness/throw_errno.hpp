#pragma once

namespace heddle::lab {

/// Throws std::system_error for what errno says, after a call of the system that did not succeed;
/// `what` is that call, or what could not be done: `throw_errno("fork(2)")`.
[[noreturn]] void throw_errno(const char* what);

}  // namespace heddle::lab

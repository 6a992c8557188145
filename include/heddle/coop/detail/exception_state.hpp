#pragma once

#include <cxxabi.h>

#include <cstdint>

namespace heddle::coop::detail {

/// The exceptions being handled and thrown, which the C++ runtime keeps once a kernel thread
/// (Itanium C++ ABI 2.2.2, __cxa_eh_globals). Each context needs its own: otherwise a context that
/// yields inside a catch block and rethrows sees the exception that another one caught meanwhile.
struct [[gnu::may_alias]] exception_state {
  void* caught = nullptr;
  unsigned int uncaught = 0;

  /// Whether anything is being handled or thrown.
  [[nodiscard]] bool any() const noexcept {
    return (reinterpret_cast<std::uintptr_t>(caught) | uncaught) != 0;
  }
};

/// The running thread's state; constant for a thread.
inline exception_state* thread_exceptions() noexcept {
  return reinterpret_cast<exception_state*>(abi::__cxa_get_globals());
}

}  // namespace heddle::coop::detail

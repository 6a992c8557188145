// The slow path's shelter: while a Quiet lives, no signal handler runs on this thread (glibc's own
// cancellation and setuid signals included) and errno will be what it was.
#pragma once

#include "sys.hpp"

namespace heddle::trace {

/// Where the stack is about to overflow it must do so before signals are blocked: once they are,
/// the kernel does not call the program's handler, but ends the process.
template <std::size_t bytes>
[[gnu::noinline]] void touch_stack() {
  [[maybe_unused]] volatile char room[bytes];
  room[0] = 0;
}

class [[nodiscard("ends at once")]] Quiet {
 public:
  Quiet() : errno_(errno) {
    const std::uint64_t all = ~std::uint64_t{0};
    arch::syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, &mask_, sizeof mask_);
  }
  ~Quiet() {
    arch::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask_, nullptr, sizeof mask_);
    errno = errno_;
  }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

 private:
  std::uint64_t mask_ = 0;
  int errno_;
};

}  // namespace heddle::trace

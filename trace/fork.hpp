// fork() copies the loader's lock as it is, and glibc does not free it in the child: where another
// thread was inside dl_iterate_phdr, the child's first hook would wait for ever. So a fork waits
// until no hook is there, and while it lasts none goes there.
#pragma once

#include <cstdint>

namespace heddle::trace {

/// In memory that fork wipes. The upper half counts the forks that have begun, the lower one the
/// threads that look at the loader's list.
struct ForkGate {
  std::uint64_t word;
};

/// Allows this thread to call dl_iterate_phdr until leave(). False: another thread forks; come
/// again. Signals blocked.
[[nodiscard("if false, don't")]] bool enter(ForkGate& gate);
void leave(ForkGate& gate);

/// The same, but waits for forks; false after a second, because the forking thread may wait for
/// this one.
[[nodiscard("if false, don't")]] bool enter_when_free(ForkGate& gate);

/// Registers fork's handlers.
void prepare_forks();

}  // namespace heddle::trace

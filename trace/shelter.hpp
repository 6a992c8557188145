// Keeps the program's vector registers, for hooks that must preserve everything: the recorder's own
// code does not use them, but libc's may (dl_iterate_phdr).
#pragma once

#include "arch/x86_64.hpp"

namespace heddle::trace {

/// The vector registers are restored when it ends. They are not kept on the stack: a fiber or a
/// signal handler may not have 2.7 KB left.
///
/// Invariant: no other code uses the memory meanwhile. Signals are blocked, so no handler enters a
/// hook on this thread or jumps away; Busy makes hooks that the recorder causes return before they
/// get here; and the memory is the thread's own, or guarded by a lock.
class [[nodiscard("ends at once")]] Shelter {
 public:
  /// Not `needed` where the compiler expects a call: it keeps nothing in these registers there.
  Shelter(arch::VectorRegisters & memory, bool needed) : memory_(needed ? &memory : nullptr) {
    if (memory_ != nullptr) arch::save(*memory_);
  }
  ~Shelter() {
    if (memory_ != nullptr) arch::restore(*memory_);
  }
  Shelter(const Shelter&) = delete;
  Shelter& operator=(const Shelter&) = delete;

 private:
  arch::VectorRegisters* memory_;
};

}  // namespace heddle::trace

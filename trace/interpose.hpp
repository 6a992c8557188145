// Functions of libc that the recorder stands in front of.
#pragma once

namespace heddle::trace {

/// The function of this name that comes behind ours, if there is one.
[[nodiscard]] void* find_next(const char* name);

/// The same, kept from then on.
template <typename Function>
Function* next(Function*& kept, const char* name) {
  Function* found = __atomic_load_n(&kept, __ATOMIC_RELAXED);
  if (found == nullptr) {
    found = reinterpret_cast<Function*>(find_next(name));
    __atomic_store_n(&kept, found, __ATOMIC_RELAXED);
  }
  return found;
}

/// Finds the real longjmp and sigaltstack, which a signal handler may need first, where dlsym must
/// not be called.
void find_what_handlers_call();

/// Finds the real prctl and syscall (seccomp.cpp), for the same reason.
void find_seccomp();

}  // namespace heddle::trace

// Functions of libc that the recorder stands in front of.
#pragma once

#include <cstdint>

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

/// What a module calls that sees functions which we do not see. The first such module stays in
/// memory, so its answer is kept.
struct Unseen {
  std::uint32_t begun, known;
  const void* module;
  void* function;
};

/// The function of this name that the code at `caller` calls where there is no recorder. A module
/// that was opened for itself alone (RTLD_LOCAL) sees functions that we do not see.
[[nodiscard]] void* find_for(const void* caller, const char* name, Unseen& unseen);

/// The same; one that all see is kept.
template <typename Function>
Function* next_for(const void* caller, Function*& kept, const char* name, Unseen& unseen) {
  Function* found = __atomic_load_n(&kept, __ATOMIC_RELAXED);
  if (found != nullptr) return found;
  if (__atomic_load_n(&unseen.known, __ATOMIC_RELAXED) == 0) found = next(kept, name);
  return found != nullptr ? found : reinterpret_cast<Function*>(find_for(caller, name, unseen));
}

/// Finds the real longjmp and sigaltstack, which a signal handler may need first, where dlsym must
/// not be called.
void find_what_handlers_call();

/// Finds the real prctl and syscall (seccomp.cpp), for the same reason.
void find_seccomp();

}  // namespace heddle::trace

// The objects that threads wait for, by address: counts and holders, in files that outlive the
// process. A table without locks, which signal handlers may use; nothing is ever taken out of it.
#pragma once

#include "../process.hpp"
#include "../words.hpp"
#include "format.hpp"

namespace heddle::trace {

/// Where the program called a function of ours.
struct Caller {
  std::uint64_t site;          ///< the return address
  const std::uint64_t* frame;  ///< the function's frame: the caller's frame pointer is there
};

/// To be used in the very function that the program calls.
#define HEDDLE_CALLER                                                                    \
  (::heddle::trace::Caller{reinterpret_cast<std::uint64_t>(__builtin_return_address(0)), \
                           static_cast<const std::uint64_t*>(__builtin_frame_address(0))})

/// The stack pointer of the code that calls it.
inline std::uint64_t stack_of(const Caller& caller) {
  return reinterpret_cast<std::uint64_t>(caller.frame) + 16;
}

/// In memory that fork wipes: a child counts in files of its own.
struct Objects {
  /// Of the file made last, which is the largest and has most of them: the address, and in its low
  /// bits, which are zeros, by how much a hash of 64 bits is shifted.
  std::uint64_t latest;
  Object* objects[kObjectFiles];
  ObjectsHeader* headers[kObjectFiles];
  const Process* process;
  bool impossible;  ///< nothing of this process is recorded, or there was no room for a file
};

inline constexpr std::uint64_t kLatestShift = 63;

[[gnu::visibility("hidden")]] extern Objects* known_objects;

/// The object at an address, if it has been met; where its place is taken, and further on.
[[nodiscard]] Object* find_further(std::uint64_t address, ObjectKind kind);

/// Likewise; counted if there is no room. Makes the process's files if need be.
[[nodiscard]] Object* meet_object(std::uint64_t address, ObjectKind kind, const Caller& caller);

/// The object at an address begins there, its initialisation says.
void object_made(const void* address, ObjectKind kind, const Caller& caller);

inline bool is_object(const Object& object, std::uint64_t address, ObjectKind kind) {
  return load_word(object.key) == address &&
         static_cast<ObjectKind>(load_word(object.about) & 0xff) == kind;
}

/// The object if it has been met. Null: it was not, or recording is paused, or has ended (seccomp).
[[nodiscard, gnu::always_inline]] inline Object* known_object(const void* at, ObjectKind kind) {
  const Objects* const known = __atomic_load_n(&known_objects, __ATOMIC_ACQUIRE);
  if (known == nullptr) return nullptr;
  const std::uint64_t latest = __atomic_load_n(&known->latest, __ATOMIC_ACQUIRE);
  if (latest == 0 || known->process->paused) return nullptr;
  const auto address = reinterpret_cast<std::uint64_t>(at);
  auto* const objects = reinterpret_cast<Object*>(latest & ~kLatestShift);
  Object& first = objects[hash(address, 64 - static_cast<unsigned>(latest & kLatestShift))];
  return is_object(first, address, kind) ? &first : find_further(address, kind);
}

/// The object, which is met now if it was not before. Null: there is no room, or recording is
/// paused.
[[nodiscard, gnu::always_inline]] inline Object* object_at(const void* at, ObjectKind kind,
                                                           const Caller& caller) {
  Object* const known = known_object(at, kind);
  return known != nullptr ? known : meet_object(reinterpret_cast<std::uint64_t>(at), kind, caller);
}

/// The low half of a return address. Where two modules have code with the same low halves, it is
/// taken for the program's, so it is 0 in any other module. Only of an object that was met.
inline std::uint64_t low_half(std::uint64_t site) {
  const Modules& modules = known_objects->process->modules;
  if (__atomic_load_n(&modules.overlap, __ATOMIC_ACQUIRE)) {
    const std::uint64_t begin = __atomic_load_n(&modules.first_text, __ATOMIC_RELAXED);
    const std::uint64_t size = __atomic_load_n(&modules.first_text_size, __ATOMIC_RELAXED);
    if (site - begin >= size) return 0;
  }
  return site & 0xffffffff;
}

inline std::uint64_t low_site(const Caller& caller) { return low_half(caller.site); }

/// Its number, from 1; 0 of null.
[[nodiscard]] std::uint32_t number_of(const Object* object);

/// The kernel's number of the calling thread; 0 where a seccomp filter bars the recorder.
[[nodiscard]] std::uint32_t own_thread();

/// Makes a forked child ask for that again.
void prepare_own_thread();

/// The low halves of the return addresses of the caller's callers, as far as they keep frame
/// pointers (-O0, -fno-omit-frame-pointer); 0 where that ends. A caller that uses the register for
/// something else gives numbers that mean nothing: who reads them goes beyond a caller only if it
/// is a wrapper of the C++ library's headers, which has a frame pointer where it is not inlined.
void find_callers(std::uint64_t (&callers)[kCallers], const Caller& caller);

/// The calling thread has taken an object, `thread`, for itself alone.
void now_holds(Object& object, std::uint32_t thread, const Caller& caller);

/// Whether a thread is the one that holds it.
inline bool holds(const Object& object, std::uint32_t thread) {
  return static_cast<std::uint32_t>(load_word(object.holder)) == thread;
}

/// It lets go of it.
inline void lets_go(Object& object) {
  store_word(object.holder, load_word(object.holder) | kReleased);
}

inline void count(std::uint64_t& number) { __atomic_fetch_add(&number, 1, __ATOMIC_RELAXED); }

}  // namespace heddle::trace

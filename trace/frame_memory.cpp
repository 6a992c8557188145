#include "frame_memory.hpp"

#include <dlfcn.h>

#include <cstddef>
#include <type_traits>

#include "format.hpp"
#include "frame_search.hpp"
#include "interpose.hpp"
#include "plan.hpp"
#include "words.hpp"

// <stdlib.h> has functions of floating point numbers, which Clang refuses with our flags.
extern "C" {
void* malloc(std::size_t) noexcept;
void* aligned_alloc(std::size_t, std::size_t) noexcept;
void free(void*) noexcept;
}

namespace heddle::trace {

namespace {

using Size = std::size_t;
using New = void*(Size);
using NewQuietly = void*(Size, const void*);
using NewAligned = void*(Size, Size);
using Delete = void(void*);
using DeleteWith = void(void*, Size);
using DeleteWithBoth = void(void*, Size, Size);

constinit New* real_new = nullptr;
constinit NewQuietly* real_new_quietly = nullptr;
constinit NewAligned* real_new_aligned = nullptr;
constinit Delete* real_delete = nullptr;
constinit DeleteWith* real_delete_sized = nullptr;
constinit DeleteWith* real_delete_aligned = nullptr;
constinit DeleteWithBoth* real_delete_both = nullptr;

using Open = void*(const char*, int);
constinit Open* real_open = nullptr;

/// The C++ library's function of this name, if that is loaded.
[[HEDDLE_ALIGNS_STACK]] void* find_in_library(const char* name) {
  Open* const open = next(real_open, "dlopen");
  constexpr const char* kLibraries[] = {"libstdc++.so.6", "libc++.so.1"};
  for (const char* const library : kLibraries) {
    void* const handle = open(library, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) continue;
    if (void* const found = dlsym(handle, name)) return found;
  }
  return nullptr;
}

/// The C++ library's. A program in C may have it by dlopen alone, for its plugins: then it is
/// behind nothing. Null: there is none.
template <typename Function>
Function* behind(Function*& kept, const char* name) {
  if (Function* const found = next(kept, name); found != nullptr) return found;
  auto* const found = reinterpret_cast<Function*>(find_in_library(name));
  if (found != nullptr) __atomic_store_n(&kept, found, __ATOMIC_RELAXED);
  return found;
}

/// Two addresses, a promise and the resume index take more.
constexpr Size kSmallestFrame = 24;
/// What operator new guarantees. So the second word is in the same page as the first.
constexpr std::uint64_t kAlignment = 16;

constexpr std::uint64_t kAddress = (std::uint64_t{1} << 48) - 1;

/// What a form of operator delete with more parameters frees, which may ask the first one to.
constinit __thread const void* freeing = nullptr;

/// What may be frames and was not freed as one, as far as there is room near each one's place.
constexpr unsigned kLiveBits = 16;
constexpr std::uint64_t kProbes = 16;
constinit std::uint64_t live[1u << kLiveBits]{};

std::uint64_t& live_place(std::uint64_t frame, std::uint64_t probe) {
  return live[(hash(frame, kLiveBits) + probe) & ((1u << kLiveBits) - 1)];
}

void keep(std::uint64_t frame) {
  for (std::uint64_t i = 0; i < kProbes; ++i) {
    std::uint64_t& place = live_place(frame, i);
    std::uint64_t known = load_word(place);
    if (known == frame) return;
    if (known == 0 && __atomic_compare_exchange_n(&place, &known, frame, false, __ATOMIC_RELAXED,
                                                  __ATOMIC_RELAXED)) {
      return;
    }
  }
}

void forget(std::uint64_t frame) {
  for (std::uint64_t i = 0; i < kProbes; ++i) {
    std::uint64_t& place = live_place(frame, i);
    if (load_word(place) == frame) store_word(place, 0);
  }
}

/// Tells of the memory if it is a frame's, as far as the code says that asked for it.
void* told(void* memory, Size size, const void* site) {
  const bool asked = __atomic_load_n(&frame_code.told, __ATOMIC_RELAXED);
  if (!asked || size < kSmallestFrame || memory == nullptr) return memory;
  if ((planned_bits(reinterpret_cast<std::uint64_t>(site)) & kMakesFrames) == 0) return memory;
  const auto frame = reinterpret_cast<std::uint64_t>(memory);
  const auto stack = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
  keep(frame);
  heddle_append(first_word(RecordType::kFrameMade, 3, stack & 0xffffffff), frame & kAddress);
  return memory;
}

/// Tells that a frame is gone, if the memory is one, before it is freed.
void tell_freed(const void* memory) {
  const std::uint64_t low = load_word(frame_code.low), high = load_word(frame_code.high);
  // The memory of a program without coroutines is not looked at.
  if (low == high) return;
  const auto frame = reinterpret_cast<std::uint64_t>(memory);
  if (frame == 0 || frame % kAlignment != 0 || memory == freeing) return;
  const std::uint64_t destroyer = static_cast<const std::uint64_t*>(memory)[1];
  if (destroyer - low >= high - low) return;
  if ((planned_bits(destroyer) & kDestroysFrames) == 0) return;
  forget(frame);
  heddle_append(first_word(RecordType::kFrameFreed, 3, destroyer & 0xffffffff), frame & kAddress);
}

/// The function behind ours where no plan has told of a coroutine, else null; null, too, before it
/// was looked for. A program without coroutines pays these two loads and a jump for each call.
template <typename Function>
[[gnu::always_inline]] inline Function* at_once(Function* const& kept) {
  const bool asked = __atomic_load_n(&frame_code.told, __ATOMIC_RELAXED);
  return asked ? nullptr : __atomic_load_n(&kept, __ATOMIC_RELAXED);
}

// What at_once() has no function for. They are functions of their own so that the operators need
// no stack frame; the frame whose address told() takes is then theirs, a few words below.

/// `site` is where the program asked.
template <typename Function, typename... Arguments>
[[gnu::noinline]] void* make(Function*& kept, const char* name, const void* site, Size size,
                             Arguments... arguments) {
  Function* const real = behind(kept, name);
  if (real != nullptr) return told(real(size, arguments...), size, site);
  if constexpr (std::is_same_v<Function, NewAligned>) {
    const Size mask = (arguments, ...) - 1;
    return told(aligned_alloc(mask + 1, (size + mask) & ~mask), size, site);
  } else {
    return told(malloc(size), size, site);
  }
}

template <typename Function, typename... Arguments>
[[gnu::noinline]] void destroy(Function*& kept, const char* name, void* memory,
                               Arguments... arguments) {
  tell_freed(memory);
  // The other forms may ask the first one to free it.
  if constexpr (sizeof...(arguments) != 0) freeing = memory;
  Function* const real = behind(kept, name);
  real != nullptr ? real(memory, arguments...) : free(memory);
  if constexpr (sizeof...(arguments) != 0) freeing = nullptr;
}

}  // namespace

void tell_left_frames() {
  if (!__atomic_load_n(&frame_code.told, __ATOMIC_RELAXED)) return;
  for (const std::uint64_t& place : live) {
    const std::uint64_t frame = load_word(place);
    if (frame == 0) continue;
    // It may be anything by now.
    std::uint64_t words[2];
    if (read_safely(frame, words, sizeof words) != sizeof words) continue;
    const std::uint64_t destroyer = words[1];
    if ((planned_bits(destroyer) & kDestroysFrames) == 0) continue;
    // The first return address that a hook can have in it.
    const std::uint32_t planned = planned_range(destroyer + 1);
    const std::uint64_t offset = planned == kNotPlanned ? 0 : 2 * (planned >> 16);
    // Without debug information the index is not known, but that a frame is there is.
    std::uint16_t index = kNoIndex;
    if (offset != 0 && read_safely(frame + offset, &index, sizeof index) != sizeof index) continue;
    heddle_append(first_word(RecordType::kFrameLeft, 3, destroyer & 0xffffffff),
                  (frame & kAddress) | std::uint64_t{index} << 48);
  }
}

}  // namespace heddle::trace

using namespace heddle::trace;

extern "C" {

/// operator new(std::size_t)
[[gnu::visibility("default")]] void* _Znwm(Size size) {
  if (New* const real = at_once(real_new); real != nullptr) return real(size);
  return make(real_new, "_Znwm", __builtin_return_address(0), size);
}

/// operator new(std::size_t, const std::nothrow_t&)
[[gnu::visibility("default")]] void* _ZnwmRKSt9nothrow_t(Size size, const void* nothrow) {
  if (NewQuietly* const real = at_once(real_new_quietly); real != nullptr) {
    return real(size, nothrow);
  }
  const void* const site = __builtin_return_address(0);
  return make(real_new_quietly, "_ZnwmRKSt9nothrow_t", site, size, nothrow);
}

/// operator new(std::size_t, std::align_val_t)
[[gnu::visibility("default")]] void* _ZnwmSt11align_val_t(Size size, Size alignment) {
  if (NewAligned* const real = at_once(real_new_aligned); real != nullptr) {
    return real(size, alignment);
  }
  const void* const site = __builtin_return_address(0);
  return make(real_new_aligned, "_ZnwmSt11align_val_t", site, size, alignment);
}

/// operator delete(void*)
[[gnu::visibility("default")]] void _ZdlPv(void* memory) {
  if (Delete* const real = at_once(real_delete); real != nullptr) return real(memory);
  destroy(real_delete, "_ZdlPv", memory);
}

/// operator delete(void*, std::size_t)
[[gnu::visibility("default")]] void _ZdlPvm(void* memory, Size size) {
  if (DeleteWith* const real = at_once(real_delete_sized); real != nullptr) {
    return real(memory, size);
  }
  destroy(real_delete_sized, "_ZdlPvm", memory, size);
}

/// operator delete(void*, std::align_val_t)
[[gnu::visibility("default")]] void _ZdlPvSt11align_val_t(void* memory, Size alignment) {
  if (DeleteWith* const real = at_once(real_delete_aligned); real != nullptr) {
    return real(memory, alignment);
  }
  destroy(real_delete_aligned, "_ZdlPvSt11align_val_t", memory, alignment);
}

/// operator delete(void*, std::size_t, std::align_val_t)
[[gnu::visibility("default")]] void _ZdlPvmSt11align_val_t(void* memory, Size size,
                                                           Size alignment) {
  if (DeleteWithBoth* const real = at_once(real_delete_both); real != nullptr) {
    return real(memory, size, alignment);
  }
  destroy(real_delete_both, "_ZdlPvmSt11align_val_t", memory, size, alignment);
}
}

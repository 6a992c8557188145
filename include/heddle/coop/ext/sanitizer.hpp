#pragma once

// Tells AddressSanitizer and ThreadSanitizer about stacks that we switch by hand.
//
// AddressSanitizer: one library serves programs that are compiled with it and programs that are
// not, so everything has the same layout in both. A file compiled with it makes the calls; the
// library, compiled without, makes them in programs that have it, which it sees by weak symbols.
// Other files, without it, are in programs without it, and every call vanishes.
//
// ThreadSanitizer has to see the library's own accesses to memory: a program that is compiled with
// it links only with a library that is.

#if defined(__has_feature)
#define HEDDLE_HAS_FEATURE(x) __has_feature(x)
#else
#define HEDDLE_HAS_FEATURE(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || HEDDLE_HAS_FEATURE(address_sanitizer)
#define HEDDLE_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__) || HEDDLE_HAS_FEATURE(thread_sanitizer)
#define HEDDLE_TSAN 1
#include <sanitizer/tsan_interface.h>
#endif
#undef HEDDLE_HAS_FEATURE

#include <cstddef>

extern "C" {
// As sanitizer/common_interface_defs.h declares them, which not every compiler has.
[[gnu::weak]] void __sanitizer_start_switch_fiber(void** fake_stack_save, const void* bottom,
                                                  std::size_t size);
[[gnu::weak]] void __sanitizer_finish_switch_fiber(void* fake_stack_save, const void** bottom_old,
                                                   std::size_t* size_old);
#if defined(HEDDLE_TSAN)
extern const char heddle_coop_must_be_built_with_fsanitize_thread;
#endif
}

namespace heddle::coop::detail {

#if defined(HEDDLE_TSAN)
// Undefined where the library is built without.
[[gnu::used]] inline const char* const built_with_thread_sanitizer =
    &heddle_coop_must_be_built_with_fsanitize_thread;
#endif

/// Whether the program has AddressSanitizer, in whichever of its files.
[[nodiscard]] inline bool has_address_sanitizer() noexcept {
#if defined(HEDDLE_ASAN)
  return true;
#else
  return &__sanitizer_start_switch_fiber != nullptr;
#endif
}

/// One context's side of the annotations. The order of calls around a switch is
/// `leave(from, to)`, the switch, `arrive(self)` on the other side. Both are always inlined: a
/// function that is entered on one of ThreadSanitizer's fibers and left on another would take a
/// call off the other's stack of calls.
struct sanitizer_fiber {
  struct address_sanitizer_stack {
    const void* bottom = nullptr;
    std::size_t bytes = 0;
    void* fake_stack = nullptr;
    address_sanitizer_stack* resumer = nullptr;
  };

  address_sanitizer_stack* asan = nullptr;  // null: the program is without
#if defined(HEDDLE_TSAN)
  void* fiber = nullptr;
  bool owned = false;
#endif

  /// A blank context: the running stack, whose bounds ASan tells when it is first left.
  void adopt() {
    if (has_address_sanitizer()) asan = new address_sanitizer_stack;
#if defined(HEDDLE_TSAN)
    fiber = __tsan_get_current_fiber();
#endif
  }

  /// A context on a stack of its own.
  void create(const void* stack_bottom, std::size_t stack_bytes) {
    if (has_address_sanitizer()) asan = new address_sanitizer_stack{stack_bottom, stack_bytes};
#if defined(HEDDLE_TSAN)
    fiber = __tsan_create_fiber(0);
    owned = true;
#endif
  }

  void destroy() noexcept {
    delete asan;
#if defined(HEDDLE_TSAN)
    if (owned) __tsan_destroy_fiber(fiber);
#endif
  }

  [[gnu::always_inline]] static void leave([[maybe_unused]] sanitizer_fiber& from,
                                           [[maybe_unused]] sanitizer_fiber& to,
                                           [[maybe_unused]] bool for_ever = false) noexcept {
#if defined(HEDDLE_ASAN) || defined(HEDDLE_BUILDS_COOP)
    if (from.asan != nullptr) [[unlikely]] {
      to.asan->resumer = from.asan;
      __sanitizer_start_switch_fiber(for_ever ? nullptr : &from.asan->fake_stack, to.asan->bottom,
                                     to.asan->bytes);
    }
#endif
#if defined(HEDDLE_TSAN)
    __tsan_switch_to_fiber(to.fiber, 0);
#endif
  }

  [[gnu::always_inline]] static void arrive([[maybe_unused]] sanitizer_fiber& self) noexcept {
#if defined(HEDDLE_ASAN) || defined(HEDDLE_BUILDS_COOP)
    // ASan knows the bounds of the stack that was left; a blank context learns its own this way.
    if (self.asan != nullptr) [[unlikely]] {
      __sanitizer_finish_switch_fiber(self.asan->fake_stack, &self.asan->resumer->bottom,
                                      &self.asan->resumer->bytes);
      self.asan->fake_stack = nullptr;
    }
#endif
  }
};

}  // namespace heddle::coop::detail

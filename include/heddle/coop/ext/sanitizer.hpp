#pragma once

// Tells AddressSanitizer and ThreadSanitizer about stacks that we switch by hand. Without them
// every member is empty and every call vanishes.

#if defined(__has_feature)
#define HEDDLE_HAS_FEATURE(x) __has_feature(x)
#else
#define HEDDLE_HAS_FEATURE(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || HEDDLE_HAS_FEATURE(address_sanitizer)
#define HEDDLE_ASAN 1
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__) || HEDDLE_HAS_FEATURE(thread_sanitizer)
#define HEDDLE_TSAN 1
#include <sanitizer/tsan_interface.h>
#endif
#undef HEDDLE_HAS_FEATURE

#include <cstddef>

namespace heddle::coop::detail {

/// One context's side of the annotations. The order of calls around a switch is
/// `leave(from, to)`, the switch, `arrive(self)` on the other side. Both are always inlined: a
/// function that is entered on one of ThreadSanitizer's fibers and left on another would take a
/// call off the other's stack of calls.
struct sanitizer_fiber {
#if defined(HEDDLE_ASAN)
  void* fake_stack = nullptr;
  const void* bottom = nullptr;
  std::size_t bytes = 0;
  sanitizer_fiber* resumer = nullptr;
#endif
#if defined(HEDDLE_TSAN)
  void* fiber = nullptr;
  bool owned = false;
#endif

  /// A blank context: the running stack, whose bounds ASan tells when it is first left.
  void adopt() noexcept {
#if defined(HEDDLE_TSAN)
    fiber = __tsan_get_current_fiber();
#endif
  }

  /// A context on a stack of its own.
  void create([[maybe_unused]] const void* stack_bottom,
              [[maybe_unused]] std::size_t stack_bytes) noexcept {
#if defined(HEDDLE_ASAN)
    bottom = stack_bottom;
    bytes = stack_bytes;
#endif
#if defined(HEDDLE_TSAN)
    fiber = __tsan_create_fiber(0);
    owned = true;
#endif
  }

  void destroy() noexcept {
#if defined(HEDDLE_TSAN)
    if (owned) __tsan_destroy_fiber(fiber);
#endif
  }

  [[gnu::always_inline]] static void leave([[maybe_unused]] sanitizer_fiber& from,
                                           [[maybe_unused]] sanitizer_fiber& to,
                                           [[maybe_unused]] bool for_ever = false) noexcept {
#if defined(HEDDLE_ASAN)
    to.resumer = &from;
    __sanitizer_start_switch_fiber(for_ever ? nullptr : &from.fake_stack, to.bottom, to.bytes);
#endif
#if defined(HEDDLE_TSAN)
    __tsan_switch_to_fiber(to.fiber, 0);
#endif
  }

  [[gnu::always_inline]] static void arrive([[maybe_unused]] sanitizer_fiber& self) noexcept {
#if defined(HEDDLE_ASAN)
    // ASan knows the bounds of the stack that was left; a blank context learns its own this way.
    __sanitizer_finish_switch_fiber(self.fake_stack, &self.resumer->bottom, &self.resumer->bytes);
    self.fake_stack = nullptr;
#endif
  }
};

}  // namespace heddle::coop::detail

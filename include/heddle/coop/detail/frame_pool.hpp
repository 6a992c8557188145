#pragma once

#include <cstddef>

#include "heddle/coop/detail/thread_local.hpp"
#include "heddle/coop/ext/sanitizer.hpp"

namespace heddle::coop::detail {

/// Recycled memory for what is made and dropped once a strand: coroutine frames and the blocks of
/// strands. Free pieces wait in lists by size, one set of lists a thread; a piece freed on another
/// thread joins that thread's lists, and what a thread leaves when it ends is taken up by others.
///
/// Pieces of one size lie one behind the other in chunks, with nothing between them: strands that
/// are spawned together and take turns are read in the order of their addresses, which processors
/// fetch ahead. Chunks are kept until the process ends.
class frame_pool {
 public:
  /// A piece takes a multiple of so many bytes, and begins at one.
  static constexpr std::size_t granularity = 16;
  /// The largest alignment that a type may ask for: a piece whose size is a multiple of it, or of a
  /// smaller power of two, begins at such a multiple.
  static constexpr std::size_t alignment = 64;
  /// Pieces of these classes are recycled: up to 1 KB.
  static constexpr std::size_t classes = 64;

  static constexpr std::size_t class_of(std::size_t bytes) noexcept {
    return (bytes + granularity - 1) / granularity - 1;
  }

  [[nodiscard]] static void* allocate(std::size_t bytes) {
    const std::size_t size_class = class_of(bytes);
    if (size_class < classes && first_free(size_class) != nullptr) [[likely]] {
      piece* const taken = first_free(size_class);
      set_first_free(size_class, taken->next);
      return taken;
    }
    return allocate_new(bytes);
  }

  static void release(void* memory, std::size_t bytes) noexcept {
#if defined(HEDDLE_ASAN)
    release_new(memory, bytes);  // so that a use after the end is seen
#else
    const std::size_t size_class = class_of(bytes);
#if defined(HEDDLE_BUILDS_COOP)
    const bool recycles = size_class < classes && !has_address_sanitizer();
#else
    const bool recycles = size_class < classes;
#endif
    if (!recycles) [[unlikely]] {
      release_new(memory, bytes);
      return;
    }
    recycle(memory, size_class);
#endif
  }

  /// release(), of a piece of whose type only the size class is known. Not under AddressSanitizer.
  static void recycle(void* memory, std::size_t size_class) noexcept {
    piece* const freed = static_cast<piece*>(memory);
    freed->next = first_free(size_class);
    set_first_free(size_class, freed);
  }

  /// For a thread that frees pieces which other threads allocated: gives the free pieces beyond the
  /// few it is likely to need soon to the process, for any thread to take. O(number of free
  /// pieces).
  static void return_surplus() noexcept;

 private:
  struct piece {
    piece* next;
  };
  // The part of a thread's newest chunk of a size class that is not cut into pieces yet.
  struct chunk_rest {
    std::byte* begin;
    std::byte* end;
    std::size_t chunk_bytes;
  };
  class depot;
  struct at_thread_end;
  static void* allocate_new(std::size_t bytes);
  static void release_new(void* memory, std::size_t bytes) noexcept;

  // Strands that move between threads use it, inlined.
  HEDDLE_THREAD_ACCESS static piece* first_free(std::size_t size_class) noexcept {
    return HEDDLE_OF_THREAD(lists_, "_ZN6heddle4coop6detail10frame_pool6lists_E")[size_class];
  }
  HEDDLE_THREAD_ACCESS static void set_first_free(std::size_t size_class, piece* first) noexcept {
    HEDDLE_OF_THREAD(lists_, "_ZN6heddle4coop6detail10frame_pool6lists_E")[size_class] = first;
  }

  // constinit: without it every use would go through a function that asks whether it is made.
  HEDDLE_THREAD_LOCAL static inline constinit thread_local piece* lists_[classes] = {};
  static inline constinit thread_local chunk_rest rests_[classes] = {};
};

/// Base class of a promise whose coroutine's frame is recycled: a coroutine then costs no call of
/// the allocator.
struct pooled_frame {
  static void* operator new(std::size_t bytes) { return frame_pool::allocate(bytes); }
  static void operator delete(void* frame, std::size_t bytes) noexcept {
    frame_pool::release(frame, bytes);
  }
};

}  // namespace heddle::coop::detail

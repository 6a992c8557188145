#include "heddle/coop/detail/frame_pool.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <new>
#include <utility>

namespace heddle::coop::detail {
namespace {

constexpr std::size_t line_bytes = frame_pool::alignment;
constexpr std::align_val_t line{line_bytes};

}  // namespace

/// The pieces that ended threads and return_surplus() left to the process, and a list of all
/// chunks.
class frame_pool::depot {
 public:
  static depot& process() {
    static depot& of_all = *new depot;  // never destroyed: pieces outlive every thread
    return of_all;
  }

  piece* take(std::size_t size_class) {
    const std::lock_guard lock(mutex_);
    return std::exchange(left_[size_class], nullptr);
  }

  void leave(std::size_t size_class, piece* list) noexcept {
    if (list == nullptr) return;
    piece* last = list;
    while (last->next != nullptr) last = last->next;
    const std::lock_guard lock(mutex_);
    last->next = std::exchange(left_[size_class], list);
  }

  /// The first line of a chunk links it to the others, so that leak checkers see them all.
  std::byte* new_chunk(std::size_t bytes) {
    auto* const chunk = static_cast<std::byte*>(::operator new(bytes, line));
    const std::lock_guard lock(mutex_);
    chunks_ = new (chunk) piece{chunks_};
    return chunk + line_bytes;
  }

 private:
  std::mutex mutex_;
  std::array<piece*, classes> left_{};
  piece* chunks_ = nullptr;
};

// Gives what the thread has to the others.
struct frame_pool::at_thread_end {
  ~at_thread_end() {
    for (std::size_t size_class = 0; size_class < classes; ++size_class) {
      const std::size_t bytes = (size_class + 1) * granularity;
      chunk_rest& rest = rests_[size_class];
      while (rest.begin != rest.end) {
        rest.end -= bytes;
        lists_[size_class] = new (rest.end) piece{lists_[size_class]};
      }
      depot::process().leave(size_class, std::exchange(lists_[size_class], nullptr));
    }
  }
};

void frame_pool::return_surplus() noexcept {
  constexpr int kept = 64;  // of each size
  for (std::size_t size_class = 0; size_class < classes; ++size_class) {
    piece* last = lists_[size_class];
    for (int i = 1; last != nullptr && i < kept; ++i) last = last->next;
    if (last != nullptr) depot::process().leave(size_class, std::exchange(last->next, nullptr));
  }
}

void* frame_pool::allocate_new(std::size_t bytes) {
  // The first chunk of a size is a page: a thread with a strand or two takes little.
  constexpr std::size_t first_chunk = 4 * 1024;
  constexpr std::size_t largest_chunk = 256 * 1024;
  const std::size_t size_class = class_of(bytes);
  if (size_class < classes && !has_address_sanitizer()) {
    static thread_local const at_thread_end leave;
    static_cast<void>(leave);
    chunk_rest& rest = rests_[size_class];
    const std::size_t rounded = (size_class + 1) * granularity;
    if (rest.begin == rest.end) {
      if (piece* const left = depot::process().take(size_class)) {
        lists_[size_class] = left->next;
        return left;
      }
      const std::size_t chunk_bytes = std::clamp(2 * rest.chunk_bytes, first_chunk, largest_chunk);
      std::byte* const chunk = depot::process().new_chunk(chunk_bytes);
      const std::size_t pieces = (chunk_bytes - line_bytes) / rounded;
      rest = {chunk, chunk + pieces * rounded, chunk_bytes};
    }
    return std::exchange(rest.begin, rest.begin + rounded);
  }
  return ::operator new(bytes, line);
}

void frame_pool::release_new(void* memory, std::size_t) noexcept {
  ::operator delete(memory, line);
}

}  // namespace heddle::coop::detail

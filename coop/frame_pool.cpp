#include "heddle/coop/frame_pool.hpp"

#include <new>

namespace heddle::coop::detail {

// Gives the thread's lists back when the thread ends.
struct frame_pool::releaser {
  ~releaser() {
    for (piece*& list : lists_) {
      while (list != nullptr) {
        piece* const next = list->next;
        ::operator delete (list, std::align_val_t{granule});
        list = next;
      }
    }
  }
};

void* frame_pool::allocate_new(std::size_t bytes) {
  static thread_local const releaser at_exit;
  static_cast<void>(at_exit);
  const std::size_t size_class = class_of(bytes);
  // On whole cache lines, so that what a switch touches lies in as few as it can.
  return ::operator new (size_class < classes ? (size_class + 1) * granule : bytes,
                         std::align_val_t{granule});
}

void frame_pool::release_new(void* memory, std::size_t) noexcept {
  ::operator delete (memory, std::align_val_t{granule});
}

}  // namespace heddle::coop::detail

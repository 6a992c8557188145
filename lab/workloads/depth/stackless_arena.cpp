// "We also conduct experiments without memory allocation": frames lie one behind the other in
// memory that is there, as on a stack.
#include <cstddef>
#include <new>

#include "workloads/depth/chain.hpp"

namespace heddle::lab::depth {
namespace {

// Frames are dropped in the reverse order, as those of calls.
class in_an_arena {
 public:
  static void* operator new(std::size_t bytes) {
    bytes = (bytes + alignment - 1) / alignment * alignment;
    if (bytes > static_cast<std::size_t>(arena_ + sizeof arena_ - next_)) throw std::bad_alloc();
    std::byte* const frame = next_;
    next_ += bytes;
    return frame;
  }
  static void operator delete(void* frame) noexcept { next_ = static_cast<std::byte*>(frame); }

 private:
  static constexpr std::size_t alignment = alignof(std::max_align_t);
  alignas(64) static inline std::byte arena_[4 * 1024 * 1024];
  static inline std::byte* next_ = arena_;
};

const model<problem> registered{"stackless/arena", &run_chains<chain<call<in_an_arena, true>>>};

}  // namespace
}  // namespace heddle::lab::depth

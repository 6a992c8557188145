#include "heddle/coop/fiber.hpp"

#include <cstddef>
#include <cstdint>

#include "heddle/coop/scheduler.hpp"

namespace heddle::coop::detail {

void fiber::main(void* argument) {
  fiber& self = *static_cast<fiber*>(argument);
  scheduler& owner = self.owner_;
#if defined(HEDDLE_ASAN)
  constexpr std::uintptr_t page_mask = 4095;
  self.marks_.end = reinterpret_cast<std::byte*>(
      (reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) | page_mask) + 1);
#endif
  for (;;) {
    self.job->resume(self.job);
    current_strand = nullptr;
    self.job->runner = nullptr;
    owner.finish(*self.job);

    strand_block* const to = owner.next();
    if (to != nullptr && to->kind == strand_kind::fiber && to->runner == nullptr) {
      owner.start_on(*to, self);  // without a switch
      continue;
    }
    self.job = nullptr;
    owner.idle_fibers_.push_back(&self);  // has the room: see scheduler::new_fiber
    fiber_context* next = &owner.main_;
    if (to != nullptr && to->runner != nullptr) {
      current_strand = to;
      next = &to->runner->context;
    } else {
      owner.handed_ = to;
    }
    if (fiber_context::transfer(self.context, *next) != resume_reason::run) return;
  }
}

}  // namespace heddle::coop::detail

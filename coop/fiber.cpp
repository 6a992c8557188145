#include "heddle/coop/fiber.hpp"

#include <cstddef>
#include <memory>
#include <new>

#include "heddle/coop/scheduler.hpp"

namespace heddle::coop::detail {

fiber* fiber::make(scheduler& owner, std::size_t stack_bytes, stack_guard guard) {
  static_assert(sizeof(fiber) <= stack::header_bytes);
  stack memory(stack_bytes, guard);
  void* const place = memory.take_from_top(sizeof(fiber), alignof(fiber));
  return new (place) fiber(owner, std::move(memory));
}

void fiber::operator delete(fiber* self, std::destroying_delete_t) noexcept {
  self->context.end();
  const stack memory = std::move(self->context.stack_);  // goes last, with the fiber in it
  self->~fiber();
}

void fiber::main(void* argument) {
  fiber& self = *static_cast<fiber*>(argument);
  scheduler& owner = self.owner_;
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
    if (to != nullptr && to->kind == strand_kind::fiber) {
      current_strand = to;
      next = &to->runner->context;
    } else {
      owner.handed_ = to;
    }
    if (fiber_context::transfer(self.context, *next) != resume_reason::run) return;
  }
}

}  // namespace heddle::coop::detail

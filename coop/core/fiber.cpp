#include "heddle/coop/detail/fiber.hpp"

#include <cstddef>
#include <memory>
#include <new>

#include "heddle/coop/scheduler.hpp"

namespace heddle::coop::detail {

fiber* fiber::make(scheduler& owner, std::size_t size) {
  static_assert(sizeof(fiber) <= stack::header_bytes);
  stack memory(size != 0 ? size : owner.options_.stack_bytes, owner.options_.stack_guard);
  void* const place = memory.take_from_top(sizeof(fiber), alignof(fiber));
  return new (place) fiber(owner, size, std::move(memory));
}

void fiber::operator delete(fiber* self, std::destroying_delete_t) noexcept {
  self->context.end();
  const stack memory = std::move(self->context.stack_);  // goes last, with the fiber in it
  self->~fiber();
}

void fiber::belong_to(scheduler& owner, const fiber_context& home) noexcept {
  owner_ = &owner;
  context.home_ = home.home_;
  context.thread_exceptions_ = home.thread_exceptions_;
}

void fiber::main(void* argument) {
  fiber& self = *static_cast<fiber*>(argument);
  for (;;) {
    self.job->resume(self.job);
    scheduler& owner = *self.owner_;  // where the strand has ended: it may have moved
    set_this_strand(nullptr);
    self.job->runner = nullptr;
    owner.finish(*self.job);

    strand_block* const to = owner.next();
    if (to != nullptr && to->kind == strand_kind::fiber && to->runner == nullptr &&
        to->stack_bytes == self.size) {
      owner.start_on(*to, self);  // without a switch
      continue;
    }
    self.job = nullptr;
    owner.idle_fibers_.add(self);
    fiber_context* next = &owner.main_;
    if (to != nullptr && to->kind == strand_kind::fiber && to->runner != nullptr) {
      set_this_strand(to);
      next = &to->runner->context;
    } else {
      owner.handed_ = to;
    }
    if (fiber_context::transfer(self.context, *next) != resume_reason::run) return;
  }
}

}  // namespace heddle::coop::detail

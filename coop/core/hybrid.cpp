#include "heddle/coop/hybrid.hpp"

#include "heddle/coop/ext/scheduler_access.hpp"

namespace heddle::coop::detail {

void run_on_fiber(strand_block& self, std::coroutine_handle<> start, const end_mark& end) {
  std::coroutine_handle<> next = start;
  for (;;) {
    // To the awaitables inside, the strand is a task: they leave the coroutine to resume in
    // `resume_at`.
    self.kind = strand_kind::task;
    next.resume();
    self.kind = strand_kind::fiber;
    if (end.reached) return;
    next = std::coroutine_handle<>::from_address(self.resume_at);
    if (self.status == strand_status::leaving) [[unlikely]] {
      scheduler_access::leave_for_good(self);
    } else {
      scheduler_access::leave_fiber(self);
    }
  }
}

}  // namespace heddle::coop::detail

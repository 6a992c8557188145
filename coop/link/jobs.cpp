#include <utility>

#include "heddle/coop/detail/link_jobs.hpp"
#include "heddle/coop/detail/link_side.hpp"
#include "heddle/coop/strand.hpp"

namespace heddle::coop::detail {

link_job::link_job(link_side& its_side, link_envelope* its_call) noexcept
    : side(&its_side), call(its_call), next(its_side.jobs().first_) {
  if (next != nullptr) next->previous = this;
  side->jobs().first_ = this;
}

link_job::link_job(link_job&& other) noexcept
    : side(std::exchange(other.side, nullptr)),
      call(other.call),
      strand(other.strand),
      next(other.next),
      previous(other.previous) {
  if (next != nullptr) next->previous = this;
  (previous != nullptr ? previous->next : side->jobs().first_) = this;
}

inline void link_job::leave(link_side& from) noexcept {
  if (next != nullptr) next->previous = previous;
  (previous != nullptr ? previous->next : from.jobs().first_) = next;
  if (strand != nullptr) detail::release(*strand);
}

void link_job::end(const std::exception_ptr& error) noexcept {
  link_side& from = *std::exchange(side, nullptr);
  leave(from);
  if (call != nullptr) {
    if (error) call->error = describe(error);
    settle(*call, error ? call_outcome::failed : call_outcome::replied);
  }
  from.job_ended();
}

link_job::~link_job() {
  if (side == nullptr) return;
  link_side& from = *side;
  leave(from);
  from.jobs().count_ended();
  if (call != nullptr) settle(*call, call_outcome::closed);
  from.release_if_unused();
}

void link_jobs::cancel() noexcept {
  for (link_job* each = first_; each != nullptr;) {
    link_job* const after = each->next;  // one that never ran ends at once
    if (each->strand != nullptr) detail::cancel(*each->strand);
    each = after;
  }
}

void link_jobs::close_calls() noexcept {
  for (link_job* each = first_; each != nullptr; each = each->next) {
    if (each->call == nullptr) continue;
    settle(*std::exchange(each->call, nullptr), call_outcome::closed);
  }
}

}  // namespace heddle::coop::detail

#include "heddle/coop/parallel/move_to.hpp"

#include <stdexcept>
#include <string>

#include "heddle/coop/ext/scheduler_access.hpp"

namespace heddle::coop::parallel::detail {

void require_free() {
  const coop::detail::strand_block* const running = coop::detail::current_strand;
  if (running == nullptr) {
    coop::detail::wait_by_wrong_kind(running, coop::detail::strand_kind::none);
  }
  const coop::detail::strand_block& strand = *running;
  if (group::of(*strand.owner) != nullptr && scheduler_access::can_move(strand)) return;
  throw std::logic_error(
      coop::detail::named(strand) +
      (group::of(*strand.owner) == nullptr
           ? " is in no group, and cannot move to one"
           : " cannot move to another group while others hold its handle, join it, or have "
             "it in a scope or a context: they could not be told of its end there"));
}

}  // namespace heddle::coop::parallel::detail

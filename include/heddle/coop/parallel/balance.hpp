#pragma once

#include "heddle/coop/ext/awaitable.hpp"

namespace heddle::coop::parallel {

/// Says whether the running strand may be moved to another group whenever it is ready and does not
/// run: at its yields, and after its waits. As by move_to(), where groups_options::balance is set:
/// when its group has at least twice as many strands ready as a neighbour, and some more. See
/// move_to() for what such a strand must not have; one that others hold, join or have in a scope
/// stays. The groups are neighbours in the order of their indices, and the last one of the first.
///
/// The paper's border philosophers are such strands: what they use and wait for must be made for
/// several groups; one that has waited for a coop::mutex, a socket or a link may come out of the
/// wait elsewhere. A strand that depends on the group it is in asks for group::current() after each
/// yield and each wait, or says set_movable(false) before. Nothing outside of strands.
inline void set_movable(bool movable = true) {
  coop::detail::strand_block* const self = coop::detail::this_strand();
  if (self != nullptr) self->extra().movable = movable;
}

}  // namespace heddle::coop::parallel

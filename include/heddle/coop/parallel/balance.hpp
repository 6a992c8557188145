#pragma once

#include "heddle/coop/parallel/group.hpp"

namespace heddle::coop::parallel {

/// Says whether the running strand may be moved to another group at each of its yields, as by
/// move_to(), where groups_options::balance is set: when its group has at least twice as many
/// strands ready as a neighbour, and some more. See move_to() for what such a strand must not have;
/// one that others hold, join or have in a scope stays. The groups are neighbours in the order of
/// their indices, and the last one of the first.
///
/// The paper's border philosophers are such strands: what they use of either group must be made for
/// several groups. A strand that depends on the group it is in asks for group::current() after a
/// yield. Nothing outside of strands.
inline void set_movable(bool movable = true) {
  coop::detail::strand_block* const self = coop::detail::this_strand();
  if (self != nullptr) self->extra().movable = movable;
}

}  // namespace heddle::coop::parallel

#pragma once

namespace heddle::lab::surveying {

/// Whether Valgrind keeps what contexts tell it of their stacks.
inline bool stacks_are_registered = true;

/// If it does not: Valgrind forgets all stacks that it has been told of. Nothing happens without
/// Valgrind.
void obey_registration();

/// Says in Valgrind's log that what follows runs on stacks it does not know.
void announce_deregistration();

}  // namespace heddle::lab::surveying

// The interface of a fiber library for fibers that make fibers; one library's file is linked.
#pragma once

namespace library {

/// A new fiber that runs entry(argument). It begins on a strand that truth does not know, when the
/// library says: often long after its maker has gone on, and after others have run.
void make(void (*entry)(void* argument), void* argument);

/// Runs fibers until all have ended; called by the thread that made the first ones.
void run();

/// Lets others run.
void give_way();

}  // namespace library

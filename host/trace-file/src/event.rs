//! One event, as everything beyond this crate sees it.

use crate::{Addr, Nanos};

/// A call entered or left, on the thread whose iterator gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Since the trace's first stamp.
    pub time: Nanos,
    /// Which hooks told of it.
    pub way: Way,
    /// Which of the two, and where.
    pub kind: EventKind,
}

/// The two ways in, by what their events say of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Way {
    /// `-finstrument-functions`: an event has its function's own address, an inlined function has hooks, and the stack pointer may differ between enter and exit.
    #[default]
    Instrumented,
    /// `-mfentry -minstrument-return=call`: an event has an address within its function, another one at each hook; only real calls have hooks, and the stack
    /// pointer is the same at enter and exit.
    Entry,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A function was entered.
    Enter {
        /// The function's address, or one within it: see [`Way`].
        function: Addr,
        /// The return address into the caller: one past the call. An inlined function has its container's.
        caller: Addr,
        /// The stack pointer in the function's frame; [`Way::Entry`]: before it makes one.
        sp: Addr,
    },
    /// A function was left.
    Exit {
        /// The function's address, or one within it: see [`Way`].
        function: Addr,
        /// The stack pointer then. [`Way::Instrumented`]: lower than at the enter after `alloca`, higher when the hook was tail-called.
        sp: Addr,
    },
}

//! One event, as everything beyond this crate sees it.

use crate::{Addr, Nanos};

/// A call entered or left, on the thread whose iterator gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Since the trace's first stamp.
    pub time: Nanos,
    /// Which of the two, and where.
    pub kind: EventKind,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A function was entered.
    Enter {
        /// The function's address.
        function: Addr,
        /// The return address into the caller: one past the call. An inlined function has its container's.
        caller: Addr,
        /// The stack pointer in the function's frame.
        sp: Addr,
    },
    /// A function was left.
    Exit {
        /// The function's address.
        function: Addr,
        /// The stack pointer then: lower than at the enter after `alloca`, higher when the hook was tail-called.
        sp: Addr,
    },
}

//! A finished call.

use heddle_trace_file::{Addr, Nanos};

/// One call on one strand, from enter to exit. Spans of a strand come in the order in which they
/// end: callees before their caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The function's address.
    pub function: Addr,
    /// The return address into the caller; for an inlined function, that of its container.
    pub caller: Addr,
    /// Whether the function was inlined into the frame below it, which then is its real caller.
    pub inlined: bool,
    /// Number of open calls below it.
    pub depth: usize,
    /// When it was entered.
    pub enter: Nanos,
    /// When it ended, as far as is known: see [`Span::end`].
    pub exit: Nanos,
    /// The time that its direct callees took.
    pub callees: Nanos,
    /// How it ended.
    pub end: End,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By its exit event.
    Returned,
    /// Without one, by `longjmp` or the like, or in a gap: `exit` is the first event that shows it
    /// gone.
    Unwound,
    /// Not at all: `exit` is the thread's last event.
    Open,
}

impl Span {
    /// From enter to exit.
    pub fn duration(&self) -> Nanos {
        self.exit - self.enter
    }

    /// The part of the duration that it did not spend in instrumented callees.
    pub fn own(&self) -> Nanos {
        self.duration() - self.callees
    }
}

/// What did not pair up; all of it is to be told to the user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loose {
    /// Exits without an open call: recording began inside it (as in a forked child whose parent's
    /// calls are not known), or went on inside it behind a gap.
    pub unmatched: u64,
    /// Calls that ended without an exit.
    pub unwound: u64,
    /// Calls still open at the end of their thread's events.
    pub open: u64,
}

impl std::ops::AddAssign for Loose {
    fn add_assign(&mut self, other: Loose) {
        self.unmatched += other.unmatched;
        self.unwound += other.unwound;
        self.open += other.open;
    }
}

//! Counts of what the decoder could not tell.

/// Events whose strand, or strands whose origin, nothing in the trace says: counted by kind, never
/// guessed in silence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unresolved {
    /// Enters and exits that were placed.
    pub events: u64,
    /// Enters among them, and the calls that the process began inside.
    pub calls: u64,
    /// Exits that belong to no open call: recording began inside it.
    pub exits: u64,
    /// Enters whose caller is instrumented, and is open nowhere: recording began inside it, or
    /// events are missing.
    pub enters: u64,
    /// Calls of uninstrumented code outside all known stacks that could have been on more than one
    /// strand.
    pub ambiguous: u64,
    /// Coroutines whose maker is unknown: the tree has them below the strand that ran them first.
    pub parents: u64,
    /// Fibers whose maker is unknown: the tree has them below the thread that ran them first.
    pub fibers: u64,
    /// Strands that are not sure ([`crate::Strand::is_sure`]).
    pub unsure: u64,
    /// Threads among them: marks on them may be another strand's.
    pub unsure_threads: u64,
    /// Coroutines among them: their calls may be other instances'.
    pub unsure_coroutines: u64,
    /// Calls on those that are no threads.
    pub unsure_calls: u64,
}

impl Unresolved {
    /// All events that could not be placed for certain.
    pub fn unplaced(&self) -> u64 {
        self.exits + self.enters + self.ambiguous
    }

    /// The share of calls that are on strands that are sure: from 0 to 1.
    pub fn confidence(&self) -> f64 {
        1.0 - self.unsure_calls as f64 / self.calls.max(1) as f64
    }
}

impl std::ops::AddAssign for Unresolved {
    fn add_assign(&mut self, other: Unresolved) {
        self.events += other.events;
        self.calls += other.calls;
        self.exits += other.exits;
        self.enters += other.enters;
        self.ambiguous += other.ambiguous;
        self.parents += other.parents;
        self.fibers += other.fibers;
        self.unsure += other.unsure;
        self.unsure_threads += other.unsure_threads;
        self.unsure_coroutines += other.unsure_coroutines;
        self.unsure_calls += other.unsure_calls;
    }
}

//! Counts of what the decoder could not tell.

/// Events whose strand, or strands whose origin, nothing in the trace says: counted by kind, never
/// guessed in silence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unresolved {
    /// Enters and exits that were placed.
    pub events: u64,
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
    /// Fibers whose maker is unknown: the tree has them below the strand that ran them first, or
    /// below that one's maker.
    pub fibers: u64,
}

impl Unresolved {
    /// All events that could not be placed for certain.
    pub fn unplaced(&self) -> u64 {
        self.exits + self.enters + self.ambiguous
    }
}

impl std::ops::AddAssign for Unresolved {
    fn add_assign(&mut self, other: Unresolved) {
        self.events += other.events;
        self.exits += other.exits;
        self.enters += other.enters;
        self.ambiguous += other.ambiguous;
        self.parents += other.parents;
        self.fibers += other.fibers;
    }
}

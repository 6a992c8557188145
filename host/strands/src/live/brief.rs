//! Strands that have ended, in the few bytes that they lived in.

use super::{Live, NOWHERE, Slots};
use crate::strand::Strand;
use heddle_trace_file::{Addr, Nanos};

/// A strand that has ended, in few bytes: a sink that keeps no more than those need not have the
/// whole made of them.
pub struct Brief<'a> {
    pub(super) slots: &'a Slots,
    pub(super) slot: u32,
    pub(crate) live: &'a Live,
    /// How long it was suspended when it ended, or the trace did: not among its times yet.
    pub(crate) rests: u64,
    /// See [`Strand::died`].
    pub(crate) died: u64,
}

impl Brief<'_> {
    /// All that is known of it.
    #[inline(always)]
    pub fn strand(&self) -> Strand {
        let mut strand = self.slots.strand_of(self.slot, self.live);
        strand.died = self.died;
        strand.rests = Nanos(self.rests);
        strand.suspended.0 = strand.suspended.0.saturating_add(self.rests);
        strand
    }

    /// The index of its process in the trace.
    pub(crate) fn process(&self) -> usize {
        self.slots.next.process()
    }

    /// See [`Strand::entry`].
    #[inline]
    pub(crate) fn entry(&self) -> Addr {
        self.slots.entries.all[usize::from(self.live.entry)].1
    }

    /// The number of threads that it ran on.
    pub(crate) fn threads(&self) -> u8 {
        u8::from(self.live.on != NOWHERE)
    }
}

//! Strands in few bytes: those that live, and those that have ended, as sinks are told of them.

use crate::kind_and_doubts::KindAndDoubts;
use crate::short::Short;
use crate::strand::NEVER;
use crate::{Kind, Strand, StrandId};
use heddle_trace_file::{Addr, Nanos};

/// A strand that may be heard of again, in few bytes.
#[derive(Clone, Copy, Debug)]
#[repr(Rust, packed(2))]
pub(crate) struct Live {
    /// Its number in its process.
    pub number: u32,
    /// The numbers of strands of its process; 0: none.
    pub parent: u32,
    pub resumer: u32,
    pub calls: u32,
    pub activations: u32,
    pub born: Short,
    pub last: Short,
    pub running: Short,
    pub children: Short,
    pub suspended: Short,
    pub left_at: Short,
    /// A coroutine has the address of its frame here, another strand the time at which it died; 0
    /// says that this is not known.
    pub frame: Short,
    pub resume_index: u16,
    /// The number of its coroutine and entry, among those of [`crate::live::Slots`].
    pub entry: u16,
    pub thread: u16,
    /// The thread that it ran on last, or [`NOWHERE`].
    pub on: u16,
    /// Open activations of a coroutine: more than one where it is destroyed from inside.
    pub open: u8,
    pub kind: KindAndDoubts,
    pub state: u8,
}

// A million coroutines may be alive at once.
const _: () = assert!(size_of::<Option<Live>>() <= 74);

/// Stands for no thread.
pub(crate) const NOWHERE: u16 = u16::MAX;

impl Live {
    /// The strand in these bytes, with the index of its process and its entry: all that is known of
    /// one that has no words.
    #[inline(always)]
    pub fn strand(&self, slot: u32, (process, entry): (usize, Addr)) -> Strand {
        let other = |number: u32| (number != 0).then(|| StrandId::numbered(process, number.into()));
        let frame = self.frame.get();
        let (frame, died) = match self.kind.kind() {
            Kind::Coroutine => (Some(Addr(frame)).filter(|_| frame != 0), NEVER),
            _ if frame == 0 => (None, NEVER),
            _ => (None, frame),
        };
        Strand {
            id: StrandId::numbered(process, self.number.into()),
            parent: other(self.parent),
            resumer: other(self.resumer),
            frame,
            born: Nanos(self.born.get()),
            last: Nanos(self.last.get()),
            activations: self.activations.into(),
            running: Nanos(self.running.get()),
            children: Nanos(self.children.get()),
            suspended: Nanos(self.suspended.get()),
            rests: Nanos(0),
            calls: self.calls.into(),
            died,
            entry,
            left_at: Addr(self.left_at.get()),
            words: None,
            thread: self.thread.into(),
            threads: u32::from(self.on != NOWHERE),
            slot,
            resume_index: self.resume_index,
            kind: self.kind.kind(),
            doubts: self.kind.doubts(),
        }
    }
}

/// A strand that has ended, in few bytes: a sink that keeps no more than those need not have the
/// whole made of them.
pub struct Brief<'a> {
    pub(crate) live: &'a Live,
    pub(crate) slot: u32,
    /// The index of its process in the trace.
    pub(crate) process: usize,
    pub(crate) entry: Addr,
    /// How long it was suspended when it ended, or the trace did: not among its times yet.
    pub(crate) rests: u64,
    pub(crate) died: u64,
}

impl Brief<'_> {
    /// All that is known of it.
    #[inline(always)]
    pub fn strand(&self) -> Strand {
        let mut strand = self.live.strand(self.slot, (self.process, self.entry));
        strand.died = self.died;
        strand.rests = Nanos(self.rests);
        strand.suspended.0 = strand.suspended.0.saturating_add(self.rests);
        strand
    }
}

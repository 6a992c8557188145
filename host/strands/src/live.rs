//! The strands that live, in slots that are used again.

use crate::sink::Sink;
use crate::{Kind, Strand, StrandId};
use heddle_trace_file::{Addr, Nanos, Thread};
use std::cmp::Reverse;
use std::ops::{Index, IndexMut};

/// A strand that may be heard of again.
#[derive(Clone, Debug)]
pub(crate) struct Live {
    pub strand: Strand,
    /// Open activations of a coroutine: more than one where it is destroyed from inside.
    pub open: u32,
    /// The coroutine that it is an instance of.
    pub coroutine: u32,
    /// The thread that it ran on last, or [`NOWHERE`].
    on: u32,
    /// It has been destroyed, though calls of it may be open.
    pub dying: bool,
    /// It was made, but no call of it was entered yet.
    pub fresh: bool,
}

const NOWHERE: u32 = u32::MAX;

// A million coroutines may be alive at once.
const _: () = assert!(size_of::<Option<Live>>() <= 152);

impl Live {
    /// It goes on to run, on this thread.
    pub fn run_on(&mut self, thread: usize) {
        self.strand.activations += 1;
        let thread = thread as u32;
        match std::mem::replace(&mut self.on, thread) {
            before if before == thread => {}
            NOWHERE => self.strand.threads = 1,
            before => {
                let visited = &mut self.strand.words().visited;
                // Most stay where they are.
                if visited.is_empty() {
                    visited.push(before);
                }
                if !visited.contains(&thread) {
                    visited.push(thread);
                    self.strand.threads = visited.len() as u32;
                }
            }
        }
    }

    /// Where a coroutine's frame is.
    pub fn address(&self) -> Addr {
        self.strand.frame.map_or(Addr(0), |frame| frame.address())
    }

    /// Time of a strand with a stack of its own, when that is done with.
    pub fn account(&mut self, until: u64, suspended: u64, nested: u64) {
        let alive = until.saturating_sub(self.strand.born.0);
        self.strand.suspended = Nanos(suspended.min(alive));
        self.strand.children = Nanos(nested);
        self.strand.running = Nanos(alive.saturating_sub(suspended).saturating_sub(nested));
        self.strand.last = Nanos(until);
    }
}

/// Live strands by slot.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    slots: Vec<Option<Live>>,
    free: Vec<u32>,
    next: StrandId,
}

impl Slots {
    /// Makes slots whose strands are numbered from `first`.
    pub fn new(first: StrandId) -> Self {
        Slots {
            slots: Vec::new(),
            free: Vec::new(),
            next: first,
        }
    }

    /// A thread, which has its number already.
    pub fn add_thread(&mut self, id: StrandId, index: usize, thread: &Thread) -> u32 {
        self.put(index as u32, |slot| {
            Strand::of_thread(id, index, thread, slot)
        })
    }

    /// A new strand of another kind.
    pub fn add(&mut self, kind: Kind, thread: usize, born: Nanos) -> u32 {
        let id = self.next;
        self.next = id.next();
        self.put(NOWHERE, |slot| Strand::new(id, kind, thread, born, slot))
    }

    fn put(&mut self, on: u32, strand: impl FnOnce(u32) -> Strand) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() as u32 - 1
        });
        self.slots[slot as usize] = Some(Live {
            strand: strand(slot),
            open: 0,
            coroutine: 0,
            on,
            dying: false,
            fresh: false,
        });
        slot
    }

    /// The strand in this slot has ended.
    pub fn end(&mut self, slot: u32, died: u64, sink: &mut impl Sink) {
        if let Some(mut live) = self.slots[slot as usize].take() {
            live.strand.is_gone(Nanos(died));
            sink.ended(&live.strand);
            self.free.push(slot);
        }
    }

    /// The strands that there are have not ended, but nothing more will be heard of them: in order
    /// of their numbers.
    pub fn finish(&mut self, sink: &mut impl Sink) {
        /// The memory of so many slots at once is given back to the system, so that a sink that
        /// keeps all strands needs their memory only once.
        const TOGETHER: usize = 1 << 14;
        let mut slots = std::mem::take(&mut self.slots);
        slots.retain(Option::is_some);
        slots.sort_unstable_by_key(|live| Reverse(live.as_ref().map(|live| live.strand.id)));
        while let Some(live) = slots.pop() {
            if let Some(live) = live {
                sink.ended(&live.strand);
            }
            if slots.len() % TOGETHER == 0 {
                slots.shrink_to_fit();
            }
        }
    }

    /// Whether this strand is in this slot.
    pub fn holds(&self, slot: u32, id: StrandId) -> bool {
        let live = self.slots[slot as usize].as_ref();
        live.is_some_and(|live| live.strand.id == id)
    }
}

impl Index<u32> for Slots {
    type Output = Live;

    #[inline]
    fn index(&self, slot: u32) -> &Live {
        match &self.slots[slot as usize] {
            Some(live) => live,
            None => unreachable!("a slot is held as long as a call or a stack has its number"),
        }
    }
}

impl IndexMut<u32> for Slots {
    #[inline]
    fn index_mut(&mut self, slot: u32) -> &mut Live {
        match &mut self.slots[slot as usize] {
            Some(live) => live,
            None => unreachable!("a slot is held as long as a call or a stack has its number"),
        }
    }
}

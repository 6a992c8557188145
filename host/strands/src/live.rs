//! The strands that live, in slots that are used again.

use crate::sink::Sink;
use crate::{Kind, Strand, StrandId};
use heddle_trace_file::{Addr, Nanos};
use std::ops::{Index, IndexMut};

/// A strand that may be heard of again.
#[derive(Clone, Debug)]
pub(crate) struct Live {
    pub strand: Strand,
    /// Open activations of a coroutine: more than one where it is destroyed from inside.
    pub open: u32,
    /// It has been destroyed, though calls of it may be open.
    pub dying: bool,
    /// Since when it is suspended.
    pub since: u64,
    /// Which coroutine it is an instance of, and where its frame is.
    pub coroutine: u32,
    pub address: Addr,
    /// The thread that it ran on last.
    pub on: Option<usize>,
    pub visited: Vec<usize>,
}

impl Live {
    /// It goes on to run, on this thread.
    pub fn run_on(&mut self, thread: usize) {
        self.strand.activations += 1;
        match self.on.replace(thread) {
            Some(before) if before == thread => {}
            None => self.strand.threads = 1,
            Some(before) => {
                // Most stay where they are.
                if self.visited.is_empty() {
                    self.visited.push(before);
                }
                if !self.visited.contains(&thread) {
                    self.visited.push(thread);
                    self.strand.threads = self.visited.len() as u32;
                }
            }
        }
    }

    /// Time of a strand with a stack of its own, when that is done with.
    pub fn account(&mut self, until: u64, away: u64, nested: u64) {
        let alive = until.saturating_sub(self.strand.born.0);
        self.strand.suspended = Nanos(away.min(alive));
        self.strand.children = Nanos(nested);
        self.strand.running = Nanos(alive.saturating_sub(away).saturating_sub(nested));
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
    /// Whose strands are numbered from `first`.
    pub fn new(first: StrandId) -> Self {
        Slots {
            slots: Vec::new(),
            free: Vec::new(),
            next: first,
        }
    }

    /// A thread, which has its number already.
    pub fn add_thread(&mut self, id: StrandId, thread: usize, born: Nanos) -> u32 {
        self.put(id, Kind::Thread, thread, born)
    }

    /// A new strand of another kind.
    pub fn add(&mut self, kind: Kind, thread: usize, born: Nanos) -> u32 {
        let id = self.next;
        self.next = id.next();
        self.put(id, kind, thread, born)
    }

    fn put(&mut self, id: StrandId, kind: Kind, thread: usize, born: Nanos) -> u32 {
        let live = Live {
            strand: Strand::new(id, kind, thread, born),
            open: 0,
            dying: false,
            since: born.0,
            coroutine: 0,
            address: Addr(0),
            on: (kind == Kind::Thread).then_some(thread),
            visited: Vec::new(),
        };
        match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = Some(live);
                slot
            }
            None => {
                self.slots.push(Some(live));
                self.slots.len() as u32 - 1
            }
        }
    }

    /// The strand in this slot has ended.
    pub fn end(&mut self, slot: u32, died: u64, sink: &mut impl Sink) {
        if let Some(mut live) = self.slots[slot as usize].take() {
            live.strand.died = live.strand.died.or(Some(Nanos(died)));
            sink.ended(&live.strand);
            self.free.push(slot);
        }
    }

    /// The strand in this slot has not ended, but nothing more will be heard of it.
    pub fn finish(&mut self, slot: u32, sink: &mut impl Sink) {
        if let Some(live) = self.slots[slot as usize].take() {
            sink.ended(&live.strand);
        }
    }

    /// The slots in use, in order of the strands' numbers.
    pub fn all(&self) -> Vec<u32> {
        let mut all: Vec<u32> = (0..self.slots.len() as u32)
            .filter(|&slot| self.slots[slot as usize].is_some())
            .collect();
        all.sort_by_key(|&slot| self[slot].strand.id);
        all
    }

    /// Whether a strand is in this slot.
    pub fn holds(&self, slot: u32) -> bool {
        self.slots[slot as usize].is_some()
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

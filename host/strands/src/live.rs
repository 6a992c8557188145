//! The strands that live, in slots that are used again.

use crate::sink::Sink;
use crate::{Kind, Strand, StrandId, Unresolved};
use heddle_trace_file::{Addr, Nanos, Thread};
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

/// Live strands by slot. They lie in pieces of [`PIECE`] slots: when a million have been alive and
/// end one after another, the memory of each piece is given back while a sink takes more for them.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    /// All but the last are whole, or given back: then they are empty.
    pieces: Vec<Vec<Option<Live>>>,
    /// The number of strands in each.
    taken: Vec<u32>,
    /// A piece without strands that is kept, because the next strand may need it.
    spare: Vec<Option<Live>>,
    free: Vec<u32>,
    next: StrandId,
    /// Those that have ended and are not sure.
    unsure: Unresolved,
}

/// Slots in a piece. Each has 10 MB: smaller ones might be kept by the allocator.
const PIECE: usize = 1 << 16;

impl Slots {
    /// Makes slots whose strands are numbered from `first`.
    pub fn new(first: StrandId) -> Self {
        Slots {
            pieces: Vec::new(),
            taken: Vec::new(),
            spare: Vec::new(),
            free: Vec::new(),
            next: first,
            unsure: Unresolved::default(),
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
        let slot = self.free.pop().unwrap_or_else(|| self.one_more());
        let (piece, place) = (slot as usize / PIECE, slot as usize % PIECE);
        if self.pieces[piece].is_empty() {
            self.pieces[piece] = std::mem::take(&mut self.spare);
            self.pieces[piece].resize(PIECE, None);
        }
        self.taken[piece] += 1;
        self.pieces[piece][place] = Some(Live {
            strand: strand(slot),
            open: 0,
            coroutine: 0,
            on,
            dying: false,
            fresh: false,
        });
        slot
    }

    /// A slot that was never used.
    fn one_more(&mut self) -> u32 {
        if self
            .pieces
            .last()
            .is_none_or(|last| last.len() >= PIECE || last.is_empty())
        {
            self.pieces.push(Vec::new());
            self.taken.push(0);
        }
        let piece = self.pieces.len() - 1;
        let last = &mut self.pieces[piece];
        last.push(None);
        (piece * PIECE + last.len() - 1) as u32
    }

    /// Takes the strand out of this slot.
    fn take(&mut self, slot: u32) -> Option<Live> {
        let (piece, place) = (slot as usize / PIECE, slot as usize % PIECE);
        let live = self.pieces[piece].get_mut(place)?.take()?;
        self.taken[piece] -= 1;
        if self.taken[piece] == 0 && self.pieces[piece].len() == PIECE {
            self.spare = std::mem::take(&mut self.pieces[piece]);
        }
        Some(live)
    }

    /// The strand in this slot has ended.
    pub fn end(&mut self, slot: u32, died: u64, sink: &mut impl Sink) {
        if let Some(mut live) = self.take(slot) {
            live.strand.is_gone(Nanos(died));
            self.note_doubts(&live.strand);
            sink.ended(&live.strand);
            self.free.push(slot);
        }
    }

    /// The strands that there are have not ended, but nothing more will be heard of them: in order
    /// of their numbers.
    pub fn finish(&mut self, sink: &mut impl Sink) {
        let slots = 0..(self.pieces.len() * PIECE) as u32;
        let mut slots: Vec<u32> = slots.filter(|&slot| self.get(slot).is_some()).collect();
        slots.sort_unstable_by_key(|&slot| self.get(slot).map(|live| live.strand.id));
        for slot in slots {
            if let Some(live) = self.take(slot) {
                self.note_doubts(&live.strand);
                sink.ended(&live.strand);
            }
        }
    }

    #[inline]
    fn get(&self, slot: u32) -> Option<&Live> {
        let piece = &self.pieces[slot as usize / PIECE];
        piece.get(slot as usize % PIECE)?.as_ref()
    }

    fn note_doubts(&mut self, strand: &Strand) {
        if !strand.is_sure() {
            self.unsure.unsure += 1;
            // Nobody else has made a thread's calls.
            match strand.kind {
                Kind::Thread => self.unsure.unsure_threads += 1,
                _ => self.unsure.unsure_calls += strand.calls,
            }
        }
    }

    /// The counts of the strands that have ended and are not sure.
    pub fn unsure(&self) -> Unresolved {
        self.unsure
    }

    /// Whether this strand is in this slot.
    pub fn holds(&self, slot: u32, id: StrandId) -> bool {
        let live = self.get(slot);
        live.is_some_and(|live| live.strand.id == id)
    }
}

impl Index<u32> for Slots {
    type Output = Live;

    #[inline]
    fn index(&self, slot: u32) -> &Live {
        match &self.pieces[slot as usize / PIECE][slot as usize % PIECE] {
            Some(live) => live,
            None => unreachable!("a slot is held as long as a call or a stack has its number"),
        }
    }
}

impl IndexMut<u32> for Slots {
    #[inline]
    fn index_mut(&mut self, slot: u32) -> &mut Live {
        match &mut self.pieces[slot as usize / PIECE][slot as usize % PIECE] {
            Some(live) => live,
            None => unreachable!("a slot is held as long as a call or a stack has its number"),
        }
    }
}

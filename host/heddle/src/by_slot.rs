//! Strands that live, in an array by their slots, so that the strand of a call is found at once.

use heddle_strands::{Strand, StrandId};
use rustc_hash::FxHashMap;
use std::cell::Cell;

/// What is kept of each strand that lives, in a part of a process.
pub struct BySlot<T> {
    /// By [`Strand::slot`].
    all: Vec<Option<T>>,
    slots: Slots,
}

impl<T> Default for BySlot<T> {
    fn default() -> Self {
        BySlot {
            all: Vec::new(),
            slots: Slots::default(),
        }
    }
}

impl<T> BySlot<T> {
    /// Keeps this of a strand that was born.
    pub fn insert(&mut self, strand: &Strand, kept: T) {
        let slot = strand.slot as usize;
        if slot >= self.all.len() {
            self.all.resize_with(slot + 1, || None);
        }
        self.all[slot] = Some(kept);
        self.slots.insert(strand.id, strand.slot);
    }

    /// Forgets a strand that has ended, whose slot another one may get; gives what was kept of it.
    pub fn remove(&mut self, strand: &Strand) -> Option<T> {
        self.slots.remove(strand.id)?;
        let kept = self.all.get_mut(strand.slot as usize)?.take();
        if self.slots.is_empty() {
            // There may be ten thousand threads, each with its own.
            *self = BySlot::default();
        }
        kept
    }

    /// What is kept of the strand in this slot.
    #[inline]
    pub fn at(&mut self, slot: u32) -> Option<&mut T> {
        self.all.get_mut(slot as usize)?.as_mut()
    }

    /// What is kept of this strand.
    #[inline]
    pub fn of(&self, strand: StrandId) -> Option<&T> {
        self.all.get(self.slot(strand)? as usize)?.as_ref()
    }

    /// The same, to be changed.
    #[inline]
    pub fn of_mut(&mut self, strand: StrandId) -> Option<&mut T> {
        self.at(self.slot(strand)?)
    }

    /// The slot of this strand.
    #[inline]
    pub fn slot(&self, strand: StrandId) -> Option<u32> {
        self.slots.get(strand)
    }

    /// What is kept of each strand, in the order of their slots.
    pub fn each(&mut self) -> impl Iterator<Item = &mut T> {
        self.all.iter_mut().flatten()
    }

    /// Whether no strand lives.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }
}

/// Strands' slots. Those of neighbouring numbers lie together: such strands mostly live at the same
/// time and run one after another, so that a million of them are found in few bytes.
#[derive(Default)]
struct Slots {
    /// By number without its lowest bits; none is empty.
    pieces: FxHashMap<u64, Box<Piece>>,
    /// The strand that was looked for last: it is asked for many times at a time.
    latest: Cell<Option<(StrandId, u32)>>,
}

/// Strands in a piece.
const TOGETHER: usize = 64;
/// No strand has so high a slot.
const NONE: u32 = u32::MAX;

struct Piece {
    slots: [u32; TOGETHER],
    /// The number of those that are some strand's.
    taken: usize,
}

/// In which piece a strand is, and where.
#[inline]
fn place(strand: StrandId) -> (u64, usize) {
    let number = strand.unique();
    let together = TOGETHER as u64;
    (number / together, (number % together) as usize)
}

impl Slots {
    fn insert(&mut self, strand: StrandId, slot: u32) {
        let (piece, at) = place(strand);
        let piece = self.pieces.entry(piece).or_insert_with(|| {
            Box::new(Piece {
                slots: [NONE; TOGETHER],
                taken: 0,
            })
        });
        let before = std::mem::replace(&mut piece.slots[at], slot);
        piece.taken += usize::from(before == NONE);
        self.latest.set(Some((strand, slot)));
    }

    fn remove(&mut self, strand: StrandId) -> Option<u32> {
        self.latest.set(None);
        let (number, at) = place(strand);
        let piece = self.pieces.get_mut(&number)?;
        let slot = std::mem::replace(&mut piece.slots[at], NONE);
        if slot == NONE {
            return None;
        }
        piece.taken -= 1;
        if piece.taken == 0 {
            self.pieces.remove(&number);
        }
        Some(slot)
    }

    #[inline]
    fn get(&self, strand: StrandId) -> Option<u32> {
        match self.latest.get() {
            Some((latest, slot)) if latest == strand => Some(slot),
            _ => self.find(strand),
        }
    }

    fn find(&self, strand: StrandId) -> Option<u32> {
        let (number, at) = place(strand);
        let slot = self.pieces.get(&number)?.slots[at];
        if slot == NONE {
            return None;
        }
        self.latest.set(Some((strand, slot)));
        Some(slot)
    }

    fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strand_is_found_while_it_lives() {
        let strand = |index| StrandId::of_thread(1, index);
        let mut slots = Slots::default();
        // The first three numbers lie in one piece, the others in a piece each.
        let all = [0, 1, TOGETHER - 2, TOGETHER - 1, 5 * TOGETHER];
        for (slot, &index) in all.iter().enumerate() {
            assert_eq!(slots.get(strand(index)), None);
            slots.insert(strand(index), slot as u32);
        }
        for (slot, &index) in all.iter().enumerate() {
            assert_eq!(slots.get(strand(index)), Some(slot as u32));
            assert_eq!(slots.get(strand(index + 2)), None);
        }
        assert_eq!(slots.get(StrandId::of_thread(0, 1)), None);
        for (slot, &index) in all.iter().enumerate() {
            assert!(!slots.is_empty());
            assert_eq!(slots.get(strand(index)), Some(slot as u32));
            assert_eq!(slots.remove(strand(index)), Some(slot as u32));
            assert_eq!(slots.get(strand(index)), None);
            assert_eq!(slots.remove(strand(index)), None);
        }
        assert!(slots.is_empty());
    }
}

//! Strands that live, in an array by their slots, so that the strand of a call is found at once.

use heddle_strands::{Strand, StrandId};
use rustc_hash::FxHashMap;

/// What is kept of each strand that lives, in a part of a process.
pub struct BySlot<T> {
    /// By [`Strand::slot`].
    all: Vec<Option<T>>,
    slots: FxHashMap<StrandId, u32>,
}

impl<T> Default for BySlot<T> {
    fn default() -> Self {
        BySlot {
            all: Vec::new(),
            slots: FxHashMap::default(),
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
        self.slots.remove(&strand.id)?;
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
    pub fn of(&self, strand: StrandId) -> Option<&T> {
        self.all.get(self.slot(strand)? as usize)?.as_ref()
    }

    /// The same, to be changed.
    pub fn of_mut(&mut self, strand: StrandId) -> Option<&mut T> {
        self.at(self.slot(strand)?)
    }

    /// The slot of this strand.
    pub fn slot(&self, strand: StrandId) -> Option<u32> {
        self.slots.get(&strand).copied()
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

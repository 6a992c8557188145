//! Sums of what is too short to be kept: by row, depth, column of time, and what it is.
//!
//! Columns are as narrow as there is room for: when there are too many cells, each two columns
//! become one.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// What of a sum there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key {
    /// A strand's index, or beyond those a group's.
    pub row: u32,
    /// Calls around it.
    pub depth: u32,
    /// Of time.
    pub column: u64,
    /// A function, a reason or a group.
    pub what: u32,
}

/// A sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// Of what.
    pub key: Key,
    /// How many.
    pub count: u64,
    /// How long in all.
    pub time: u64,
    /// How long themselves.
    pub own: u64,
}

/// The sums so far.
#[derive(Debug)]
pub struct Cells {
    sums: FxHashMap<Key, (u64, u64, u64)>,
    shift: u32,
    most: usize,
}

/// Depths from here on are one.
const DEEPEST: u32 = 64;
/// Columns of this width are wider than any trace.
const WIDEST: u32 = 63;

impl Cells {
    /// Of at most about `most` cells, and columns of at least `1 << shift` ns.
    pub fn new(most: usize, shift: u32) -> Self {
        Cells {
            sums: FxHashMap::default(),
            shift,
            most,
        }
    }

    /// Adds to the cell at `time`.
    #[inline]
    pub fn add(&mut self, key: Key, time: u64, (duration, own): (u64, u64)) {
        let key = Key {
            column: time >> self.shift,
            depth: key.depth.min(DEEPEST),
            ..key
        };
        let sum = self.sums.entry(key).or_default();
        *sum = (sum.0 + 1, sum.1 + duration, sum.2 + own);
        if self.sums.len() > self.most && self.shift < WIDEST {
            self.widen();
        }
    }

    /// Until there is room, or all is one column; then the rest is as many cells as there are rows,
    /// depths and functions.
    fn widen(&mut self) {
        while self.sums.len() > self.most && self.shift < WIDEST {
            self.shift += 1;
            let mut wider = FxHashMap::default();
            for (key, (count, time, own)) in self.sums.drain() {
                let key = Key {
                    column: key.column >> 1,
                    ..key
                };
                let sum: &mut (u64, u64, u64) = wider.entry(key).or_default();
                *sum = (sum.0 + count, sum.1 + time, sum.2 + own);
            }
            self.sums = wider;
        }
    }

    /// The cells in order of their keys, their columns being at least as wide as `narrowest` ns;
    /// and the columns' width, as a power of two.
    pub fn finish(mut self, narrowest: u64) -> (Vec<Cell>, u32) {
        let shift = (64 - narrowest.leading_zeros()).min(WIDEST);
        if shift > self.shift && !self.sums.is_empty() {
            let more = shift - self.shift;
            let mut wider = Cells::new(usize::MAX, shift);
            for (key, (count, time, own)) in self.sums {
                let key = Key {
                    column: key.column.checked_shr(more).unwrap_or(0),
                    ..key
                };
                let sum = wider.sums.entry(key).or_default();
                *sum = (sum.0 + count, sum.1 + time, sum.2 + own);
            }
            self = wider;
        }
        let cell = |(key, (count, time, own))| Cell {
            key,
            count,
            time,
            own,
        };
        let mut cells: Vec<Cell> = self.sums.into_iter().map(cell).collect();
        cells.sort_unstable_by_key(|cell| cell.key);
        (cells, self.shift)
    }
}

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
    /// How many of them are calls that did not return.
    pub cut: u64,
    /// How long these took in all.
    pub cut_time: u64,
}

impl Cell {
    fn of((key, sum): (Key, Sum)) -> Self {
        let Sum {
            count,
            time,
            own,
            cut,
            cut_time,
        } = sum;
        Cell {
            key,
            count,
            time,
            own,
            cut,
            cut_time,
        }
    }
}

/// The sums so far.
#[derive(Debug)]
pub struct Cells {
    sums: FxHashMap<Key, Sum>,
    /// What was added last is summed up here first, by depth and function: most calls are followed
    /// by others of their cell.
    recent: Box<[(Key, Sum); RECENT]>,
    shift: u32,
    most: usize,
}

/// What a cell has, but for its key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    count: u64,
    time: u64,
    own: u64,
    cut: u64,
    cut_time: u64,
}

impl Sum {
    const NONE: Sum = Sum {
        count: 0,
        time: 0,
        own: 0,
        cut: 0,
        cut_time: 0,
    };

    /// Of one thing; `cut`: a call that did not return.
    #[inline]
    pub fn of(time: u64, own: u64, cut: bool) -> Self {
        Sum {
            count: 1,
            time,
            own,
            cut: cut.into(),
            cut_time: if cut { time } else { 0 },
        }
    }
}

impl std::ops::AddAssign for Sum {
    #[inline]
    fn add_assign(&mut self, other: Sum) {
        self.count += other.count;
        self.time += other.time;
        self.own += other.own;
        self.cut += other.cut;
        self.cut_time += other.cut_time;
    }
}

const RECENT: usize = 256;
const NONE: Key = Key {
    row: u32::MAX,
    depth: 0,
    column: 0,
    what: 0,
};

/// Depths from here on are one.
const DEEPEST: u32 = 64;
/// Columns of this width are wider than any trace.
const WIDEST: u32 = 63;

impl Cells {
    /// Of at most about `most` cells, and columns of at least `1 << shift` ns.
    pub fn new(most: usize, shift: u32) -> Self {
        Cells {
            sums: FxHashMap::default(),
            recent: Box::new([(NONE, Sum::NONE); RECENT]),
            shift,
            most,
        }
    }

    /// Adds to the cell at `time`.
    #[inline]
    pub fn add(&mut self, key: Key, time: u64, one: Sum) {
        let key = Key {
            column: time >> self.shift,
            depth: key.depth.min(DEEPEST),
            ..key
        };
        let slot = (key.depth as usize ^ (key.what as usize) << 6 ^ key.row as usize) % RECENT;
        let (recent, sum) = &mut self.recent[slot];
        if *recent == key {
            *sum += one;
            return;
        }
        let before = std::mem::replace(&mut self.recent[slot], (key, one));
        self.put(before);
    }

    /// Adds a sum.
    fn put(&mut self, (key, more): (Key, Sum)) {
        if more.count == 0 {
            return;
        }
        *self.sums.entry(key).or_default() += more;
        if self.sums.len() > self.most && self.shift < WIDEST {
            self.widen();
        }
    }

    /// Puts the recent ones to the others.
    fn settle(&mut self) {
        for slot in 0..RECENT {
            let recent = std::mem::replace(&mut self.recent[slot], (NONE, Sum::NONE));
            self.put(recent);
        }
    }

    /// Until there is room, or all is one column; then the rest is as many cells as there are rows,
    /// depths and functions.
    fn widen(&mut self) {
        while self.sums.len() > self.most && self.shift < WIDEST {
            self.widen_to(self.shift + 1);
        }
    }

    /// Makes columns at least so wide.
    fn widen_to(&mut self, shift: u32) {
        if shift <= self.shift {
            return;
        }
        let more = shift - self.shift;
        let wider = |key: Key| Key {
            column: key.column.checked_shr(more).unwrap_or(0),
            ..key
        };
        let mut sums: FxHashMap<Key, Sum> = FxHashMap::default();
        for (key, sum) in self.sums.drain() {
            *sums.entry(wider(key)).or_default() += sum;
        }
        for (key, _) in self.recent.iter_mut() {
            *key = wider(*key);
        }
        (self.sums, self.shift) = (sums, shift);
    }

    /// Takes the sums of another one.
    pub fn join(&mut self, mut other: Cells) {
        other.settle();
        self.widen_to(other.shift);
        other.widen_to(self.shift);
        other
            .sums
            .into_iter()
            .for_each(|sum| self.put_at(sum, other.shift));
    }

    /// Adds a sum whose column is so wide.
    fn put_at(&mut self, (key, sum): (Key, Sum), shift: u32) {
        let column = key.column >> (self.shift - shift);
        self.put((Key { column, ..key }, sum));
    }

    /// The cells in order of their keys, their columns being at least as wide as `narrowest` ns;
    /// and the columns' width, as a power of two.
    pub fn finish(mut self, narrowest: u64) -> (Vec<Cell>, u32) {
        self.settle();
        let shift = (64 - narrowest.leading_zeros()).min(WIDEST);
        if !self.sums.is_empty() {
            self.widen_to(shift);
        }
        let mut cells: Vec<Cell> = self.sums.into_iter().map(Cell::of).collect();
        cells.sort_unstable_by_key(|cell| cell.key);
        (cells, self.shift)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn two_that_join_are_what_one_is(
            all in prop::collection::vec(
                (any::<bool>(), 0u32..3, 0u32..70, 0u32..4, 0u64..1 << 20, 0u64..100), 0..500
            ),
            most in 3usize..80,
            narrowest in 0u64..5000,
        ) {
            let mut parts = [Cells::new(most, 10), Cells::new(most, 10)];
            let mut one = Cells::new(most, 10);
            let mut plain: std::collections::BTreeMap<Key, Sum> = Default::default();
            for &(first, row, depth, what, time, duration) in &all {
                let key = Key { row, depth, column: 0, what };
                let sum = Sum::of(duration, duration / 2, duration % 3 == 0);
                parts[usize::from(first)].add(key, time, sum);
                one.add(key, time, sum);
            }
            let [mut joined, other] = parts;
            joined.join(other);
            let (cells, shift) = joined.finish(narrowest);
            for &(_, row, depth, what, time, duration) in &all {
                let key = Key { row, depth: depth.min(DEEPEST), column: time >> shift, what };
                let sum = Sum::of(duration, duration / 2, duration % 3 == 0);
                *plain.entry(key).or_default() += sum;
            }
            let plain = plain.into_iter().map(Cell::of);
            prop_assert_eq!(&cells, &plain.collect::<Vec<_>>());
            prop_assert_eq!((cells, shift), one.finish(narrowest));
        }
    }
}

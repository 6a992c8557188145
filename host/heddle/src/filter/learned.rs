//! A first walk over the trace finds which calls are long enough, and which strands have such
//! calls: only their ends tell. The engine gives the same calls in the same order both times.

use heddle_strands::StrandId;
use std::collections::{HashMap, HashSet};

/// A bit for each call of a part of the trace, in the order of their enters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    pub fn set(&mut self, index: u64) {
        let word = (index / 64) as usize;
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (index % 64);
    }

    pub fn has(&self, index: u64) -> bool {
        let word = self.0.get((index / 64) as usize);
        word.is_some_and(|word| word >> (index % 64) & 1 == 1)
    }
}

/// What the first walk found.
#[derive(Clone, Debug, Default)]
pub(super) struct Learned {
    /// The calls that `--min-time` keeps, of each part, by the first strand of that.
    pub long: HashMap<StrandId, Bits>,
    /// Strands of which a call is kept.
    pub strands: HashSet<StrandId>,
    /// Threads that run these, of those that are asked for, and that have what these wait for.
    pub beside: HashSet<StrandId>,
}

#[cfg(test)]
mod tests {
    use super::Bits;

    #[test]
    fn bits_are_set_one_by_one() {
        let mut bits = Bits::default();
        for index in [0, 63, 64, 1000] {
            bits.set(index);
        }
        let found: Vec<u64> = (0..2000).filter(|&index| bits.has(index)).collect();
        assert_eq!(found, [0, 63, 64, 1000]);
    }
}

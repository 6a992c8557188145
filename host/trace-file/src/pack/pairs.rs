//! The pairs of function and call site that have occurred, numbered in order.

use rustc_hash::FxHashMap;

/// Both directions.
#[derive(Default)]
pub struct Pairs {
    words: Vec<u64>,
    numbers: FxHashMap<u64, u32>,
}

impl Pairs {
    /// A pair's number.
    pub fn get(&self, pair: u64) -> Option<u32> {
        self.numbers.get(&pair).copied()
    }

    /// Gives a new pair the next number. There are fewer than 2³², because a chunk has not so many
    /// bytes.
    pub fn add(&mut self, pair: u64) -> u32 {
        let number = self.words.len() as u32;
        self.words.push(pair);
        self.numbers.insert(pair, number);
        number
    }

    /// The pair of a number.
    pub fn at(&self, number: u32) -> Option<u64> {
        self.words.get(number as usize).copied()
    }
}

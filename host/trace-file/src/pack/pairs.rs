//! The pairs of function and call site that have occurred, numbered in order.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Both directions.
#[derive(Default)]
pub struct Pairs {
    words: Vec<u64>,
    numbers: HashMap<u64, u32, BuildHasherDefault<Multiply>>,
}

impl Pairs {
    /// A pair's number.
    pub fn get(&self, pair: u64) -> Option<u32> {
        self.numbers.get(&pair).copied()
    }

    /// Gives a new pair the next number. There are fewer than 2³², because a chunk has not so many bytes.
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

/// Addresses differ in their low bits; there is nothing to gain by making them collide.
#[derive(Default)]
struct Multiply(u64);

impl Hasher for Multiply {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u64(&mut self, value: u64) {
        let mixed = (self.0 ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ mixed >> 32;
    }
}

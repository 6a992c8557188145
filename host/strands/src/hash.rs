//! A hash for addresses and small numbers, of which no adversary chooses many: a multiplication, where the standard one takes some 20 ns.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// A map with that hash: for what is looked up at every event.
///
/// ```
/// let mut calls: heddle_strands::FastMap<u64, u32> = Default::default();
/// *calls.entry(0x40_1136).or_default() += 1;
/// assert_eq!(calls[&0x40_1136], 1);
/// ```
pub type FastMap<K, V> = HashMap<K, V, BuildHasherDefault<Multiply>>;

/// A set with that hash.
pub(crate) type FastSet<T> = HashSet<T, BuildHasherDefault<Multiply>>;

/// Multiplies, and mixes what is high into what is low.
#[derive(Clone, Copy, Debug, Default)]
pub struct Multiply(u64);

impl Hasher for Multiply {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    #[inline]
    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        let mixed = (self.0.rotate_left(5) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ mixed >> 29;
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

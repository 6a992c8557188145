//! Changes of inputs by a chance that can be repeated.

use std::path::PathBuf;

/// So many changed inputs of each target are read.
pub const EACH: u32 = 100;

/// Xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled",
/// 2016).
pub struct Chance(u64);

impl Chance {
    /// The one with this seed.
    pub fn new(seed: u64) -> Self {
        Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `end`; 0 if there is none.
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let number = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32;
        number as usize % end.max(1)
    }
}

/// An input with up to four changes: bits, numbers at which something changes, parts left out,
/// parts twice, the end cut off.
pub fn changed(corpus: &[(PathBuf, Vec<u8>)], chance: &mut Chance) -> Vec<u8> {
    const NUMBERS: [u64; 8] = [0, 1, 127, 255, 65_535, 1 << 31, 1 << 63, u64::MAX];
    let mut input = corpus[chance.below(corpus.len())].1.clone();
    for _ in 0..=chance.below(4) {
        let at = chance.below(input.len());
        let end = input.len().min(at + 1 + chance.below(64));
        match chance.below(5) {
            0 => input
                .iter_mut()
                .skip(at)
                .take(1)
                .for_each(|byte| *byte ^= 1 << chance.below(8)),
            1 => {
                let number = NUMBERS[chance.below(NUMBERS.len())].to_le_bytes();
                let size = [1, 2, 4, 8][chance.below(4)];
                let places = input.iter_mut().skip(at).take(size);
                places.zip(number).for_each(|(byte, new)| *byte = new);
            }
            2 => drop(input.drain(at..end)),
            3 => {
                let piece = input[at..end].to_vec();
                input.splice(at..at, piece);
            }
            _ => input.truncate(at),
        }
    }
    input
}

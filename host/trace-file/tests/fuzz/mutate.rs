//! How a trace is changed.

use super::input::{Input, OWN_EVENTS};

/// Chance that can be repeated: xorshift64* (Vigna, "An experimental exploration of Marsaglia's
/// xorshift generators, scrambled", 2016).
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Self {
        Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `end`; 0 if there is none.
    fn below(&mut self, end: usize) -> usize {
        match end {
            0 => 0,
            end => (self.next() >> 32) as usize % end,
        }
    }
}

/// Numbers at which something changes: sizes, states, first words of records, magic numbers.
const INTERESTING: [u64; 25] = [
    0,
    1,
    2,
    3,
    4,
    7,
    8,
    64,
    128,
    255,
    4096,
    65_536,
    65_535,
    1 << 20,
    1 << 31,
    1 << 32,
    u64::MAX,
    1 << 63,
    1 << 4 | 16 << 16,
    2 << 4 | 3 << 16,
    3 << 4 | 5 << 16,
    5 << 4 | 3 << 16 | 2 << 32,
    6 << 4 | 4 << 16 | 8 << 32,
    10 << 4 | 2 << 16 | 0x1010 << 32,
    u64::from_le_bytes(*b"HEDLBLCK"),
];

/// One of `kept` with some changes, each to one of its files.
pub fn changed(kept: &[Input], chance: &mut Chance) -> Input {
    // The latest reached something that is little explored: they come more often.
    let (a, b) = (chance.below(kept.len()), chance.below(kept.len()));
    let mut input = kept[a.max(b)].clone();
    let other = &kept[chance.below(kept.len())];
    for _ in 0..=chance.below(4) {
        let names: Vec<String> = input.files.keys().cloned().collect();
        // Nearly all there is to know is in these two.
        let name = match chance.below(8) {
            0..3 if input.files.contains_key(OWN_EVENTS) => OWN_EVENTS,
            0..3 => "42/events",
            3..6 => "42/buffer-2",
            _ => &names[chance.below(names.len())],
        };
        let donor = other.files.get(name).cloned().unwrap_or_default();
        if let Some(bytes) = input.files.get_mut(name) {
            change(bytes, &donor, chance);
        }
    }
    input
}

fn change(bytes: &mut Vec<u8>, donor: &[u8], chance: &mut Chance) {
    let at = place(bytes, chance);
    let put = |bytes: &mut [u8], at: usize, new: &[u8]| {
        let end = bytes.len().min(at + new.len());
        if at < end {
            bytes[at..end].copy_from_slice(&new[..end - at]);
        }
    };
    match chance.below(9) {
        0 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << chance.below(8);
            }
        }
        1 => put(bytes, at, &chance.next().to_le_bytes()),
        2 => {
            let value = INTERESTING[chance.below(INTERESTING.len())];
            let size = [1, 2, 4, 8][chance.below(4)];
            put(bytes, at, &value.to_le_bytes()[..size]);
        }
        3 => {
            // A little more, or a little less.
            let mut word = [0; 4];
            let end = bytes.len().min(at + 4);
            word[..end.saturating_sub(at)].copy_from_slice(bytes.get(at..end).unwrap_or_default());
            let by = [1, 8, 16, 64][chance.below(4)];
            let value = u32::from_le_bytes(word);
            let value = [value.wrapping_add(by), value.wrapping_sub(by)][chance.below(2)];
            put(bytes, at, &value.to_le_bytes());
        }
        4 => bytes.truncate(at),
        5 => bytes.resize(bytes.len() + chance.below(70_000), 0),
        6 => {
            let from = place(donor, chance);
            let size = 8 * chance.below(32);
            let end = donor.len().min(from + size);
            put(bytes, at, donor.get(from..end).unwrap_or_default());
        }
        7 => {
            let from = place(bytes, chance);
            let size = 8 * chance.below(32);
            let end = bytes.len().min(from + size);
            let piece = bytes.get(from..end).unwrap_or_default().to_vec();
            let at = at.min(bytes.len());
            bytes.splice(at..at, piece);
        }
        _ => {
            let end = bytes.len().min(at + 8 * chance.below(16));
            bytes.drain(at.min(end)..end);
        }
    }
    // Files of a few blocks reach everything.
    bytes.truncate(1 << 20);
}

/// Somewhere: mostly where words are, which is at the beginning of a unit, a header or a slot.
fn place(bytes: &[u8], chance: &mut Chance) -> usize {
    let word = 8 * chance.below(64) + 4 * chance.below(2);
    let begin = match chance.below(8) {
        0 => return chance.below(bytes.len()),
        1 => 2048,
        2..4 => 4096 + (1 << 20) * chance.below(2),
        4 => 65_536 * chance.below(4),
        _ => 0,
    };
    (begin + word).min(bytes.len())
}

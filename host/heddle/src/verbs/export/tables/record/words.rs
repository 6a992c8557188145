//! Numbers in a record's bytes.

use heddle_calls::End;

/// Calls' ends, by the numbers that records have of them.
pub const ENDS: [End; 3] = [End::Returned, End::Unwound, End::Open];
/// Stands for what is not known.
pub const NONE: u64 = u64::MAX;

/// What a word says that may say nothing.
pub fn some(word: u64) -> Option<u64> {
    Some(word).filter(|&word| word != NONE)
}

#[inline]
pub fn words(bytes: &mut Vec<u8>, words: &[u64]) {
    for word in words {
        bytes.extend_from_slice(&word.to_le_bytes());
    }
}

#[inline]
pub fn take_words<const N: usize>(bytes: &mut &[u8]) -> Option<[u64; N]> {
    let (words, rest) = bytes.split_at_checked(8 * N)?;
    *bytes = rest;
    let mut all = [0; N];
    for (word, bytes) in all.iter_mut().zip(words.chunks_exact(8)) {
        *word = u64::from_le_bytes(*bytes.first_chunk()?);
    }
    Some(all)
}

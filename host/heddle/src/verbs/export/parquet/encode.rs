//! Parquet's encodings of values:
//! <https://parquet.apache.org/docs/file-format/data-pages/encodings/>.
//!
//! The crate `parquet` has them, too, but looks each text up in a table by its bytes, and takes
//! 15 ns for a number. Here a text is known by its index already, and numbers are packed in 2 to
//! 3 ns.

/// Numbers in a block of [`deltas`], and in each of its four parts.
const BLOCK: usize = 128;
const PART: usize = 32;

/// Indices of one packed group.
const GROUP: usize = 8;

/// A run of one value is worth leaving a packed run for when it is so long.
const LONG: usize = 16;

/// Bits that `value` takes.
pub fn width(value: u64) -> u32 {
    u64::BITS - value.leading_zeros()
}

/// Appends values of at most `width` bits, the first at the lowest bit; the last byte is filled
/// with zeros.
#[inline]
pub fn pack(bytes: &mut Vec<u8>, values: impl Iterator<Item = u64>, width: u32) {
    if width == 0 {
        return;
    }
    let (mut word, mut filled) = (0, 0);
    for value in values {
        word |= value << filled;
        filled += width;
        if filled >= u64::BITS {
            bytes.extend_from_slice(&word.to_le_bytes());
            filled -= u64::BITS;
            word = match filled {
                0 => 0,
                rest => value >> (width - rest),
            };
        }
    }
    bytes.extend_from_slice(&word.to_le_bytes()[..filled.div_ceil(8) as usize]);
}

/// Encoding `RLE`: runs of one value, and between them packed groups of eight.
pub fn runs(bytes: &mut Vec<u8>, values: &[u32], width: u32) {
    let mut packed = 0;
    let mut at = 0;
    while at < values.len() {
        let first = values[at];
        let same = values[at..].iter().take_while(|&&value| value == first);
        let same = same.count();
        if same >= LONG || same == values.len() - at {
            groups(bytes, &values[packed..at], width);
            varint(bytes, (same as u64) << 1);
            bytes.extend_from_slice(&first.to_le_bytes()[..width.div_ceil(8) as usize]);
            at += same;
            packed = at;
        } else {
            at = (at + GROUP).min(values.len());
        }
    }
    groups(bytes, &values[packed..], width);
}

fn groups(bytes: &mut Vec<u8>, values: &[u32], width: u32) {
    if values.is_empty() {
        return;
    }
    let count = values.len().div_ceil(GROUP);
    varint(bytes, (count as u64) << 1 | 1);
    let end = bytes.len() + count * width as usize;
    pack(bytes, values.iter().map(|&value| value.into()), width);
    bytes.resize(end, 0);
}

/// Encoding `DELTA_BINARY_PACKED`: how far each number is from the one before it.
pub fn deltas(bytes: &mut Vec<u8>, values: &[i64]) {
    for number in [BLOCK, BLOCK / PART, values.len()] {
        varint(bytes, number as u64);
    }
    let mut before = values.first().copied().unwrap_or(0);
    signed(bytes, before);
    let mut block = [0; BLOCK];
    for values in values.get(1..).unwrap_or_default().chunks(BLOCK) {
        for (delta, &value) in block.iter_mut().zip(values) {
            *delta = value.wrapping_sub(before);
            before = value;
        }
        let deltas = &block[..values.len()];
        let least = deltas.iter().copied().min().unwrap_or(0);
        signed(bytes, least);
        let widths = bytes.len();
        bytes.extend_from_slice(&[0; BLOCK / PART]);
        for (part, deltas) in deltas.chunks(PART).enumerate() {
            let above = |delta: &i64| delta.wrapping_sub(least) as u64;
            let width = width(deltas.iter().map(above).fold(0, |all, one| all | one));
            bytes[widths + part] = width as u8;
            let end = bytes.len() + PART / 8 * width as usize;
            pack(bytes, deltas.iter().map(above), width);
            bytes.resize(end, 0);
        }
    }
}

/// Encoding `PLAIN` of a text.
pub fn text(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend_from_slice(&(text.len() as u32).to_le_bytes());
    bytes.extend_from_slice(text.as_bytes());
}

fn signed(bytes: &mut Vec<u8>, number: i64) {
    varint(bytes, (number << 1 ^ number >> 63) as u64);
}

fn varint(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take_varint(bytes: &mut &[u8]) -> u64 {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let (&byte, rest) = bytes.split_first().unwrap();
            *bytes = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                break;
            }
        }
        value
    }

    fn take_signed(bytes: &mut &[u8]) -> i64 {
        let value = take_varint(bytes);
        (value >> 1) as i64 ^ -((value & 1) as i64)
    }

    /// Bit by bit, as the format's description has it.
    fn take_packed(bytes: &mut &[u8], count: usize, width: u32) -> Vec<u64> {
        let (packed, rest) = bytes.split_at((count * width as usize).div_ceil(8));
        *bytes = rest;
        let bit = |at: usize| u64::from(packed[at / 8] >> (at % 8) & 1);
        let value = |index: usize| {
            let bits = 0..width as usize;
            bits.fold(0, |value, at| {
                value | bit(index * width as usize + at) << at
            })
        };
        (0..count).map(value).collect()
    }

    fn read_runs(mut bytes: &[u8], count: usize, width: u32) -> Vec<u32> {
        let mut values = Vec::new();
        while values.len() < count {
            let head = take_varint(&mut bytes);
            if head & 1 == 1 {
                let packed = take_packed(&mut bytes, (head >> 1) as usize * 8, width);
                values.extend(packed.into_iter().map(|value| value as u32));
            } else {
                let (value, rest) = bytes.split_at(width.div_ceil(8) as usize);
                bytes = rest;
                let mut whole = [0; 4];
                whole[..value.len()].copy_from_slice(value);
                values.extend((0..head >> 1).map(|_| u32::from_le_bytes(whole)));
            }
        }
        assert!(bytes.is_empty() && values.len() < count + 8);
        values.truncate(count);
        values
    }

    fn read_deltas(mut bytes: &[u8]) -> Vec<i64> {
        let heads = [(); 3].map(|()| take_varint(&mut bytes) as usize);
        let [block, parts, count] = heads;
        let mut values = vec![take_signed(&mut bytes)];
        while values.len() < count {
            let least = take_signed(&mut bytes);
            let (widths, rest) = bytes.split_at(parts);
            bytes = rest;
            for &width in widths {
                if values.len() >= count {
                    break;
                }
                for above in take_packed(&mut bytes, block / parts, width.into()) {
                    let last = *values.last().unwrap();
                    values.push(last.wrapping_add(least).wrapping_add(above as i64));
                }
            }
        }
        assert!(bytes.is_empty());
        values.truncate(count);
        values
    }

    /// Numbers that look random, below `limit`.
    fn numbers(count: usize, limit: u64) -> impl Iterator<Item = u64> {
        let next = |state: &u64| Some(state.wrapping_mul(6_364_136_223_846_793_005) | 1);
        let all = std::iter::successors(Some(count as u64 + 1), next);
        all.map(move |state| (state >> 11) % limit).take(count)
    }

    #[test]
    fn indices_are_read_as_they_were_written() {
        for limit in [1, 2, 3, 9, 300, 70_000] {
            for count in [0, 1, 7, 8, 9, 15, 16, 17, 1000] {
                // Long runs, short ones and none.
                for same in [1, 5, 16, 40] {
                    let values = numbers(count, limit).flat_map(|one| vec![one as u32; same]);
                    let values: Vec<u32> = values.collect();
                    let (mut bytes, width) = (Vec::new(), width(limit - 1));
                    runs(&mut bytes, &values, width);
                    assert_eq!(read_runs(&bytes, values.len(), width), values);
                }
            }
        }
    }

    #[test]
    fn numbers_are_read_as_they_were_written() {
        for limit in [1, 2, 1000, 1 << 40, u64::MAX] {
            for count in [1, 2, 32, 33, 128, 129, 130, 1000] {
                let values: Vec<i64> = numbers(count, limit).map(|one| one as i64).collect();
                let mut bytes = Vec::new();
                deltas(&mut bytes, &values);
                assert_eq!(read_deltas(&bytes), values);
            }
        }
        let far = [0, i64::MAX, i64::MIN, -1, 1, i64::MIN, i64::MAX];
        let mut bytes = Vec::new();
        deltas(&mut bytes, &far);
        assert_eq!(read_deltas(&bytes), far);
    }

    #[test]
    fn one_number_or_text_of_many_rows_takes_no_room() {
        let mut bytes = Vec::new();
        deltas(&mut bytes, &[4711; 100_000]);
        assert!(bytes.len() < 100_000 / BLOCK * 6, "{}", bytes.len());
        bytes.clear();
        runs(&mut bytes, &[0; 100_000], 0);
        assert_eq!(bytes.len(), 3);
    }
}

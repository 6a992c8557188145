//! Text of JSON, appended to bytes.

/// A string, with its quotation marks.
pub fn string(bytes: &mut Vec<u8>, text: &str) {
    bytes.push(b'"');
    let mut plain = 0;
    for (at, byte) in text.bytes().enumerate() {
        let escape: &[u8] = match byte {
            b'"' => b"\\\"",
            b'\\' => b"\\\\",
            b'\n' => b"\\n",
            b'\t' => b"\\t",
            0..0x20 => &control(byte),
            _ => continue,
        };
        bytes.extend_from_slice(&text.as_bytes()[plain..at]);
        bytes.extend_from_slice(escape);
        plain = at + 1;
    }
    bytes.extend_from_slice(&text.as_bytes()[plain..]);
    bytes.push(b'"');
}

fn control(byte: u8) -> [u8; 6] {
    let digit = |half: u8| b"0123456789abcdef"[usize::from(half)];
    [b'\\', b'u', b'0', b'0', digit(byte >> 4), digit(byte & 15)]
}

/// A whole number.
#[inline]
pub fn number(bytes: &mut Vec<u8>, number: u64) {
    bytes.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Nanoseconds in units of `10^digits` of them, with all digits: 1234 as `1.234`, if it is 3.
#[inline]
pub fn in_units(bytes: &mut Vec<u8>, nanos: u64, digits: u32) {
    let mut line = Line::default();
    line.in_units(nanos, digits);
    bytes.extend_from_slice(line.text());
}

/// The digits of numbers below 100: a division gives two.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut number = 0;
    while number < 100 {
        pairs[number] = [b'0' + number as u8 / 10, b'0' + number as u8 % 10];
        number += 1;
    }
    pairs
};

/// Text that is put together in place, and appended at once: of a row, what has a length that is
/// known to be small.
pub struct Line {
    bytes: [u8; Self::MOST],
    length: usize,
}

impl Default for Line {
    fn default() -> Self {
        Line {
            bytes: [0; Self::MOST],
            length: 0,
        }
    }
}

impl Line {
    /// Bytes that there is room for.
    const MOST: usize = 256;

    /// Begins another text.
    pub fn clear(&mut self) {
        self.length = 0;
    }

    pub fn text(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    #[inline]
    pub fn push(&mut self, text: &[u8]) {
        let end = self.length + text.len();
        self.bytes[self.length..end].copy_from_slice(text);
        self.length = end;
    }

    /// A whole number.
    #[inline]
    pub fn number(&mut self, number: u64) {
        let length = number.checked_ilog10().map_or(1, |log| log as usize + 1);
        self.digits(number, length);
    }

    /// Nanoseconds in units, as [`in_units`].
    #[inline]
    pub fn in_units(&mut self, nanos: u64, digits: u32) {
        let unit = 10u64.pow(digits);
        self.number(nanos / unit);
        self.push(b".");
        self.digits(nanos % unit, digits as usize);
    }

    /// The lowest digits of a number.
    #[inline]
    fn digits(&mut self, mut number: u64, length: usize) {
        let end = self.length + length;
        let mut pairs = self.bytes[self.length..end].rchunks_exact_mut(2);
        for pair in &mut pairs {
            pair.copy_from_slice(&PAIRS[(number % 100) as usize]);
            number /= 100;
        }
        if let [first] = pairs.into_remainder() {
            *first = b'0' + (number % 10) as u8;
        }
        self.length = end;
    }
}

/// An address, as text.
pub fn address(bytes: &mut Vec<u8>, address: u64) {
    bytes.extend_from_slice(format!("\"{address:#x}\"").as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_reader_reads_what_is_written() {
        let text = "a\"b\\c\nd\te\u{1}\u{1f}f\u{e4}\u{2028}";
        let mut bytes = Vec::new();
        string(&mut bytes, text);
        let read: String = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(read, text);
    }

    #[test]
    fn numbers_have_all_their_digits() {
        for number in [
            0,
            1,
            9,
            10,
            99,
            100,
            12_345,
            1_000_000,
            u64::MAX - 1,
            u64::MAX,
        ] {
            let mut line = Line::default();
            line.push(b"n=");
            line.number(number);
            assert_eq!(line.text(), format!("n={number}").as_bytes());
        }
    }

    #[test]
    fn times_keep_every_nanosecond() {
        let written = |nanos, digits| {
            let mut bytes = Vec::new();
            in_units(&mut bytes, nanos, digits);
            String::from_utf8(bytes).unwrap()
        };
        assert_eq!(written(1_234, 3), "1.234");
        assert_eq!(written(5, 3), "0.005");
        assert_eq!(written(7_000_060, 6), "7.000060");
        assert_eq!(written(u64::MAX, 3), "18446744073709551.615");
    }
}

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
    let unit = 10u64.pow(digits);
    number(bytes, nanos / unit);
    bytes.push(b'.');
    // The 1 in front keeps the zeros.
    let at = bytes.len();
    number(bytes, unit + nanos % unit);
    bytes.remove(at);
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

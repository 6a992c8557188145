//! The protocol buffers' wire format: <https://protobuf.dev/programming-guides/encoding/>.

/// A message that is being appended to a buffer. Fields may be written in any order.
pub(crate) struct Message<'a>(&'a mut Vec<u8>);

const VARINT: u64 = 0;
const FIXED64: u64 = 1;
const LENGTH: u64 = 2;

impl Message<'_> {
    /// An integer, an enum's number or a bool; negative ones as their 64 bits in two's complement.
    #[inline]
    pub fn number(&mut self, field: u64, value: u64) -> &mut Self {
        varint(self.0, field << 3 | VARINT);
        varint(self.0, value);
        self
    }

    /// A `fixed64`.
    pub fn fixed(&mut self, field: u64, value: u64) -> &mut Self {
        varint(self.0, field << 3 | FIXED64);
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    /// A string.
    pub fn text(&mut self, field: u64, value: &str) -> &mut Self {
        varint(self.0, field << 3 | LENGTH);
        varint(self.0, value.len() as u64);
        self.0.extend_from_slice(value.as_bytes());
        self
    }

    /// A string, left out if it is empty.
    pub fn some_text(&mut self, field: u64, value: &str) -> &mut Self {
        if value.is_empty() {
            return self;
        }
        self.text(field, value)
    }

    /// A message within this one.
    #[inline]
    pub fn message(&mut self, field: u64, write: impl FnOnce(&mut Message<'_>)) -> &mut Self {
        append(self.0, field, write);
        self
    }
}

/// Appends a message as a field of whatever `buffer` holds.
#[inline]
pub(crate) fn append(buffer: &mut Vec<u8>, field: u64, write: impl FnOnce(&mut Message<'_>)) {
    varint(buffer, field << 3 | LENGTH);
    // Its length comes first and is known last: nearly always one byte.
    let at = buffer.len();
    buffer.push(0);
    write(&mut Message(buffer));
    let length = buffer.len() - at - 1;
    if length < 0x80 {
        buffer[at] = length as u8;
    } else {
        let mut prefix = Vec::with_capacity(10);
        varint(&mut prefix, length as u64);
        buffer.splice(at..=at, prefix);
    }
}

/// The most bytes that [`append_short`] takes, with the field's number and the length.
const SHORT: usize = 96;

/// A message of numbers that are so few that its length, and that of each message within, takes one
/// byte. It is put together in place, without asking at each byte whether there is room: most of a
/// trace consists of such messages.
pub(crate) struct Short<'a> {
    room: &'a mut [u8; SHORT],
    length: usize,
}

impl Short<'_> {
    /// Appends the field that [`Message::number`] appends.
    #[inline(always)]
    pub fn number(&mut self, field: u64, value: u64) -> &mut Self {
        self.varint(field << 3 | VARINT);
        self.varint(value);
        self
    }

    /// Appends the field that [`Message::message`] appends.
    #[inline(always)]
    pub fn message(&mut self, field: u64, write: impl FnOnce(&mut Short<'_>)) -> &mut Self {
        self.varint(field << 3 | LENGTH);
        let at = self.length;
        self.length += 1;
        write(self);
        self.room[at] = (self.length - at - 1) as u8;
        self
    }

    #[inline(always)]
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.room[self.length] = value as u8 | 0x80;
            self.length += 1;
            value >>= 7;
        }
        self.room[self.length] = value as u8;
        self.length += 1;
    }
}

/// Appends a message as a field of whatever `buffer` holds, like [`append`]. With the field's
/// number and the length it has at most [`SHORT`] bytes.
#[inline(always)]
pub(crate) fn append_short(buffer: &mut Vec<u8>, field: u64, write: impl FnOnce(&mut Short<'_>)) {
    let start = buffer.len();
    buffer.extend_from_slice(&[0; SHORT]);
    let mut length = 0;
    if let Some(room) = buffer[start..].first_chunk_mut() {
        let mut short = Short { room, length };
        short.message(field, write);
        length = short.length;
    }
    buffer.truncate(start + length);
}

/// The fields of a message, as far as it is one.
pub(crate) struct Fields<'a>(pub &'a [u8]);

/// A field's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field<'a> {
    /// An integer, of whatever encoding.
    Number(u64),
    /// Text, or a message.
    Bytes(&'a [u8]),
}

impl<'a> Iterator for Fields<'a> {
    type Item = (u64, Field<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let mut rest = self.0;
        let key = take_varint(&mut rest)?;
        let value = match key & 7 {
            VARINT => Field::Number(take_varint(&mut rest)?),
            FIXED64 => {
                let (bytes, behind) = rest.split_first_chunk()?;
                rest = behind;
                Field::Number(u64::from_le_bytes(*bytes))
            }
            LENGTH => {
                let length = take_varint(&mut rest)?;
                let (bytes, behind) = rest.split_at_checked(length.try_into().ok()?)?;
                rest = behind;
                Field::Bytes(bytes)
            }
            _ => return None,
        };
        self.0 = rest;
        Some((key >> 3, value))
    }
}

#[inline]
fn take_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[inline]
fn varint(buffer: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        buffer.push(value as u8 | 0x80);
        value >>= 7;
    }
    buffer.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_encoded_as_the_protocol_buffers_guide_says() {
        // Its examples: field 1 = 150, field 2 = "testing", field 3 = a message with field 1 = 150.
        let mut bytes = Vec::new();
        append(&mut bytes, 3, |message| {
            message.number(1, 150);
        });
        assert_eq!(bytes, [0x1a, 3, 0x08, 0x96, 0x01]);
        let mut bytes = Vec::new();
        Message(&mut bytes).text(2, "testing").some_text(2, "");
        assert_eq!(bytes, b"\x12\x07testing");
        let mut bytes = Vec::new();
        Message(&mut bytes).number(5, -2i64 as u64).fixed(47, 1);
        let minus_two = [0x28, 0xfe, 255, 255, 255, 255, 255, 255, 255, 255, 1];
        assert_eq!(bytes[..11], minus_two);
        assert_eq!(bytes[11..], [0xf9, 2, 1, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn a_short_message_has_the_bytes_of_any_other() {
        for number in [0, 127, 128, 1 << 20, 1 << 63, u64::MAX] {
            let mut expected = b"before".to_vec();
            append(&mut expected, 1, |message| {
                message.number(8, number);
                message.message(11, |inner| {
                    inner.number(34, number).number(3, 1);
                });
            });
            let mut bytes = b"before".to_vec();
            append_short(&mut bytes, 1, |message| {
                message.number(8, number);
                message.message(11, |inner| {
                    inner.number(34, number).number(3, 1);
                });
            });
            assert_eq!(bytes, expected, "{number}");
        }
    }

    #[test]
    fn a_length_takes_as_many_bytes_as_it_needs() {
        for length in [0, 1, 127, 128, 16_383, 16_384, 70_000] {
            let text = "x".repeat(length);
            let mut bytes = b"before".to_vec();
            append(&mut bytes, 1, |message| {
                message.0.extend_from_slice(text.as_bytes());
            });
            let mut expected = b"before\x0a".to_vec();
            varint(&mut expected, length as u64);
            expected.extend_from_slice(text.as_bytes());
            assert_eq!(bytes, expected, "{length}");
        }
    }
}

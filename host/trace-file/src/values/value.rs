//! From a record's words to values.

use super::layout::Found;
use super::{Field, Missing, Shape, Source, Type, Values};

/// A value of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// An integer.
    Signed(i128),
    /// An integer that cannot be negative.
    Unsigned(u128),
    /// `bool`; what is neither 0 nor 1 is [`Value::Unsigned`].
    Bool(bool),
    /// A character.
    Character(char),
    /// What a character's type holds that is none: a byte of a longer one, half of a pair.
    Unit(u32),
    /// A number of floating point of 4 bytes.
    Single(f32),
    /// A number of floating point of 8 bytes.
    Double(f64),
    /// A number of x87, of ten bytes.
    LongDouble {
        /// With its leading one.
        mantissa: u64,
        /// The sign in the highest bit.
        sign_and_exponent: u16,
    },
    /// An address.
    Pointer(u64),
    /// The address of a function.
    Function(u64),
    /// The name of an enumerator; of flags, names with `|` between them.
    Enumerator(String),
    /// A text; `more`: it was longer.
    Text {
        /// Its bytes: UTF-8 usually, but whatever was there.
        bytes: Vec<u8>,
        /// Whether there are more.
        more: bool,
    },
    /// The members of a structure.
    Record(Vec<(String, Value)>),
    /// The elements of an array; `more`: it has more.
    Array {
        /// The first ones.
        elements: Vec<Value>,
        /// Whether there are more.
        more: bool,
    },
    /// It could not be read: this address is no text's or object's.
    Unreadable(Option<u64>),
    /// It is not known.
    Missing(Missing),
    /// A value of a type of this name, of which nothing else is known.
    Opaque(String),
}

/// How deep structures nest that are read.
const DEEPEST: usize = 16;

/// The most elements of an array that are read.
const ELEMENTS: usize = 16;

impl Values<'_> {
    /// The values in order, with their names. `None`: these are no values of this shape.
    pub fn read(&self, shape: &Shape) -> Option<Vec<(String, Value)>> {
        if shape.shape != self.shape || shape.of != self.of {
            return None;
        }
        let found = self.divided(shape)?;
        let fields = shape.fields.iter().zip(&found);
        let values = fields.map(|(field, found)| (field.name.clone(), of_field(field, found)));
        Some(values.collect())
    }
}

fn of_field(field: &Field, found: &[Found]) -> Value {
    match &field.from {
        Source::Missing(why) => return Value::Missing(*why),
        Source::Constant(bytes) => return value(&field.kind, bytes, DEEPEST),
        Source::Recorded(_) => {}
    }
    let mut all = Vec::new();
    for part in found {
        match *part {
            Found::Bytes(bytes) => all.extend_from_slice(bytes),
            Found::Text { bytes, more } => {
                let bytes = bytes.to_vec();
                return Value::Text { bytes, more };
            }
            Found::NoText(address) => return Value::Unreadable(Some(address)),
            Found::NoBytes(address) => return Value::Unreadable(address),
            Found::Gap => return Value::Missing(Missing::OptimisedOut),
        }
    }
    value(&field.kind, &all, DEEPEST)
}

/// An integer of up to 16 bytes, the lowest first.
fn integer(bytes: &[u8]) -> u128 {
    let mut all = [0; 16];
    let count = bytes.len().min(16);
    all[..count].copy_from_slice(&bytes[..count]);
    u128::from_le_bytes(all)
}

fn signed(bytes: &[u8]) -> i128 {
    let shift = 128 - 8 * bytes.len().clamp(1, 16) as u32;
    (integer(bytes) << shift) as i128 >> shift
}

/// The value of this type that these bytes are; of a structure or array they may be the first ones.
fn value(kind: &Type, bytes: &[u8], depth: usize) -> Value {
    let whole = |count: u16| {
        bytes
            .get(..usize::from(count))
            .filter(|all| !all.is_empty())
    };
    let short = Value::Missing(Missing::LeftOut);
    match kind {
        Type::Integer {
            bytes,
            signed: true,
        } => whole(*bytes).map_or(short, |bytes| Value::Signed(signed(bytes))),
        Type::Integer { bytes, .. } => {
            whole(*bytes).map_or(short, |bytes| Value::Unsigned(integer(bytes)))
        }
        Type::Bool => match bytes.first() {
            None => short,
            Some(&byte) if byte < 2 => Value::Bool(byte == 1),
            Some(&byte) => Value::Unsigned(byte.into()),
        },
        Type::Character { bytes } => {
            whole(*bytes).map_or(short, |bytes| character(integer(bytes) as u32, bytes.len()))
        }
        Type::Float { bytes } => whole(*bytes).map_or(short, float),
        Type::Pointer => whole(8).map_or(short, |bytes| Value::Pointer(integer(bytes) as u64)),
        Type::Function => whole(8).map_or(short, |bytes| Value::Function(integer(bytes) as u64)),
        Type::Enumeration {
            bytes,
            signed: is_signed,
            names,
        } => whole(*bytes).map_or(short, |bytes| {
            let number = match is_signed {
                true => signed(bytes),
                false => integer(bytes) as i128,
            };
            let name = enumerator(number, names);
            // An unsigned one of 64 bits is negative in the list of names.
            let name = name.or_else(|| match i64::try_from(number) {
                Err(_) if !is_signed => enumerator(number as u64 as i64 as i128, names),
                _ => None,
            });
            name.map_or(Value::Signed(number), Value::Enumerator)
        }),
        Type::Text | Type::Opaque(_) if depth == 0 => short,
        Type::Text => text(bytes, bytes.len()),
        Type::Record { members, .. } => {
            let Some(depth) = depth.checked_sub(1) else {
                return short;
            };
            let member = |member: &super::Member| {
                let bytes = bytes.get(member.at as usize..).unwrap_or_default();
                let value = match member.bits {
                    Some((low, count)) => bit_field(&member.kind, bytes, low, count, depth),
                    None => value(&member.kind, bytes, depth),
                };
                (member.name.clone(), value)
            };
            Value::Record(members.iter().map(member).collect())
        }
        Type::Array {
            of,
            bytes: size,
            count,
        } => {
            let Some(depth) = depth.checked_sub(1) else {
                return short;
            };
            if let Type::Character { bytes: 1 } = **of {
                let (here, all) = (bytes.len().min(*count as usize), *count as usize);
                return text(&bytes[..here], all);
            }
            let size = (*size as usize).max(1);
            let here = bytes
                .chunks_exact(size)
                .take(*count as usize)
                .take(ELEMENTS);
            let elements: Vec<Value> = here.map(|bytes| value(of, bytes, depth)).collect();
            let more = elements.len() < *count as usize;
            Value::Array { elements, more }
        }
        Type::Opaque(name) => Value::Opaque(name.clone()),
    }
}

/// A byte is a character of its own up to 0x7f.
fn character(number: u32, bytes: usize) -> Value {
    let known = char::from_u32(number).filter(|known| bytes > 1 || known.is_ascii());
    known.map_or(Value::Unit(number), Value::Character)
}

/// A text in the first bytes of an array of so many: up to its zero.
fn text(bytes: &[u8], all: usize) -> Value {
    let end = bytes.iter().position(|&byte| byte == 0);
    Value::Text {
        bytes: bytes[..end.unwrap_or(bytes.len())].to_vec(),
        more: end.is_none() && bytes.len() < all,
    }
}

fn bit_field(kind: &Type, bytes: &[u8], low: u8, count: u8, depth: usize) -> Value {
    let count = u32::from(count).clamp(1, 64);
    let here = integer(&bytes[..bytes.len().min(16)]) >> (low & 63);
    let unsigned = here & ((1 << count) - 1);
    let is_signed = matches!(
        kind,
        Type::Integer { signed: true, .. } | Type::Enumeration { signed: true, .. }
    );
    let shift = 128 - count;
    let number = match is_signed {
        true => (unsigned << shift) as i128 >> shift,
        false => unsigned as i128,
    };
    value(kind, &number.to_le_bytes(), depth)
}

fn float(bytes: &[u8]) -> Value {
    let all = integer(bytes);
    match bytes.len() {
        4 => Value::Single(f32::from_bits(all as u32)),
        8 => Value::Double(f64::from_bits(all as u64)),
        _ => Value::LongDouble {
            mantissa: all as u64,
            sign_and_exponent: (all >> 64) as u16,
        },
    }
}

/// The name of an enumerator; else, where all are single bits, those that are set.
fn enumerator(number: i128, names: &[(i64, String)]) -> Option<String> {
    let is = |named: &&(i64, String)| i128::from(named.0) == number;
    if let Some((_, name)) = names.iter().find(is) {
        return Some(name.clone());
    }
    let flags = || names.iter().filter(|(value, _)| *value != 0);
    if number <= 0 || !flags().all(|(value, _)| *value > 0 && value.count_ones() == 1) {
        return None;
    }
    let set: Vec<&(i64, String)> = flags()
        .filter(|(value, _)| number & i128::from(*value) != 0)
        .collect();
    let all = set
        .iter()
        .fold(0, |all, (value, _)| all | i128::from(*value));
    (all == number).then(|| {
        let names: Vec<&str> = set.iter().map(|(_, name)| name.as_str()).collect();
        names.join("|")
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Member, Of, Part};
    use super::*;
    use zerocopy::little_endian::U64;

    fn read(kind: Type, parts: Vec<Part>, missing: u32, words: &[u64]) -> Option<Value> {
        let shape = Shape {
            shape: 1,
            of: Of::Result,
            fields: vec![Field {
                name: String::new(),
                kind,
                from: Source::Recorded(parts),
            }],
        };
        let words: Vec<U64> = words.iter().map(|&word| word.into()).collect();
        let values = Values {
            of: Of::Result,
            function: 0,
            shape: 1,
            missing,
            words: &words,
        };
        Some(values.read(&shape)?.pop()?.1)
    }

    #[test]
    fn words_become_values() {
        let int = |bytes, signed| Type::Integer { bytes, signed };
        let one = |kind, bytes, word| read(kind, vec![Part::Bytes(bytes)], 0, &[word]).unwrap();
        assert_eq!(one(int(4, true), 4, 0xffff_fffe), Value::Signed(-2));
        assert_eq!(
            one(int(4, false), 4, 0xffff_fffe),
            Value::Unsigned(0xffff_fffe)
        );
        assert_eq!(one(int(8, true), 8, u64::MAX), Value::Signed(-1));
        assert_eq!(one(Type::Bool, 1, 1), Value::Bool(true));
        assert_eq!(one(Type::Bool, 1, 7), Value::Unsigned(7));
        assert_eq!(
            one(Type::Float { bytes: 8 }, 8, 2.5f64.to_bits()),
            Value::Double(2.5)
        );
        let names = vec![(1, "red".to_owned()), (2, "blue".to_owned())];
        let color = || Type::Enumeration {
            bytes: 4,
            signed: false,
            names: names.clone(),
        };
        assert_eq!(one(color(), 4, 2), Value::Enumerator("blue".into()));
        assert_eq!(one(color(), 4, 3), Value::Enumerator("red|blue".into()));
        assert_eq!(one(color(), 4, 8), Value::Signed(8));
        let far = Type::Enumeration {
            bytes: 8,
            signed: false,
            names: vec![(i64::MIN, "far".to_owned())],
        };
        assert_eq!(one(far, 8, 1 << 63), Value::Enumerator("far".into()));
        let character = |bytes, word| one(Type::Character { bytes }, bytes, word);
        assert_eq!(character(1, 0x61), Value::Character('a'));
        assert_eq!(character(1, 0xff), Value::Unit(0xff), "-1, if it is signed");
        assert_eq!(character(2, 0xff), Value::Character('ÿ'));
        assert_eq!(character(2, 0xd800), Value::Unit(0xd800));
        assert_eq!(character(4, u64::MAX), Value::Unit(u32::MAX));
        let letters = |count| Type::Array {
            of: Box::new(Type::Character { bytes: 1 }),
            bytes: 1,
            count,
        };
        let text = |count, more| {
            let bytes = b"abcdefgh".to_vec();
            (
                one(letters(count), 8, u64::from_le_bytes(*b"abcdefgh")),
                Value::Text { bytes, more },
            )
        };
        for (got, expected) in [text(8, false), text(9, true)] {
            assert_eq!(got, expected, "an array of which eight bytes were recorded");
        }
        let ten = read(
            Type::Float { bytes: 16 },
            vec![Part::Bytes(16)],
            0,
            &[0xc000 << 48, 0x4000],
        );
        let three = Value::LongDouble {
            mantissa: 0xc000 << 48,
            sign_and_exponent: 0x4000,
        };
        assert_eq!(ten, Some(three));
        let text = |words: &[u64]| read(Type::Text, vec![Part::Text], 0, words);
        let abc = u64::from_le_bytes(*b"abc\0\0\0\0\0");
        assert_eq!(
            text(&[3 | 3 << 32, abc]),
            Some(Value::Text {
                bytes: b"abc".to_vec(),
                more: false
            })
        );
        assert_eq!(
            text(&[3 | 9 << 32, abc]),
            Some(Value::Text {
                bytes: b"abc".to_vec(),
                more: true
            })
        );
        assert_eq!(text(&[9, abc]), None, "the record is too short");
        let bad = read(Type::Text, vec![Part::Text], 1, &[0xbad]);
        assert_eq!(bad, Some(Value::Unreadable(Some(0xbad))));
    }

    #[test]
    fn structures_have_members_as_far_as_they_were_recorded() {
        let member = |name: &str, at, bits, kind| Member {
            name: name.into(),
            at,
            bits,
            kind,
        };
        let int = || Type::Integer {
            bytes: 4,
            signed: true,
        };
        let kind = Type::Record {
            bytes: 24,
            members: vec![
                member("x", 0, None, int()),
                member("low", 4, Some((0, 3)), int()),
                member("high", 4, Some((3, 5)), int()),
                member("far", 16, None, int()),
            ],
        };
        let word = 5 | 0b0101_0111 << 32;
        let read = read(kind, vec![Part::Bytes(8)], 0, &[word]);
        let named = |name: &str, value| (name.to_owned(), value);
        let expected = vec![
            named("x", Value::Signed(5)),
            named("low", Value::Signed(-1)),
            named("high", Value::Signed(10)),
            named("far", Value::Missing(Missing::LeftOut)),
        ];
        assert_eq!(read, Some(Value::Record(expected)));
    }
}

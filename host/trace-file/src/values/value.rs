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

/// The most bytes of an object of which some are not there; the library records fewer.
const MOST_BYTES: usize = 4096;

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
        Source::Constant(bytes) => return value(&field.kind, Bytes::whole(bytes), DEEPEST),
        Source::Recorded(_) => {}
    }
    let (mut all, mut gaps) = (Vec::new(), Vec::new());
    for part in found {
        match *part {
            Found::Bytes(bytes) => all.extend_from_slice(bytes),
            Found::Text { bytes, more } => {
                let bytes = bytes.to_vec();
                return Value::Text { bytes, more };
            }
            Found::NoText(address) => return Value::Unreadable(Some(address)),
            Found::NoBytes(address) => return Value::Unreadable(address),
            Found::Gap(bytes, why) => {
                let behind = (all.len() + usize::from(bytes)).min(MOST_BYTES);
                gaps.resize(all.len(), None);
                gaps.resize(behind.max(all.len()), Some(why));
                all.resize(gaps.len(), 0);
            }
        }
    }
    let bytes = Bytes {
        all: &all,
        gaps: &gaps,
    };
    value(&field.kind, bytes, DEEPEST)
}

/// Bytes of an object, from somewhere in it.
#[derive(Clone, Copy)]
struct Bytes<'a> {
    all: &'a [u8],
    /// Why each of them is not there, if it is not; behind these, all are there.
    gaps: &'a [Option<Missing>],
}

impl<'a> Bytes<'a> {
    /// Bytes that are all there.
    fn whole(all: &'a [u8]) -> Self {
        Bytes { all, gaps: &[] }
    }

    /// Those from the one with this index on.
    fn behind(self, index: usize) -> Self {
        Bytes {
            all: self.all.get(index..).unwrap_or_default(),
            gaps: self.gaps.get(index..).unwrap_or_default(),
        }
    }

    /// The first of them, which are so many at most.
    fn first(self, count: usize) -> Self {
        Bytes {
            all: &self.all[..count.min(self.all.len())],
            gaps: &self.gaps[..count.min(self.gaps.len())],
        }
    }

    /// So many that are there, at least one; or why not.
    fn exactly(self, count: u16) -> Result<&'a [u8], Value> {
        let first = self.first(count.into());
        match first.all.is_empty() || first.all.len() < count.into() {
            true => Err(Value::Missing(Missing::LeftOut)),
            false => first.kept(),
        }
    }

    /// All, if they are there.
    fn kept(self) -> Result<&'a [u8], Value> {
        match self.missing() {
            Some(why) => Err(Value::Missing(why)),
            None => Ok(self.all),
        }
    }

    /// Why some of them are not there: the weaker claim, where there are two reasons.
    fn missing(self) -> Option<Missing> {
        let unknown = self.gaps.contains(&Some(Missing::NotKnown));
        let first = self.gaps.iter().flatten().next();
        first.map(|&why| if unknown { Missing::NotKnown } else { why })
    }

    /// Why none of them is there, though there are some. `None`: some are.
    fn gap(self) -> Option<Missing> {
        let gaps = self.gaps.iter().flatten().count();
        let all = gaps > 0 && gaps == self.all.len();
        self.missing().filter(|_| all)
    }
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
fn value(kind: &Type, bytes: Bytes<'_>, depth: usize) -> Value {
    if let Some(why) = bytes.gap() {
        return Value::Missing(why);
    }
    let whole = |count: u16, value: &dyn Fn(&[u8]) -> Value| match bytes.exactly(count) {
        Ok(bytes) => value(bytes),
        Err(missing) => missing,
    };
    let short = Value::Missing(Missing::LeftOut);
    match kind {
        Type::Integer {
            bytes,
            signed: true,
        } => whole(*bytes, &|bytes| Value::Signed(signed(bytes))),
        Type::Integer { bytes, .. } => whole(*bytes, &|bytes| Value::Unsigned(integer(bytes))),
        Type::Bool => whole(1, &|bytes| match integer(bytes) {
            byte if byte < 2 => Value::Bool(byte == 1),
            byte => Value::Unsigned(byte),
        }),
        Type::Character { bytes } => whole(*bytes, &|bytes| {
            character(integer(bytes) as u32, bytes.len())
        }),
        Type::Float { bytes } => whole(*bytes, &float),
        Type::Pointer => whole(8, &|bytes| Value::Pointer(integer(bytes) as u64)),
        Type::Function => whole(8, &|bytes| Value::Function(integer(bytes) as u64)),
        Type::Enumeration {
            bytes,
            signed: is_signed,
            names,
        } => whole(*bytes, &|bytes| {
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
        Type::Text => text(bytes),
        Type::Record { members, .. } => {
            let Some(depth) = depth.checked_sub(1) else {
                return short;
            };
            let member = |member: &super::Member| {
                let bytes = bytes.behind(member.at as usize);
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
                return characters(bytes.first(*count as usize), *count as usize);
            }
            let size = (*size as usize).max(1);
            let here = (bytes.all.len() / size).min(*count as usize).min(ELEMENTS);
            let elements = (0..here).map(|index| bytes.behind(index * size).first(size));
            let elements: Vec<Value> = elements.map(|bytes| value(of, bytes, depth)).collect();
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

/// A text up to its zero.
fn text(bytes: Bytes<'_>) -> Value {
    let bytes = match bytes.kept() {
        Ok(bytes) => bytes,
        Err(missing) => return missing,
    };
    let end = bytes.iter().position(|&byte| byte == 0);
    Value::Text {
        bytes: bytes[..end.unwrap_or(bytes.len())].to_vec(),
        more: false,
    }
}

/// The first bytes of an array of so many characters: a text, and what is behind its zero, but for
/// the zeros that the array ends with.
fn characters(bytes: Bytes<'_>, all: usize) -> Value {
    let bytes = match bytes.kept() {
        Ok(bytes) => bytes,
        Err(missing) => return missing,
    };
    let last = bytes.iter().rposition(|&byte| byte != 0);
    let here = &bytes[..last.map_or(0, |last| last + 1)];
    // One that ends with a zero where the recorded bytes do is taken for a whole text.
    let ends = here.len() < bytes.len() && !here.contains(&0);
    Value::Text {
        bytes: here.to_vec(),
        more: bytes.len() < all && !ends,
    }
}

fn bit_field(kind: &Type, bytes: Bytes<'_>, low: u8, count: u8, depth: usize) -> Value {
    let count = u32::from(count).clamp(1, 64);
    let bits = u32::from(low & 63) + count;
    let bytes = match bytes.exactly(bits.div_ceil(8) as u16) {
        Ok(bytes) => bytes,
        Err(missing) => return missing,
    };
    let here = integer(bytes) >> (low & 63);
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
    value(kind, Bytes::whole(&number.to_le_bytes()), depth)
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
        let array = |bytes: &[u8; 8], count| one(letters(count), 8, u64::from_le_bytes(*bytes));
        let text = |bytes: &[u8], more| Value::Text {
            bytes: bytes.to_vec(),
            more,
        };
        assert_eq!(array(b"ab\0\0\0\0\0\0", 8), text(b"ab", false));
        assert_eq!(
            array(b"ab\0\0\0\0\0\0", 9),
            text(b"ab", false),
            "a whole text"
        );
        assert_eq!(array(b"ab\0xk\x01\0\0", 8), text(b"ab\0xk\x01", false));
        assert_eq!(array(b"ab\0xk\x01\0\0", 9), text(b"ab\0xk\x01", true));
        assert_eq!(array(&[0; 8], 8), text(b"", false));
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

    #[test]
    fn of_a_structure_the_members_are_there_that_the_program_has_kept() {
        let int = || Type::Integer {
            bytes: 4,
            signed: true,
        };
        let member = |name: &str, at, bits, kind| Member {
            name: name.into(),
            at,
            bits,
            kind,
        };
        let pair = || Type::Array {
            of: Box::new(int()),
            bytes: 4,
            count: 2,
        };
        let kind = || Type::Record {
            bytes: 24,
            members: vec![
                member("x", 0, None, int()),
                member("y", 4, None, int()),
                member("low", 5, Some((0, 3)), int()),
                member("pair", 8, None, pair()),
                member("gone", 16, None, pair()),
                member("far", 24, Some((1, 2)), int()),
            ],
        };
        let spread = vec![Part::Bytes(4), Part::Gap(4), Part::Bytes(4), Part::Gap(12)];
        let gone = || Value::Missing(Missing::OptimisedOut);
        let elements = vec![Value::Signed(2), gone()];
        let pair = Value::Array {
            elements,
            more: false,
        };
        let named = |name: &str, value| (name.to_owned(), value);
        let expected = vec![
            named("x", Value::Signed(1)),
            named("y", gone()),
            named("low", gone()),
            named("pair", pair),
            named("gone", gone()),
            named("far", Value::Missing(Missing::LeftOut)),
        ];
        let read_it = |parts, words: &[u64]| read(kind(), parts, 0, words);
        assert_eq!(read_it(spread, &[1, 2]), Some(Value::Record(expected)));
        assert_eq!(read_it(vec![Part::Gap(24)], &[]), Some(gone()), "all of it");
        let half = vec![Part::Bytes(2), Part::Gap(2)];
        assert_eq!(read(int(), half, 0, &[1]), Some(gone()));
    }

    #[test]
    fn members_of_which_nothing_tells_where_they_are_are_not_known() {
        let int = || Type::Integer {
            bytes: 4,
            signed: true,
        };
        let pair = || Type::Array {
            of: Box::new(int()),
            bytes: 4,
            count: 2,
        };
        let elements = |first, second| {
            Some(Value::Array {
                elements: vec![first, second],
                more: false,
            })
        };
        let unknown = || Value::Missing(Missing::NotKnown);
        let gone = || Value::Missing(Missing::OptimisedOut);
        let half = vec![Part::Unknown(4), Part::Bytes(4)];
        let read_it = |parts, words: &[u64]| read(pair(), parts, 0, words);
        assert_eq!(read_it(half, &[2]), elements(unknown(), Value::Signed(2)));
        let neither = vec![Part::Gap(4), Part::Unknown(4)];
        assert_eq!(read_it(neither, &[]), Some(unknown()));
        let three = vec![Part::Gap(4), Part::Unknown(2), Part::Bytes(2)];
        assert_eq!(read_it(three, &[1]), elements(gone(), unknown()));
    }
}

//! Shapes: what the values of a record are. A line of JSON each, in the file `shapes` of a trace.

use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::path::Path;

/// What a record's values are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Of {
    /// A call's arguments, recorded before its enter.
    Arguments,
    /// A call's result, recorded before its exit.
    Result,
}

/// What the values of a record are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shape {
    /// Its number, from 1, of which the trace has no other.
    pub shape: u32,
    /// What they are of.
    pub of: Of,
    /// One for each value.
    pub fields: Vec<Field>,
}

/// A value: an argument, or the result.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Field {
    /// The parameter's name; empty for a result, and for a parameter without one.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: Type,
    /// Where it comes from.
    pub from: Source,
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// From the record's words.
    Recorded(Vec<Part>),
    /// It is always this, by the program's debug information: bytes, the lowest first.
    Constant(Vec<u8>),
    /// It is not known.
    Missing(Missing),
}

/// A part of a value, one behind the other, as one step of a recipe records it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// So many bytes, in whole words.
    Bytes(u16),
    /// Bytes that were not kept by the program: the rest of the value was.
    Gap(u16),
    /// Bytes of which nothing tells where they are: it does of the rest of the value.
    Unknown(u16),
    /// A text behind its length.
    Text,
}

impl Part {
    /// The words that it takes in a record, but for a text's bytes.
    pub(super) fn fixed_words(self) -> usize {
        match self {
            Part::Bytes(count) => usize::from(count).div_ceil(8),
            Part::Gap(_) | Part::Unknown(_) => 0,
            Part::Text => 1,
        }
    }
}

/// The most parts that a record's values may have: so many can say that they could not be read.
pub const MOST_PARTS: usize = 32;

/// Why a value is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// By the program's debug information, the optimiser has not kept it.
    OptimisedOut,
    /// Debug information does not tell where it is when the hook is called.
    NotKnown,
    /// The record has no room for it.
    LeftOut,
}

/// The type of a value, as far as it matters to print it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Type {
    /// An integer of so many bytes.
    Integer {
        /// 1 to 16.
        bytes: u16,
        /// Whether it may be negative.
        signed: bool,
    },
    /// `bool`.
    Bool,
    /// A character of so many bytes.
    Character {
        /// 1, 2 or 4.
        bytes: u16,
    },
    /// A number of floating point, of so many bytes.
    Float {
        /// 4, 8, or 16 of the x87.
        bytes: u16,
    },
    /// An address.
    Pointer,
    /// The address of a function.
    Function,
    /// An enumeration.
    Enumeration {
        /// As of an integer.
        bytes: u16,
        /// As of an integer.
        signed: bool,
        /// Its enumerators.
        names: Vec<(i64, String)>,
    },
    /// A text: `char const*`, `std::string`, `std::string_view`.
    Text,
    /// A structure, class or union of so many bytes; what is behind those that were recorded is
    /// left out.
    Record {
        /// All its bytes.
        bytes: u32,
        /// Its members, those of its bases first.
        members: Vec<Member>,
    },
    /// An array.
    Array {
        /// The type of its elements.
        of: Box<Type>,
        /// Bytes of each.
        bytes: u32,
        /// How many.
        count: u32,
    },
    /// A type of this name of which nothing else is known.
    Opaque(String),
}

/// A member of a structure.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Member {
    /// Its name.
    pub name: String,
    /// Where it begins, in bytes.
    pub at: u32,
    /// For a bit field, its lowest bit there and how many it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bits: Option<(u8, u8)>,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: Type,
}

/// The file's name.
pub(crate) const SHAPES: &str = "shapes";

/// The shapes of a trace, by number.
#[derive(Clone, Debug, Default)]
pub struct Shapes {
    by_number: HashMap<u32, Shape>,
    pub(crate) text: String,
    /// Lines that are no shapes.
    pub(crate) wrong: usize,
}

impl Shapes {
    /// Reads the file's text. A line that is no shape is passed over, and counted: the last one may
    /// not be whole.
    pub fn parse(text: String) -> Self {
        let mut wrong = 0;
        let shapes = text.lines().filter_map(|line| {
            let shape: Result<Shape, _> = serde_json::from_str(line);
            wrong += usize::from(shape.is_err());
            shape.ok().map(|shape| (shape.shape, shape))
        });
        Shapes {
            by_number: shapes.collect(),
            text,
            wrong,
        }
    }

    /// The shape with this number.
    pub fn get(&self, number: u32) -> Option<&Shape> {
        self.by_number.get(&number)
    }

    /// Whether there are none: then no values were asked for.
    pub fn is_empty(&self) -> bool {
        self.by_number.is_empty()
    }

    /// Adds shapes to those of the trace at `trace`.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn append(trace: &Path, shapes: &[Shape]) -> Result<(), crate::Error> {
        if shapes.is_empty() {
            return Ok(());
        }
        let path = trace.join(SHAPES);
        let mut text = String::new();
        for shape in shapes {
            // There is no key that is no string, so it cannot fail.
            text += &serde_json::to_string(shape).unwrap_or_default();
            text.push('\n');
        }
        let flags = libc::O_WRONLY | libc::O_APPEND | libc::O_CREAT;
        let mut file = crate::file::open_own(&path, flags)?;
        std::io::Write::write_all(&mut file, text.as_bytes()).map_err(crate::Error::io(&path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_read_as_they_were_written_and_a_torn_line_is_none() {
        let shape = Shape {
            shape: 7,
            of: Of::Arguments,
            fields: vec![Field {
                name: "n".into(),
                kind: Type::Integer {
                    bytes: 4,
                    signed: true,
                },
                from: Source::Recorded(vec![Part::Bytes(4)]),
            }],
        };
        let trace = tempfile::tempdir().unwrap();
        Shapes::append(trace.path(), std::slice::from_ref(&shape)).unwrap();
        let text = std::fs::read_to_string(trace.path().join(SHAPES)).unwrap();
        let shapes = Shapes::parse(format!("{text}{{\"shape\":8,\"of"));
        assert_eq!(shapes.get(7), Some(&shape));
        assert_eq!(shapes.get(8), None);
        assert!(Shapes::parse("7\n".into()).is_empty());
    }
}

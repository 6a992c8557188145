//! Steps of a recipe: how the library finds a value when a hook is called.

use super::Part;

/// What the library does (docs/trace-format.md, Plans). `a` is a word that steps leave to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// `a` is what this register of DWARF's numbers (0–15) holds, and so many bytes more.
    Register(u8, i32),
    /// `a` is the word so far behind `a`; `in_frame`: in the frame of the hook's caller.
    Load {
        /// From `a`.
        offset: i32,
        /// It is there for certain.
        in_frame: bool,
    },
    /// Records so many of the low bytes of `a`, at most 8.
    Put(u16),
    /// Records so many of the low bytes of this vector register (0–7), at most 16.
    Vector(u8, u16),
    /// Records so many bytes at `a` and behind it.
    Copy {
        /// How many.
        bytes: u16,
        /// From `a`.
        offset: i32,
        /// As in [`Step::Load`].
        in_frame: bool,
    },
    /// Records the text at `a` up to its zero, and at most so many bytes of it.
    String(u16),
    /// `b` is `a`.
    Keep,
    /// Records the text at `a` of `b` bytes, and at most so many of them.
    View(u16),
    /// The same of a text with its pointer and its length so far behind `a`.
    Text {
        /// The most bytes.
        most: u16,
        /// Where its pointer is.
        text: i16,
        /// Where its length is.
        length: i16,
    },
}

impl Step {
    /// Its word in a plan.
    pub fn word(self) -> u64 {
        let word = |number: u64, register: u8, n: u16, offset: u32| {
            number | u64::from(register) << 8 | u64::from(n) << 16 | u64::from(offset) << 32
        };
        match self {
            Step::Register(register, offset) => word(1, register, 0, offset as u32),
            Step::Load { offset, in_frame } => word(2, in_frame.into(), 0, offset as u32),
            Step::Put(bytes) => word(3, 0, bytes, 0),
            Step::Vector(register, bytes) => word(4, register, bytes, 0),
            Step::Copy {
                bytes,
                offset,
                in_frame,
            } => word(5, in_frame.into(), bytes, offset as u32),
            Step::String(most) => word(6, 0, most, 0),
            Step::Text { most, text, length } => {
                let offsets = u32::from(text as u16) | u32::from(length as u16) << 16;
                word(7, 0, most, offsets)
            }
            Step::Keep => word(8, 0, 0, 0),
            Step::View(most) => word(9, 0, most, 0),
        }
    }

    /// What it leaves in the record, which is all that a reader goes by; `None`: nothing.
    pub fn part(self) -> Option<Part> {
        match self {
            Step::Register(..) | Step::Load { .. } | Step::Keep => None,
            Step::Put(bytes) | Step::Vector(_, bytes) | Step::Copy { bytes, .. } => {
                Some(Part::Bytes(bytes))
            }
            Step::String(_) | Step::Text { .. } | Step::View(_) => Some(Part::Text),
        }
    }

    /// The most words that it records.
    pub fn most_words(self) -> usize {
        let texts = match self {
            Step::String(most) | Step::Text { most, .. } | Step::View(most) => most,
            _ => 0,
        };
        let part = self.part().map_or(0, Part::fixed_words);
        part + usize::from(texts).div_ceil(8)
    }
}

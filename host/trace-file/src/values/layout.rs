//! Which of a record's words are which value's.
//!
//! The library writes what [`Step::part`](super::Step::part) says of each step, in order. Here the
//! words are divided in the same order, before any value is looked at: so what a value is, and
//! whether all of it is there, cannot move where the next one is read.

use super::{Field, MOST_PARTS, Missing, Part, Shape, Source, Values};
use zerocopy::IntoBytes;
use zerocopy::little_endian::U64;

/// What a record has of a part of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found<'a> {
    Bytes(&'a [u8]),
    /// The first bytes of a text; `more`: it was longer.
    Text {
        bytes: &'a [u8],
        more: bool,
    },
    /// A text that could not be read, at this address.
    NoText(u64),
    /// An object that could not be read, at this address if the library has told it.
    NoBytes(Option<u64>),
    /// So many bytes are not there, for this reason.
    Gap(u16, Missing),
}

impl<'a> Values<'a> {
    /// What was recorded of each field, part by part; nothing of those that are no recorded ones.
    /// `None`: these are no values of this shape.
    pub(super) fn divided(&self, shape: &Shape) -> Option<Vec<Vec<Found<'a>>>> {
        let mut words = Words {
            rest: self.words,
            missing: self.missing,
            number: 0,
        };
        let mut field = |field: &Field| match &field.from {
            Source::Recorded(parts) => parts.iter().map(|&part| words.part(part)).collect(),
            Source::Constant(_) | Source::Missing(_) => Some(Vec::new()),
        };
        let fields = shape.fields.iter().map(&mut field).collect();
        words.rest.is_empty().then_some(fields)?
    }
}

/// The words of a record that no part has taken yet.
struct Words<'a> {
    rest: &'a [U64],
    missing: u32,
    number: usize,
}

impl<'a> Words<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [U64]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    /// Whether the next part could be read when it was recorded. `None`: no bit tells it.
    fn is_there(&mut self) -> Option<bool> {
        let number = self.number;
        self.number += 1;
        (number < MOST_PARTS).then(|| self.missing >> number & 1 == 0)
    }

    fn part(&mut self, part: Part) -> Option<Found<'a>> {
        let fixed = self.take(part.fixed_words())?;
        Some(match part {
            Part::Gap(bytes) => Found::Gap(bytes, Missing::OptimisedOut),
            Part::Unknown(bytes) => Found::Gap(bytes, Missing::NotKnown),
            Part::Bytes(_) if !self.is_there()? => {
                let told = fixed.first().map(|word| word.get());
                Found::NoBytes(told.filter(|&word| word != 0).map(|word| !word))
            }
            Part::Bytes(count) => Found::Bytes(fixed.as_bytes().get(..usize::from(count))?),
            Part::Text => {
                let word = fixed.first()?.get();
                if !self.is_there()? {
                    return Some(Found::NoText(word));
                }
                let (here, all) = (word as u32, (word >> 32) as u32);
                let text = self.take((here as usize).div_ceil(8))?.as_bytes();
                Found::Text {
                    bytes: text.get(..here as usize)?,
                    more: all != here,
                }
            }
        })
    }
}

//! What calls were given and gave back (`heddle record --args`, `--retval`).
//!
//! A record of values has a number, that of a [`Shape`], and words in the order in which the
//! shape's recipe left them. Shapes are in the trace's file `shapes`, which `heddle record` writes
//! as it answers processes by plans: so a trace says by itself what its values are, also where the
//! program is gone.

mod layout;
mod shape;
mod step;
mod value;

pub(crate) use shape::SHAPES;
pub use shape::{Field, MOST_PARTS, Member, Missing, Of, Part, Shape, Shapes, Source, Type};
pub use step::Step;
pub use value::Value;

use zerocopy::little_endian::U64;

/// The values that were recorded before an enter or an exit of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Values<'a> {
    /// Whether they are the call's arguments or its result.
    pub of: Of,
    /// The low half of the address that the call's enter has as its function.
    pub function: u32,
    /// The number of their [`Shape`].
    pub shape: u32,
    /// Values that could not be read, as bits.
    pub(crate) missing: u32,
    pub(crate) words: &'a [U64],
}

impl Values<'_> {
    /// A copy that outlives the trace's memory.
    pub fn keep(&self) -> Kept {
        Kept {
            of: self.of,
            function: self.function,
            shape: self.shape,
            missing: self.missing,
            words: self.words.to_vec(),
        }
    }
}

/// [`Values`] that own their words.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Kept {
    of: Of,
    function: u32,
    shape: u32,
    missing: u32,
    words: Vec<U64>,
}

impl Kept {
    /// The values.
    pub fn values(&self) -> Values<'_> {
        Values {
            of: self.of,
            function: self.function,
            shape: self.shape,
            missing: self.missing,
            words: &self.words,
        }
    }
}

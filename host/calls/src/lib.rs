//! From events to calls: which exit belongs to which enter, and what that says about time.
//!
//! ```text
//! thread.events() → Stack → Span … → Profile (per function)
//!                                  → Node    (call trees)
//! ```
//!
//! A [`Stack`] takes the events of one thread as calls on one stack, and this is the fast way for
//! threads that never leave theirs: a [`Profile`] is read in pieces, by all workers at once. The
//! crate `heddle-strands` decodes the others, and tells of all calls by one trait, `Sink`, with a
//! [`Span`] for each.

mod chunk;
mod divided;
mod function;
mod in_order;
mod joining;
mod pieces;
mod profile;
mod span;
mod stack;
mod tally;
mod tree;
mod variants;

pub use heddle_trace_file::Workers;

pub use function::{FunctionId, Functions, Key};
pub use pieces::{Piece, SoFar, Take};
pub use profile::{Profile, Source, Stats, Wanted, Watch};
pub use span::{End, Loose, Span};
pub use stack::{Frame, Stack, Step};
pub use tree::{DEEPEST, Growing, Node, TreeError};
pub use variants::{Variant, Variants};

//! From events to calls: which exit belongs to which enter, and what that says about time.
//!
//! ```text
//! thread.events() → Stack → Span … → Profile (per function)
//!                                  → Node    (call trees)
//! ```
//!
//! [`Span`] is the seam: a [`Stack`] takes the events of one thread as calls on one stack. A decoder that tells the fibers and coroutines of a
//! thread apart produces the same spans, by strand, and what is built on spans need not change.

mod chunk;
mod divided;
mod function;
mod in_order;
mod joining;
mod profile;
mod span;
mod stack;
mod tally;
mod tree;
mod workers;

pub use function::{FunctionId, Functions, Key};
pub use profile::{Profile, Stats, Wanted};
pub use span::{End, Loose, Span};
pub use stack::{Frame, Stack, Step};
pub use tree::{DEEPEST, Growing, Node, TreeError};
pub use workers::Workers;

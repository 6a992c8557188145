//! Filters for the calls of a recorded trace, with the semantics of `heddle record`.
//!
//! The seam is the engine's `Sink`: every verb takes its calls from it, so one wrapper
//! (`Filtered`) serves all of them, and a verb without a filter gives the engine its own sink.

mod args;
mod before;
mod decode;
mod learned;
mod left_out;
mod mine;
mod open;
mod options;
mod pattern;
mod prepared;
mod range;
mod rules;
mod shown;
mod sink;
mod verdict;

pub use args::FilterArgs;
pub use decode::{decode, decode_kept};
pub use left_out::LeftOut;
pub use options::CallOptions;
pub use pattern::Pattern;
pub use prepared::Filter;
pub use range::TimeRange;
pub use shown::Shown;
pub use sink::{Filterable, Kept, unwrap};

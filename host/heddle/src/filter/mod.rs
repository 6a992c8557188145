//! What leaves calls out: the semantics are in docs/record.md.

mod options;
mod pattern;

pub use options::CallOptions;
pub use pattern::Pattern;

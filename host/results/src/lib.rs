//! What a comparison found: the raw samples, as they stand in `results.jsonl`, and the report that
//! is computed from them.
//!
//! `heddle-lab` fills these types, `heddle-page` draws them; neither knows the other.

mod claim;
mod printed;
mod report;
mod sample;
mod statement;
mod tally;
pub mod text;

pub use claim::*;
pub use printed::*;
pub use report::*;
pub use sample::*;
pub use statement::*;
pub use tally::*;

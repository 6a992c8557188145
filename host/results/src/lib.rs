//! What a comparison found: the raw samples, as they stand in `results.jsonl`, and the report that is computed from them.
//!
//! `heddle-lab` fills these types, `heddle-page` draws them; neither knows the other.

mod claim;
mod report;
mod sample;
mod statement;
pub mod text;

pub use claim::*;
pub use report::*;
pub use sample::*;
pub use statement::*;

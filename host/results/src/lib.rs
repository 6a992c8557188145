//! What a comparison found: the raw samples, as they stand in `results.jsonl`, and the report that is computed from them.
//!
//! `heddle-lab` fills these types, `heddle-page` draws them; neither knows the other.

mod report;
mod sample;
pub mod text;

pub use report::*;
pub use sample::*;

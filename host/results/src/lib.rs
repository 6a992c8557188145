//! What a comparison found: the raw samples, as they stand in `results.jsonl`, and the report that
//! is computed from them.
//!
//! `heddle-lab` fills these types, `heddle-page` draws them; neither knows the other.

mod answer;
mod cause;
mod claim;
mod near;
mod printed;
mod report;
mod sample;
mod side_by_side;
mod statement;
mod surroundings;
mod tally;
mod telling;
pub mod text;
mod thread_time;

pub use answer::*;
pub use cause::*;
pub use claim::*;
pub use near::*;
pub use printed::*;
pub use report::*;
pub use sample::*;
pub use side_by_side::*;
pub use statement::*;
pub use surroundings::*;
pub use tally::*;
pub use telling::*;
pub use thread_time::*;

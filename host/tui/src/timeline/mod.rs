//! The timeline: which rows there are, which part of the time is shown, and what lies where.

mod find;
mod known;
mod lines;
mod place;

pub use find::{Strip, Under, calls_on, strip, summed_on, summed_within, under};
pub use known::lives_until;
pub use lines::{Line, What};
pub use place::{Rows, Timeline};

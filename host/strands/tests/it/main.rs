//! Which strand an event is of.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod arrays;
mod close;
mod destroyed;
mod distances;
mod exits;
mod forks;
mod handlers;
mod instances;
mod jumps;
mod leaves;
mod log;
mod made_stacks;
mod marks;
mod part;
mod random;
mod shared;
mod used_again;
mod ways;
mod workers;

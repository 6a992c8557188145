//! Experiment files, and the documents beside them.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod agreement;
mod contract;
mod files;
mod judged;
mod statements;

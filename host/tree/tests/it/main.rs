//! Call trees that are expected.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod document;
mod format;

//! What is on the screen, whatever is pressed; and the index of a trace.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod index;
mod keys;
mod many;
mod sample;
mod screens;

//! Calls of threads, from their events.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod dividing;
mod pairing;

//! `heddle compare` as a user meets it: lab programs that are shell scripts, a directory of their
//! own.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod baseline;
mod claims;
mod compare;
mod house;
mod page;
mod resuming;
mod sharding;
mod stopping;
mod summary;

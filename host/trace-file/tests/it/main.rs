//! What the crate promises of files. One program, because each costs a compilation and a link.

#![allow(clippy::unwrap_used)]

mod allocation;
mod collecting;
mod corrupt;
mod packing;
mod reads;
mod switches;
mod values;
mod waits;

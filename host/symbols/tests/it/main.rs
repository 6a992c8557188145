//! Names and recipes, from real files of a compiler.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod elf;
mod recipes;
mod values;
mod variables;

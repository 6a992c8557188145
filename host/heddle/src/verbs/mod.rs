//! One file or folder for each verb: its arguments (clap stops here) and what it does. `compare` is
//! a crate of its own, host/compare.

pub mod advise;
pub mod check;
pub mod completions;
pub mod diff;
pub mod doctor;
pub mod export;
pub mod flags;
pub mod graph;
pub mod info;
pub mod new;
pub mod pack;
pub mod record;
pub mod recover;
pub mod replay;
pub mod report;
pub mod strands;
pub mod tree;
pub mod tui;
pub mod view;

//! The `heddle` command as a library: what its program runs, and what its manual pages are made from.

mod calls_of;
mod cli;
mod exporting;
mod file_limit;
mod filtering;
mod names;
mod notes;
mod output;
mod packing;
mod planning;
mod recording;
mod replaying;
mod reporting;
mod strand_list;
mod strand_look;
mod trace_arg;
mod verbs;

pub use cli::{command, run};

//! The `heddle` command.

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
mod strand_calls;
mod strand_list;
mod strand_look;
mod trace_arg;
mod verbs;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}

//! The `heddle` command.

mod cli;
mod verbs;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}

//! The `heddle` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    heddle::run()
}

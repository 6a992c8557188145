//! The `heddle` command.

use std::process::ExitCode;

#[global_allocator]
static MEMORY: heddle::Memory = heddle::Memory;

fn main() -> ExitCode {
    heddle::run()
}

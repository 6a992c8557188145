//! `heddle compare` by itself, without the tracer's crates: what `./dev compare` builds first,
//! because it compiles in a third of the time.

use clap::Parser;
use std::process::ExitCode;

/// Run the experiments and write a report
#[derive(Parser)]
#[command(name = "heddle compare", version)]
struct Cli {
    #[command(flatten)]
    args: heddle_compare::Args,
}

fn main() -> ExitCode {
    heddle_compare::run(Cli::parse().args).unwrap_or_else(|error| {
        heddle_compare::print_error(&error);
        ExitCode::from(1)
    })
}

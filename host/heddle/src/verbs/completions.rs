//! `heddle completions`: docs/completions.md.

use crate::output;
use clap::Command;
use clap_complete::{Shell, generate};
use std::process::ExitCode;

/// Arguments of `heddle completions`.
#[derive(clap::Args)]
pub struct Args {
    /// The shell that they are for
    #[arg(value_enum)]
    shell: For,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum For {
    Bash,
    Fish,
    Zsh,
}

/// Prints the completions of `command`.
pub fn run(args: &Args, mut command: Command) -> anyhow::Result<ExitCode> {
    let shell = match args.shell {
        For::Bash => Shell::Bash,
        For::Fish => Shell::Fish,
        For::Zsh => Shell::Zsh,
    };
    let mut text = Vec::new();
    generate(shell, &mut command, "heddle", &mut text);
    output::print(|out| Ok(out.write_all(&text)?))?;
    Ok(ExitCode::SUCCESS)
}

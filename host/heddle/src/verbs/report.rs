use std::process::ExitCode;

/// Arguments of `heddle report`.
#[derive(clap::Args)]
pub struct Args {}

/// Runs `heddle report`.
pub fn run(_args: Args) -> anyhow::Result<ExitCode> {
    anyhow::bail!("not built yet")
}

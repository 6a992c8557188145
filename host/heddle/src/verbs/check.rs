use std::process::ExitCode;

/// Arguments of `heddle check`.
#[derive(clap::Args)]
pub struct Args {}

/// Runs `heddle check`.
pub fn run(_args: Args) -> anyhow::Result<ExitCode> {
    anyhow::bail!("not built yet")
}

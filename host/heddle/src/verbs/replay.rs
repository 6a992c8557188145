use std::process::ExitCode;

/// Arguments of `heddle replay`.
#[derive(clap::Args)]
pub struct Args {}

/// Runs `heddle replay`.
pub fn run(_args: Args) -> anyhow::Result<ExitCode> {
    anyhow::bail!("not built yet")
}

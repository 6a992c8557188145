use std::process::ExitCode;

/// Arguments of `heddle info`.
#[derive(clap::Args)]
pub struct Args {}

/// Runs `heddle info`.
pub fn run(_args: Args) -> anyhow::Result<ExitCode> {
    anyhow::bail!("not built yet")
}

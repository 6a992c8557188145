use std::process::ExitCode;

/// Arguments of `heddle flags`.
#[derive(clap::Args)]
pub struct Args {}

/// Runs `heddle flags`.
pub fn run(_args: Args) -> anyhow::Result<ExitCode> {
    anyhow::bail!("not built yet")
}

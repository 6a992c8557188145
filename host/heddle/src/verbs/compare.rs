use std::process::ExitCode;

/// Arguments of `heddle compare`.
#[derive(clap::Args)]
pub struct Args {}

/// Runs `heddle compare`.
pub fn run(_args: Args) -> anyhow::Result<ExitCode> {
    anyhow::bail!("not built yet")
}

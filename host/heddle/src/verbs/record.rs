use std::process::ExitCode;

/// Arguments of `heddle record`.
#[derive(clap::Args)]
pub struct Args {}

/// Runs `heddle record`.
pub fn run(_args: Args) -> anyhow::Result<ExitCode> {
    anyhow::bail!("not built yet")
}

//! `heddle pack`: docs/pack.md.

use crate::notes::note;
use crate::packing;
use crate::trace_arg::TraceArg;
use anyhow::Context;
use heddle_trace_file::pack;
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `heddle pack`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    trace: TraceArg,
    /// File to make; without it, the trace's name with `.packed` behind it
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Runs `heddle pack`.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let trace = args.trace.open()?;
    anyhow::ensure!(
        trace.symbols().is_none(),
        "{}: it is packed already",
        trace.path().display()
    );
    let output = match args.output {
        Some(output) => output,
        None => beside(&args.trace.trace)?,
    };
    let symbols = packing::symbols(&trace)?;
    let packed = pack(&trace, &symbols, &output)?;
    let events: u64 = packing::events(&trace)?;
    note(format_args!(
        "packed {} of {events} events into {}: {} bytes, {:.2} an event; next: heddle report {}",
        args.trace.trace.display(),
        output.display(),
        packed.bytes,
        packed.bytes as f64 / events.max(1) as f64,
        crate::notes::quoted(&output)
    ));
    Ok(ExitCode::SUCCESS)
}

/// `heddle.trace` becomes `heddle.trace.packed`.
fn beside(trace: &std::path::Path) -> anyhow::Result<PathBuf> {
    let whole = trace
        .canonicalize()
        .with_context(|| trace.display().to_string())?;
    let mut name = whole
        .file_name()
        .context("a trace without a name: say --output FILE")?
        .to_owned();
    name.push(".packed");
    Ok(trace
        .parent()
        .map_or_else(PathBuf::new, PathBuf::from)
        .join(name))
}

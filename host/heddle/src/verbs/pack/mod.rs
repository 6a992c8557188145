//! `heddle pack`: docs/pack.md.

mod contents;

use crate::notes::{self, note};
use crate::trace_arg::TraceArg;
use crate::unnamed::Unbound;
use anyhow::Context;
use heddle_trace_file::pack_into;
use std::io::BufWriter;
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
        None => args.trace.beside(".packed")?,
    };
    anyhow::ensure!(
        output.symlink_metadata().is_err(),
        "{}: it exists; remove it, or name another file with -o FILE",
        output.display()
    );
    let (symbols, damages) = contents::symbols(&trace)?;
    notes::damaged(&damages);
    // Like the trace's own files: command lines are in it.
    let file = Unbound::new(&output, 0o600)?;
    let to = BufWriter::new(file.file.as_file());
    let packed = pack_into(&trace, &symbols, to, &output)?;
    let shown = || output.display().to_string();
    file.name().with_context(shown)?;
    let events: u64 = contents::events(&trace)?;
    note(format_args!(
        "packed {} of {events} events into {}: {} bytes, {:.2} an event; next: heddle report {}",
        args.trace.trace.display(),
        output.display(),
        packed.bytes,
        packed.bytes as f64 / events.max(1) as f64,
        notes::quoted(&output)
    ));
    Ok(ExitCode::SUCCESS)
}

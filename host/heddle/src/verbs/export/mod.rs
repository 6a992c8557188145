//! `heddle export`: docs/export.md. One folder for each format.

mod perfetto;
mod selection;
mod spill;
mod unnamed;

use crate::filter::{Filter, FilterArgs, LeftOut};
use crate::names::Names;
use crate::notes::{counted, were};
use crate::strand_name::StrandName;
use crate::trace_arg::TraceArg;
use crate::{notes, output};
use anyhow::Context;
use heddle_strands::Decoded;
use selection::Selection;
use spill::Spill;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use unnamed::Unnamed;

/// Arguments of `heddle export`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    trace: TraceArg,
    /// perfetto: for https://ui.perfetto.dev, a track a strand
    #[arg(long, value_enum, default_value_t = Format::Perfetto)]
    format: Format,
    /// File to write, - for standard output; without it, the trace's name with `.perfetto-trace`
    /// behind it
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Only the strand with this number, as `heddle strands` prints it; may be given several times
    #[arg(long = "strand", value_name = "N")]
    strands: Vec<StrandName>,
    #[command(flatten)]
    filter: FilterArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Perfetto,
}

/// What was written, and what is to be said about it.
type Exported = (perfetto::Written, Decoded<()>);

/// Runs `heddle export`.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let trace = args.trace.open()?;
    let output = match &args.output {
        Some(output) => output.clone(),
        None => args.trace.beside(".perfetto-trace")?,
    };
    let mut names = Names::new(&trace);
    let filter = Filter::new(&args.filter, &trace, &mut names)?;
    let export = |spill: &Path, out: &mut dyn Write| -> anyhow::Result<Exported> {
        let Format::Perfetto = args.format;
        let spill = Spill::new(spill)?;
        let selection = Selection::new(&trace, &args.strands);
        let exported = perfetto::write((&trace, names), selection, filter, &spill, out)?;
        anyhow::ensure!(
            exported.0.strands > 0 || args.strands.is_empty() || !args.filter.is_empty(),
            "{}: none of these strands is there; to see which are: heddle strands {}",
            trace.path().display(),
            notes::quoted(&args.trace.trace)
        );
        Ok(exported)
    };
    let (written, decoded) = if output == Path::new("-") {
        let mut result = None;
        output::print(|out| {
            result = Some(export(&std::env::temp_dir(), out)?);
            Ok(())
        })?;
        // Without a result, who was to read it had seen enough.
        let Some(result) = result else {
            return Ok(ExitCode::SUCCESS);
        };
        result
    } else {
        to_file(&output, export)?
    };
    notes::unresolved(&decoded.unresolved);
    notes::incomplete(&trace, decoded.loose, &decoded.remarks);
    if written.deep > 0 {
        notes::warning(format_args!(
            "{} left out, within {} others: Perfetto takes 512 slices in one another",
            were(written.deep, "call"),
            perfetto::DEEPEST
        ));
    }
    written.left_out.iter().for_each(LeftOut::tell);
    if output != Path::new("-") {
        notes::note(format_args!(
            "exported {} of {} to {}; next: open it at https://ui.perfetto.dev",
            counted(written.calls, "call"),
            counted(written.strands, "strand"),
            output.display()
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// Has `export` write the file at `path`. What was there stays until the new file is whole; a
/// device or a pipe is written as it is.
fn to_file(
    path: &Path,
    export: impl FnOnce(&Path, &mut dyn Write) -> anyhow::Result<Exported>,
) -> anyhow::Result<Exported> {
    let told = || path.display().to_string();
    let write = |file: &File, spill: &Path| -> anyhow::Result<Exported> {
        let mut out = BufWriter::new(file);
        let exported = export(spill, &mut out)?;
        out.flush()?;
        Ok(exported)
    };
    if path
        .metadata()
        .is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
    {
        let file = File::options().write(true).open(path);
        return write(&file.with_context(told)?, &std::env::temp_dir()).with_context(told);
    }
    // What a link leads to is written, not the link.
    let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let directory = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let file = Unnamed::new(directory).with_context(told)?;
    let exported = write(file.as_file(), directory).with_context(told)?;
    file.name(path).with_context(told)?;
    Ok(exported)
}

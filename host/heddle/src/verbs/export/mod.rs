//! `heddle export`: docs/export.md. One folder for each format.

mod behind;
mod chrome;
pub mod destination;
mod firefox;
mod folded;
mod json;
mod json_text;
mod parquet;
mod perfetto;
pub mod selection;
pub mod spill;
pub mod tables;
pub mod tracks;
pub mod written;

use crate::filter::{Filter, FilterArgs, LeftOut};
use crate::incomplete;
use crate::names::{Length, Names};
use crate::notes::{counted, were};
use crate::strand_name::StrandName;
use crate::trace_arg::TraceArg;
use crate::usage::Usage;
use crate::{calls_of, notes};
use heddle_strands::Decoded;
use heddle_trace_file::Trace;
use selection::Selection;
use spill::Spill;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tracks::{Tracks, Wanted};
use written::Written;

/// Arguments of `heddle export`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    trace: TraceArg,
    /// The program that is to read the file
    #[arg(long, value_enum, default_value_t = Format::Perfetto)]
    format: Format,
    /// File to write, - for standard output, of parquet a folder; without it, the trace's name with
    /// the format's ending behind it, such as `.perfetto-trace`
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Only the strand with this number, as `heddle strands` prints it; may be given several times.
    /// Not for folded and svg
    #[arg(long = "strand", value_name = "N")]
    strands: Vec<StrandName>,
    /// Write names without template arguments and return types, or whole; folded and svg have
    /// short names without this
    #[arg(long, value_enum, value_name = "LENGTH")]
    names: Option<Length>,
    #[command(flatten)]
    filter: FilterArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// For https://ui.perfetto.dev: a track a strand, flows
    Perfetto,
    /// Chrome's trace events, for chrome://tracing, Perfetto and speedscope: the same, larger
    Chrome,
    /// Firefox Profiler's processed profile, for https://profiler.firefox.com: a row a strand
    Firefox,
    /// A line a stack with its nanoseconds, for speedscope, inferno and flamegraph.pl
    Folded,
    /// A flame graph, for any browser
    Svg,
    /// Tables as a folder of files, for DuckDB and Spark: traces of many machines are one data set
    Parquet,
    /// Rows of tables, one a line, for jq, DuckDB and programs of one's own
    Json,
}

impl Format {
    /// What a file's name ends in.
    fn ending(self) -> &'static str {
        match self {
            Format::Perfetto => ".perfetto-trace",
            Format::Chrome => ".events.json",
            Format::Firefox => ".firefox.json",
            Format::Folded => ".folded",
            Format::Svg => ".svg",
            Format::Parquet => ".parquet",
            Format::Json => ".jsonl",
        }
    }

    /// What to do with the file.
    fn next(self) -> &'static str {
        match self {
            Format::Perfetto => "open it at https://ui.perfetto.dev",
            Format::Chrome => {
                "open it at https://ui.perfetto.dev, chrome://tracing or https://speedscope.app"
            }
            Format::Firefox => "open it at https://profiler.firefox.com",
            Format::Folded => {
                "open it at https://speedscope.app, or draw it: inferno-flamegraph FILE > FILE.svg"
            }
            Format::Svg => "open it in a browser",
            Format::Parquet => "ask it: duckdb -c \"from 'FOLDER/functions/*/*/*.parquet'\"",
            Format::Json => "ask it: duckdb -c \"select * from read_json_auto('FILE')\"",
        }
    }
}

/// What was written, and what is to be said about the trace.
type Exported = (Written, Decoded<()>);

/// Runs `heddle export`.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    if matches!(args.format, Format::Folded | Format::Svg) && !args.strands.is_empty() {
        notes::error(
            "--strand: folded and svg add all strands up; `--thread N` takes those of a thread, `-F FUNCTION` the calls of a function",
        );
        return Ok(ExitCode::from(2));
    }
    let output = args.output.as_deref();
    if args.format == Format::Parquet && output.is_some_and(destination::is_stdout) {
        notes::error("--output -: parquet is a folder of files; name one: -o FOLDER");
        return Ok(ExitCode::from(2));
    }
    // Stacks that are walked recursively may be deep.
    calls_of::with_deep_stack(move || export(&args))
}

fn export(args: &Args) -> anyhow::Result<ExitCode> {
    let trace = args.trace.open()?;
    let output = match &args.output {
        Some(output) => output.clone(),
        None => args.trace.beside(args.format.ending())?,
    };
    let length = args.names.unwrap_or(match args.format {
        Format::Folded | Format::Svg => Length::Short,
        _ => Length::Full,
    });
    let mut names = Names::new(&trace).of_length(length);
    // What is wrong with it is not the file's fault.
    let filter = Filter::new(&args.filter, &trace, &mut names)?;
    let with = (names, filter);
    let written = match args.format {
        Format::Parquet => Some(write_folder(args, &trace, with, &output)?),
        _ => destination::write(&output, args.output.is_some(), |beside, out| {
            write(args, &trace, with, beside, out)
        })?,
    };
    let Some((written, decoded)) = written else {
        return Ok(ExitCode::SUCCESS);
    };
    notes::unresolved(&decoded.unresolved);
    incomplete::tell(&trace, decoded.loose, &decoded.remarks);
    if written.deep > 0 {
        deep(args.format, written.deep);
    }
    written.left_out.iter().for_each(LeftOut::tell);
    if !destination::is_stdout(&output) {
        notes::note(format_args!(
            "exported {} of {} to {}; next: {}",
            counted(written.calls, "call"),
            counted(written.strands, "strand"),
            output.display(),
            args.format.next()
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the file; `beside` is a directory with room for as much again.
fn write(
    args: &Args,
    trace: &Trace,
    (mut names, filter): (Names<'_>, Option<Filter<'_>>),
    beside: &Path,
    out: &mut dyn Write,
) -> anyhow::Result<Exported> {
    let stacks = |names, what, out| folded::write(trace, names, &args.filter, what, out);
    match args.format {
        Format::Folded => return stacks(names, folded::As::Text, out),
        Format::Svg => return stacks(names, folded::As::Svg, out),
        _ => {}
    }
    let spill = Spill::new(beside)?;
    let selection = Selection::new(trace, &args.strands);
    let (written, decoded) = if args.format == Format::Json {
        let mut rows = json::Json::new(trace, out)?;
        let wanted = tables::Wanted {
            selection,
            filter,
            lives: false,
        };
        tables::read(trace, &mut names, wanted, &spill, &mut rows)?
    } else {
        let wanted = Wanted {
            selection,
            filter,
            deepest: match args.format {
                Format::Firefox => u64::MAX,
                _ => tracks::DEEPEST,
            },
        };
        let mut more = 0;
        let write = |names: &mut Names<'_>, tracks: Tracks<'_>| {
            match args.format {
                Format::Chrome => chrome::write(trace, names, tracks, out)?,
                Format::Firefox => more = firefox::write(trace, names, tracks, &spill, out)?,
                _ => perfetto::write(trace, names, tracks, out)?,
            }
            Ok(())
        };
        let (mut written, decoded) = tracks::with(trace, &mut names, wanted, &spill, write)?;
        if more > 0 {
            written.strands -= more;
            notes::warning(format_args!(
                "{} left out: Firefox Profiler has a row for each, and here are {}; choose some: --strand N, --thread N, -F FUNCTION",
                were(more, "strand"),
                firefox::MOST
            ));
        }
        (written, decoded)
    };
    any_strand(args, trace, &written)?;
    Ok((written, decoded))
}

/// Writes the files in a folder.
fn write_folder(
    args: &Args,
    trace: &Trace,
    (mut names, filter): (Names<'_>, Option<Filter<'_>>),
    folder: &Path,
) -> anyhow::Result<Exported> {
    let selection = Selection::new(trace, &args.strands);
    let (written, decoded, files) = parquet::write(trace, &mut names, (selection, filter), folder)?;
    any_strand(args, trace, &written)?;
    files.finish()?;
    Ok((written, decoded))
}

/// An error if none of the strands is there that were asked for.
fn any_strand(args: &Args, trace: &Trace, written: &Written) -> anyhow::Result<()> {
    if written.strands > 0 || args.strands.is_empty() || !args.filter.is_empty() {
        return Ok(());
    }
    Err(Usage::new(format!(
        "{}: none of these strands is there; to see which are: heddle strands {}",
        trace.path().display(),
        notes::quoted(&args.trace.trace)
    ))
    .into())
}

/// Says what became of calls that are within too many others.
fn deep(format: Format, calls: u64) {
    match format {
        Format::Folded | Format::Svg => notes::warning(format_args!(
            "{} within {} others: their time is that of the call around them",
            were(calls, "call"),
            folded::DEEPEST_STACK
        )),
        _ => notes::warning(format_args!(
            "{} left out, within {} others: Perfetto takes 512 slices in one another",
            were(calls, "call"),
            tracks::DEEPEST
        )),
    }
}

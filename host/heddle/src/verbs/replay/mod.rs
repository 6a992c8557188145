//! `heddle replay`: docs/replay.md. One file for each format of its lines.

mod line;
mod source;
mod steps;
mod text;
mod wait;

use crate::filter::{Filter, FilterArgs, LeftOut};
use crate::names::Names;
use crate::strand_look::finds_more_than_threads;
use crate::trace_arg::TraceArg;
use crate::{notes, output};
use line::Style;
use std::process::ExitCode;
use steps::{Replay, Step};
use wait::WaitLines;

/// Arguments of `heddle replay`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    trace: TraceArg,
    /// text: aligned and indented; source: `seconds.µs - Enter: callee called: caller`, the
    /// linker's names
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Print the linker's names
    #[arg(long)]
    no_demangle: bool,
    /// Print addresses behind names
    #[arg(long)]
    addresses: bool,
    /// After each enter, print the open calls, innermost first
    #[arg(long)]
    backtrace: bool,
    /// Say which thread an event was on, or which strand: a fiber, a coroutine's instance, or the
    /// thread itself. Without this: the strand, if the trace begins with others than threads
    #[arg(long, value_enum)]
    by: Option<By>,
    #[command(flatten)]
    filter: FilterArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Text,
    Source,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum By {
    Thread,
    Strand,
}

/// Runs `heddle replay`.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let trace = args.trace.open()?;
    let style = Style {
        mangled: args.no_demangle || args.format == Format::Source,
        addresses: args.addresses,
    };
    let mut names = Names::new(&trace);
    let filter = Filter::new(&args.filter, &trace, &mut names)?;
    let by_strand = match args.by {
        Some(by) => by == By::Strand,
        None => finds_more_than_threads(&trace, &mut names)?,
    };
    if by_strand && args.by.is_none() {
        notes::goes_by_strand();
    }
    let by = match by_strand {
        true => steps::By::Strand,
        false => steps::By::Thread,
    };
    let mut waits = WaitLines::new(&trace, &mut names);
    let mut replay = Replay {
        trace: &trace,
        by,
        wants_open: args.backtrace,
        filter,
    };
    output::print(|out| {
        let each = |names: &mut Names<'_>, place, label: &str, step: Step<'_>| {
            match (step, args.format) {
                (Step::Line(line, open), format) => {
                    match format {
                        Format::Text => text::line(out, &line, label, style)?,
                        Format::Source => source::line(out, &line, trace.epoch(), style)?,
                    }
                    if !open.is_empty() {
                        text::backtrace(out, names, place, open, style)?;
                    }
                }
                (Step::Other(event, depth), Format::Text) => {
                    match waits.line(names, place, event) {
                        Some((what, words)) => {
                            text::words(out, event.time, label, what, depth, &words)?;
                        }
                        None => text::other(out, event, label, depth)?,
                    }
                }
                (Step::Other(..), Format::Source) => {}
            }
            Ok(())
        };
        let told = replay.run(&mut names, each)?;
        out.flush()?;
        notes::unresolved(&told.unresolved);
        notes::incomplete(&trace, told.loose, &told.remarks);
        if !by_strand {
            notes::by_thread(told.loose);
        }
        told.left_out.iter().for_each(LeftOut::tell);
        Ok(())
    })?;
    Ok(ExitCode::SUCCESS)
}

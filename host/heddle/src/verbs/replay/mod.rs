//! `heddle replay`: docs/replay.md. One file for each format of its lines.

mod line;
mod source;
mod steps;
mod text;
mod tree;
mod wait;

use crate::filter::{Filter, FilterArgs, LeftOut};
use crate::incomplete;
use crate::names::{Length, Names, NamesArg};
use crate::strand_look::finds_more_than_threads;
use crate::strand_name::StrandName;
use crate::trace_arg::TraceArg;
use crate::{notes, sched, screen};
use line::Style;
use std::process::ExitCode;
use steps::{Replay, Step};
use tree::Tree;
use wait::WaitLines;

/// Arguments of `heddle replay`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    trace: TraceArg,
    /// text: a line an event; tree: `f() { … }` with how long each call took; source:
    /// `seconds.µs - Enter: callee called: caller`, the linker's names
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
    /// Only the events of the strand with this number, as `heddle strands` prints it
    #[arg(long, value_name = "N", conflicts_with = "by")]
    strand: Option<StrandName>,
    #[command(flatten)]
    names: NamesArg,
    #[command(flatten)]
    filter: FilterArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Text,
    Tree,
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
        length: args.names.names,
    };
    let length = if style.mangled {
        Length::Full
    } else {
        args.names.names
    };
    let mut names = Names::new(&trace).of_length(length);
    let filter = Filter::new(&args.filter, &trace, &mut names)?;
    let by_strand = match args.by {
        Some(by) => by == By::Strand,
        None if args.strand.is_some() => true,
        None => finds_more_than_threads(&trace, &mut names)?,
    };
    if by_strand && args.by.is_none() && args.strand.is_none() {
        notes::goes_by_strand();
    }
    let by = match by_strand {
        true => steps::By::Strand,
        false => steps::By::Thread,
    };
    let mut waits = WaitLines::new(&trace, &mut names)?;
    let mut replay = Replay {
        trace: &trace,
        by,
        wants_open: args.backtrace,
        only: args.strand,
        filter,
        off: sched::stretches(&trace)?,
    };
    let mut told = None;
    screen::show(|out, look| {
        let mut tree = Tree::new(style, *look);
        if args.format == Format::Tree {
            tree.heading(out)?;
        }
        let each = |names: &mut Names<'_>, place, label: &str, step: Step<'_>| {
            match (step, args.format) {
                (Step::Line(line, _), Format::Tree) => tree.line(out, line, label)?,
                (Step::Gone(line), Format::Tree) => tree.gone(out, &line, label)?,
                // Text and source have a line an event.
                (Step::Gone(_), _) => {}
                (Step::Other(event, depth), Format::Tree) => {
                    let said = match waits.line(names, place, event) {
                        Some((what, words)) => Some(format!("{} {words}", what.to_lowercase())),
                        None => text::said(event).map(|(what, words)| {
                            format!("{} {words}", what.trim_end().to_lowercase())
                        }),
                    };
                    if let Some(said) = said {
                        tree.other(out, label, depth, &said)?;
                    }
                }
                (Step::Line(line, open), format) => {
                    match format {
                        Format::Text => text::line(out, &line, label, style)?,
                        _ => source::line(out, &line, trace.epoch(), style)?,
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
                (Step::Off(off, time, depth), Format::Text) => {
                    text::words(out, time, label, "Back ", depth, &text::back(off))?;
                }
                (Step::Off(off, _, depth), Format::Tree) => {
                    tree.other(out, label, depth, &format!("back {}", text::back(off)))?;
                }
                (Step::Other(..) | Step::Off(..), Format::Source) => {}
            }
            Ok(())
        };
        told = Some(replay.run(&mut names, each)?);
        Ok(tree.finish(out)?)
    })?;
    // Nobody wants to know what else is to be said of what was not looked at to its end.
    let Some(told) = told else {
        return Ok(ExitCode::SUCCESS);
    };
    if let Some(strand) = args.strand {
        if told.shown == 0 && args.filter.is_empty() {
            return Err(strand.is_not_in(&trace).into());
        }
    }
    notes::unresolved(&told.unresolved);
    incomplete::tell(&trace, told.loose, &told.remarks);
    if !by_strand {
        notes::by_thread(told.loose);
    }
    told.left_out.iter().for_each(LeftOut::tell);
    Ok(ExitCode::SUCCESS)
}

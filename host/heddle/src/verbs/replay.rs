//! `heddle replay`: docs/replay.md.

use crate::names::Names;
use crate::replaying::by_strand::Step;
use crate::replaying::{Line, Style, What, by_strand, source, text};
use crate::strand_look::finds_more_than_threads;
use crate::trace_arg::TraceArg;
use crate::{notes, output};
use heddle_calls::{Loose, Stack};
use heddle_trace_file::{EventKind, Remarks, Trace};
use std::io::Write;
use std::process::ExitCode;

/// Arguments of `heddle replay`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    trace: TraceArg,
    /// text: aligned and indented; source: `seconds.µs - Enter: callee called: caller`, the linker's names
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Print the linker's names
    #[arg(long)]
    no_demangle: bool,
    /// Print addresses behind names
    #[arg(long)]
    addresses: bool,
    /// After each enter, print the open calls, innermost first
    #[arg(long, conflicts_with = "by")]
    backtrace: bool,
    /// Say which thread an event was on, or which strand: a fiber, a coroutine's instance, or the thread itself. Without this: the strand, if the trace begins with others than threads
    #[arg(long, value_enum)]
    by: Option<By>,
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
    let by_strand = match args.by {
        Some(by) => by == By::Strand,
        None => !args.backtrace && finds_more_than_threads(&trace, &mut names)?,
    };
    if by_strand && args.by.is_none() {
        notes::goes_by_strand();
    }
    output::print(|out| match by_strand {
        true => replay_strands(&trace, &args, names, style, out),
        false => replay(&trace, &args, names, style, out),
    })?;
    Ok(ExitCode::SUCCESS)
}

fn replay(
    trace: &Trace,
    args: &Args,
    mut names: Names<'_>,
    style: Style,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let labels = text::Labels::new(trace);
    let stacks = trace.processes().iter().map(|process| {
        process
            .threads()
            .iter()
            .map(|thread| Stack::new(thread.stack()))
            .collect()
    });
    let mut stacks: Vec<Vec<Stack>> = stacks.collect();
    let mut merged = trace.merged();
    for event in merged.by_ref() {
        let (place, event) = event?;
        let stack = &mut stacks[place.process][place.thread];
        let line = match stack.feed(event, |_| {}) {
            heddle_calls::Step::Entered => {
                let [below @ .., top] = stack.open() else {
                    continue;
                };
                let frame = match event.kind {
                    EventKind::Enter { frame, .. } => frame,
                    _ => None,
                };
                Line::enter(&mut names, place, top, below, frame)
            }
            heddle_calls::Step::Left(span) => {
                let parent = stack.open().last().map(|frame| frame.function);
                Line::exit(&mut names, place, event.time, &span, parent)
            }
            heddle_calls::Step::Unmatched(function) => {
                Line::unmatched(&mut names, place, event.time, function, stack.open().len())
            }
            heddle_calls::Step::Other => {
                if args.format == Format::Text {
                    text::other(out, &event, labels.of(place), stack.open().len())?;
                }
                continue;
            }
        };
        match args.format {
            Format::Text => text::line(out, &line, labels.of(place), style)?,
            Format::Source => source::line(out, &line, trace.epoch(), style)?,
        }
        if args.backtrace && line.what == What::Enter {
            text::backtrace(out, &mut names, place, stack.open(), style)?;
        }
    }
    out.flush()?;
    tell_incomplete(trace, stacks, &merged.remarks());
    Ok(())
}

fn replay_strands(
    trace: &Trace,
    args: &Args,
    mut names: Names<'_>,
    style: Style,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let told = by_strand::replay(trace, &mut names, |label, step| {
        match (step, args.format) {
            (Step::Line(line), Format::Text) => text::line(out, &line, label, style)?,
            (Step::Line(line), Format::Source) => source::line(out, &line, trace.epoch(), style)?,
            (Step::Other(event, depth), Format::Text) => text::other(out, event, label, depth)?,
            (Step::Other(..), Format::Source) => {}
        }
        Ok(())
    })?;
    out.flush()?;
    notes::unresolved(&told.unresolved);
    notes::incomplete(trace, told.loose, &told.remarks);
    Ok(())
}

fn tell_incomplete(trace: &Trace, stacks: Vec<Vec<Stack>>, remarks: &Remarks) {
    let mut loose = Loose::default();
    for mut stack in stacks.into_iter().flatten() {
        stack.finish(|_| {});
        loose += stack.loose();
    }
    notes::incomplete(trace, loose, remarks);
    notes::by_thread(loose);
}

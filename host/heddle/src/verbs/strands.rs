//! `heddle strands`: docs/strands.md.

use crate::incomplete;
use crate::names::{Length, NOT_KNOWN, Names, NamesArg, printable};
use crate::number_arg::count;
use crate::screen::{self, HEADING, Look};
use crate::strand_list::{self, label};
use crate::trace_arg::TraceArg;
use crate::{notes, output};
use heddle_strands::{Kind, Strand, StrandId};
use heddle_trace_file::{Nanos, Trace};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::process::ExitCode;

/// Arguments of `heddle strands`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    trace: TraceArg,
    /// One JSON object a line; times are nanoseconds
    #[arg(long)]
    json: bool,
    /// Only strands of this kind
    #[arg(long, value_enum)]
    kind: Option<KindArg>,
    /// Print only the first N
    #[arg(short = 'n', long, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    limit: Option<usize>,
    #[command(flatten)]
    names: NamesArg,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum KindArg {
    Thread,
    Fiber,
    Coroutine,
}

impl KindArg {
    fn kind(self) -> Kind {
        match self {
            KindArg::Thread => Kind::Thread,
            KindArg::Fiber => Kind::Fiber,
            KindArg::Coroutine => Kind::Coroutine,
        }
    }
}

/// Runs `heddle strands`.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let trace = args.trace.open()?;
    // What programs read has whole names.
    let length = if args.json {
        Length::Full
    } else {
        args.names.names
    };
    let mut names = Names::new(&trace).of_length(length);
    let found = strand_list::read(&trace, &mut names)?;
    let wanted = |strand: &Strand| args.kind.is_none_or(|kind| strand.kind == kind.kind());
    let strands = || {
        let wanted = found.all.iter().filter(wanted);
        wanted.take(args.limit.unwrap_or(usize::MAX))
    };
    if args.json {
        output::print(|out| {
            for strand in strands() {
                writeln!(out, "{}", object(&trace, &mut names, &strand))?;
            }
            Ok(())
        })?;
    } else {
        screen::show(|out, look| Ok(table(out, look, &trace, &mut names, strands)?))?;
    }
    notes::unresolved(&found.unresolved);
    incomplete::tell(&trace, found.loose, &found.remarks);
    notes::unsure(&found.unresolved);
    Ok(ExitCode::SUCCESS)
}

fn table<I: Iterator<Item = Strand>>(
    out: &mut dyn Write,
    look: &Look,
    trace: &Trace,
    names: &mut Names,
    strands: impl Fn() -> I,
) -> io::Result<()> {
    let mut widths = HEADINGS.map(str::len);
    // Made twice and not kept: there may be millions.
    for strand in strands() {
        let line = line(trace, names, &strand);
        for (width, text) in widths.iter_mut().zip(&line) {
            *width = text.chars().count().max(*width);
        }
    }
    // The name is last, and as long as it is.
    let last = HEADINGS.len() - 1;
    let taken: [usize; HEADINGS.len()] =
        std::array::from_fn(|index| if index == last { 0 } else { widths[index] + 2 });
    let shown = look.columns(taken, &LESS, NAME).shown;
    let heading = text(&widths, &shown, &HEADINGS);
    writeln!(out, "{}", look.paint(HEADING, heading))?;
    for strand in strands() {
        let line = line(trace, names, &strand);
        let cells = line.each_ref().map(String::as_str);
        writeln!(out, "{}", text(&widths, &shown, &cells))?;
    }
    Ok(())
}

/// On a narrow terminal these columns are left out, until so many characters are left for the name.
const LESS: [usize; 6] = [6, 4, 3, 8, 5, 2];
const NAME: usize = 24;

const HEADINGS: [&str; 12] = [
    "strand",
    "kind",
    "parent",
    "born",
    "died",
    "runs",
    "threads",
    "elapsed",
    "in children",
    "suspended",
    "calls",
    "name",
];

fn line(trace: &Trace, names: &mut Names, strand: &Strand) -> [String; HEADINGS.len()] {
    let dash = || "-".to_owned();
    let name = match strand.waits() {
        Some(waits) if strand.died().is_none() => {
            let name = names.single(trace, strand);
            format!("{name} (waits: {})", printable(waits))
        }
        _ => names.single(trace, strand).to_string(),
    };
    [
        label(trace, strand.id),
        strand.kind.name().to_owned(),
        match strand.maker() {
            Some(parent) => label(trace, parent),
            None if strand_list::is_first(trace, strand) => dash(),
            None => NOT_KNOWN.to_owned(),
        },
        strand.born.to_string(),
        strand.died().map_or_else(dash, |died| died.to_string()),
        strand.activations.to_string(),
        strand.threads.to_string(),
        strand.running.to_string(),
        strand.children.to_string(),
        strand.suspended.to_string(),
        strand.calls.to_string(),
        name,
    ]
}

fn text(widths: &[usize], shown: &[bool], line: &[&str]) -> String {
    let mut text = String::new();
    for (column, cell) in line.iter().enumerate().filter(|(column, _)| shown[*column]) {
        let width = widths[column];
        match HEADINGS[column] {
            "kind" => text += &format!("{cell:<width$}  "),
            "name" => text += cell,
            _ => text += &format!("{cell:>width$}  "),
        }
    }
    text
}

fn object(trace: &Trace, names: &mut Names, strand: &Strand) -> Value {
    let process = &trace.processes()[strand.id.process()];
    let nanos = |time: Option<Nanos>| time.map(|time| time.0);
    let process_index = strand.id.process();
    let suspended_at = strand
        .suspended_at()
        .map(|(address, time)| names.suspended_at(process_index, strand.kind, address, time));
    json!({
        "pid": process.pid(),
        "image": process.id().image,
        "strand": strand.id.number(),
        "kind": strand.kind.name(),
        "name": &*names.strand(strand),
        "sure": strand.is_sure(),
        "parent": strand.maker().map(StrandId::number),
        "resumer": strand.first_resumer().map(StrandId::number),
        "tid": process.threads()[strand.thread()].tid(),
        "threads": strand.threads,
        "born_ns": strand.born.0,
        "died_ns": nanos(strand.died()),
        "last_ns": strand.last.0,
        "activations": strand.activations,
        "elapsed_ns": strand.running.0,
        "children_ns": strand.children.0,
        "suspended_ns": strand.suspended.0,
        "calls": strand.calls,
        "suspended_at": suspended_at,
        "waits": strand.waits(),
        "frame": strand.frame.map(|frame| frame.to_string()),
    })
}

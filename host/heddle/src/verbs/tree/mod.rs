//! `heddle tree`: docs/tree.md.

mod awaited;
mod blocked;
mod fold;
mod life;

use crate::calls_of;
use crate::filter::FilterArgs;
use crate::incomplete;
use crate::names::{Length, NOT_KNOWN, Names, NamesArg};
use crate::notes;
use crate::number_arg::count;
use crate::sched::{self, Split, State};
use crate::screen::{self, FAINT, HEADING, Look, SUBJECT, WAITING};
use crate::strand_list::{self, Node, label};
use crate::strand_name::StrandName;
use crate::trace_arg::TraceArg;
use crate::usage::Usage;
use anyhow::Context;
use fold::Item;
use heddle_strands::{Kind, Strand, StrandId, StrandList};
use heddle_trace_file::{Nanos, Trace};
use life::{Label, Life};
use std::io::{self, Write};
use std::process::ExitCode;

/// Arguments of `heddle tree`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    trace: TraceArg,
    /// Print this strand alone: who made and ran it, where it waits, its calls; `4711/12` in a
    /// trace of several processes
    #[arg(long, value_name = "N")]
    strand: Option<StrandName>,
    /// Print what each strand waits for at the end, who has it, and who wait for one another
    /// (heddle record --sync)
    #[arg(long, conflicts_with_all = ["strand", "nested"])]
    blocked: bool,
    /// Strands nested deeper than this are left out
    #[arg(long, value_name = "N", value_parser = count, default_value_t = 50)]
    #[arg(allow_negative_numbers = true)]
    nested: usize,
    #[command(flatten)]
    names: NamesArg,
    #[command(flatten)]
    filter: FilterArgs,
}

/// Runs `heddle tree`.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    calls_of::with_deep_stack(move || tree(&args))
}

fn tree(args: &Args) -> anyhow::Result<ExitCode> {
    let trace = args.trace.open()?;
    if args.blocked {
        if !args.filter.is_empty() {
            let why = "--blocked looks at the end of all strands: leave out the filters";
            return Err(Usage::new(why).into());
        }
        return blocked::run(&trace, args.names.names);
    }
    let named = || Names::new(&trace).of_length(args.names.names);
    let mut names = named();
    let found = match &args.strand {
        // One strand is there whether it has calls that are kept or not.
        Some(_) => strand_list::read(&trace, &mut names)?,
        None => strand_list::read_filtered(&trace, &mut names, &args.filter)?,
    };
    let mut left_out = found.left_out;
    match &args.strand {
        Some(wanted) => {
            let index = wanted.index_in(&trace, &found.all)?;
            let id = found.all.get(index).id;
            let life = life::read(&trace, named(), &found.all, &args.filter, id)?;
            left_out = life.left_out;
            let split = match sched::known_stretches(&trace)?.is_some() {
                true => sched::read(&trace, named(), Some(id))?.one,
                false => None,
            };
            screen::show(|out, look| {
                one(out, look, &trace, &mut names, &found.all, index, &life)?;
                if let Some(split) = &split {
                    processors(out, look, &found.all.get(index), split)?;
                }
                let items = fold::fold(life.calls.clone());
                print_items(out, look, &life.labels, &items, 0)?;
                Ok(())
            })?;
        }
        None => {
            let nodes = strand_list::tree(&found.all, &mut names);
            screen::show(|out, look| {
                let mut table = Table {
                    shown: look.columns(WIDTHS, &LESS, NAME).shown,
                    out,
                    look,
                    trace: &trace,
                    all: &found.all,
                    names: &mut names,
                    deepest: args.nested,
                };
                table.heading()?;
                for node in &nodes {
                    table.node(node, 0)?;
                }
                Ok(())
            })?;
        }
    }
    notes::unresolved(&found.unresolved);
    incomplete::tell(&trace, found.loose, &found.remarks);
    if let Some(left_out) = left_out {
        notes::note("runs and times are those of whole strands, also where calls are left out");
        left_out.tell();
    }
    notes::unsure(&found.unresolved);
    Ok(ExitCode::SUCCESS)
}

/// What `--strand` prints of the strand with this number, without colours and at any width.
///
/// # Errors
/// What reading the trace gives, and a strand that is not there.
pub fn life_of(
    trace: &Trace,
    length: Length,
    process: usize,
    number: u64,
) -> anyhow::Result<String> {
    let named = || Names::new(trace).of_length(length);
    let mut names = named();
    let found = strand_list::read(trace, &mut names)?;
    let is = |id: StrandId| (id.process(), id.number()) == (process, number);
    let index = found.all.ids().position(is);
    let index = index.with_context(|| format!("there is no strand {number}"))?;
    let id = found.all.get(index).id;
    let life = life::read(trace, named(), &found.all, &FilterArgs::default(), id)?;
    let split = match sched::known_stretches(trace)?.is_some() {
        true => sched::read(trace, named(), Some(id))?.one,
        false => None,
    };
    let (mut out, look) = (Vec::new(), Look::default());
    one(&mut out, &look, trace, &mut names, &found.all, index, &life)?;
    if let Some(split) = &split {
        processors(&mut out, &look, &found.all.get(index), split)?;
    }
    print_items(&mut out, &look, &life.labels, &fold::fold(life.calls), 0)?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// The columns before the strand, with the space behind each.
const HEADINGS: [&str; 5] = ["elapsed", "in children", "suspended", "runs", "calls"];
const WIDTHS: [usize; 5] = [12, 12, 12, 10, 12];
/// On a narrow terminal these are left out, until so many columns are left for the strand.
const LESS: [usize; 2] = [1, 3];
const NAME: usize = 40;

/// Prints the asynchronous call tree.
struct Table<'a, 'n> {
    shown: [bool; 5],
    out: &'a mut dyn Write,
    look: &'a Look,
    trace: &'a Trace,
    all: &'a StrandList,
    names: &'a mut Names<'n>,
    deepest: usize,
}

impl Table<'_, '_> {
    fn heading(&mut self) -> io::Result<()> {
        let cells = self.cells(HEADINGS.map(str::to_owned));
        writeln!(
            self.out,
            "{}",
            self.look.paint(HEADING, format_args!("{cells}strand"))
        )
    }

    fn cells(&self, cells: [String; 5]) -> String {
        let mut text = String::new();
        for (index, cell) in cells
            .iter()
            .enumerate()
            .filter(|(index, _)| self.shown[*index])
        {
            let width = WIDTHS[index] - 1 - usize::from(index == 4);
            text += &format!("{cell:>width$} ");
        }
        text + " "
    }

    fn node(&mut self, node: &Node, depth: usize) -> io::Result<()> {
        let cells = self.cells([
            node.running.to_string(),
            node.nested.to_string(),
            node.suspended.to_string(),
            node.activations.to_string(),
            node.calls.to_string(),
        ]);
        let indent = 2 * depth;
        let kind = self.look.paint(SUBJECT, node.kind.name());
        write!(self.out, "{cells}{:indent$}{kind} ", "")?;
        match node.count {
            1 => write!(self.out, "#{}", label(self.trace, node.first))?,
            count => write!(self.out, "\u{d7}{count}")?,
        }
        let waits = node
            .suspended_at
            .iter()
            .max_by_key(|(at, (count, _))| (*count, std::cmp::Reverse(**at)));
        if let Some((&(process, address), &(count, time))) = waits {
            let address = heddle_trace_file::Addr(address);
            let place = self.names.suspended_at(process, node.kind, address, time);
            let number = match node.count {
                1 => String::new(),
                _ => format!("{count} "),
            };
            let left = format!("{number}left at {place}");
            write!(self.out, ", {}:", self.look.paint(WAITING, left))?;
        }
        let only = self.all.find(node.first).filter(|_| node.count == 1);
        let name = match only {
            Some(index) => self.names.single(self.trace, &self.all.get(index)),
            None => node.name.clone(),
        };
        writeln!(self.out, " {name}")?;
        let (shown, hidden) = match depth + 1 >= self.deepest {
            true => (&[][..], node.below()),
            false => (&node.children[..], node.deeper),
        };
        for child in shown {
            self.node(child, depth + 1)?;
        }
        if hidden > 0 {
            let before = self.cells(Default::default()).len() + 2 * (depth + 1);
            let hidden = notes::counted(hidden, "strand");
            writeln!(self.out, "{:before$}… {hidden} nested deeper", "")?;
        }
        Ok(())
    }
}

/// What is known of one strand.
fn one(
    out: &mut dyn Write,
    look: &Look,
    trace: &Trace,
    names: &mut Names,
    all: &StrandList,
    index: usize,
    life: &Life,
) -> io::Result<()> {
    let strand = &all.get(index);
    let title = names.single(trace, strand);
    let mut named = |id: StrandId| {
        let found = all.find(id).map(|index| all.get(index));
        let name = found.map_or_else(|| "?".into(), |strand| names.strand(&strand));
        format!("{name} #{}", label(trace, id))
    };
    let number = label(trace, strand.id);
    let title = format!("{} {title} #{number}", strand.kind.name());
    writeln!(out, "{}", look.paint(HEADING, title))?;
    match strand.maker() {
        Some(parent) => writeln!(out, "  made by      {}", named(parent))?,
        None if strand_list::is_first(trace, strand) => {}
        None => writeln!(out, "  made by      {NOT_KNOWN}")?,
    }
    if let Some(by) = life.awaited_by {
        writeln!(out, "  awaited by   {}", named(by))?;
    }
    if let Some(resumer) = strand.resumer.filter(|&by| Some(by) != strand.parent) {
        let by = match strand.first_resumer() {
            Some(_) => "by",
            None => "after",
        };
        writeln!(out, "  first run {by} {}", named(resumer))?;
    }
    if let Some(why) = strand.doubts().why() {
        writeln!(out, "  not sure     {why}")?;
    }
    writeln!(out, "  born         {}", strand.born)?;
    match strand.died() {
        Some(died) => writeln!(out, "  died         {died}")?,
        None => writeln!(out, "  last seen    {}", strand.last)?,
    }
    if strand.died().is_none()
        && strand.kind != Kind::Thread
        && let Some((address, time)) = strand.suspended_at()
    {
        let place = names.suspended_at(strand.id.process(), strand.kind, address, time);
        let on = names.left_on(strand);
        let on = on.map_or(String::new(), |on| format!(" on {on}"));
        writeln!(out, "  left at      {place}{on}")?;
    }
    if let Some(waits) = strand.waits() {
        writeln!(out, "  waited for   {}", crate::names::printable(waits))?;
    }
    if let Some(frame) = strand.frame {
        writeln!(out, "  frame        {frame}")?;
    }
    writeln!(
        out,
        "  ran          {} on {}: {} elapsed, {} more in children; suspended {}",
        notes::counted(strand.activations, "time"),
        notes::counted(strand.threads.into(), "thread"),
        strand.running,
        strand.children,
        strand.suspended
    )
}

/// Causes of time off a processor that are printed.
const MOST: usize = 8;

/// Where the time went that a thread ran it. The kernel also tells of what a thread did behind its
/// last event, which its elapsed time does not have.
fn processors(out: &mut dyn Write, look: &Look, strand: &Strand, split: &Split) -> io::Result<()> {
    let times = [State::Running, State::Ready, State::Blocked].map(|state| split.of(state).total);
    let [running, ready, blocked] = times;
    let all = Nanos(times.iter().fold(0, |all, time| all.saturating_add(time.0)));
    let behind = all - strand.running;
    let (what, more) = match strand.kind {
        Kind::Thread if behind.0 > 0 => {
            ("in all ", format!(", {behind} of it behind its last event"))
        }
        _ => ("of that", String::new()),
    };
    writeln!(
        out,
        "  {what}      {running} on a processor, {ready} ready, {blocked} blocked{more}"
    )?;
    for (cause, stat) in split.off().into_iter().take(MOST) {
        let said = look.paint(WAITING, cause);
        writeln!(out, "    \u{d7}{} {said}  {}", stat.waits, stat.total)?;
    }
    Ok(())
}

/// Columns of the time behind a call.
const TOOK: usize = 12;

/// How often, what, and how long the shortest and the longest took.
fn print_items(
    out: &mut dyn Write,
    look: &Look,
    labels: &[Label],
    items: &[Item],
    depth: usize,
) -> io::Result<()> {
    for item in items {
        let indent = 2 * (depth + 2);
        write!(out, "{:indent$}", "")?;
        let times = match item.times {
            (1, 1) => String::new(),
            (low, high) if low == high => format!("\u{d7}{low} "),
            (low, high) => format!("\u{d7}{low}–{high} "),
        };
        let taken = indent + times.chars().count() + TOOK;
        write!(out, "{}", look.paint(SUBJECT, times))?;
        let label = item.label.and_then(|label| labels.get(label as usize));
        match label {
            Some(Label::Call(name)) => write!(out, "{}", look.fit(name, taken))?,
            Some(Label::Suspended(what)) => write!(out, "{}", look.paint(WAITING, what))?,
            None => write!(out, "{}", look.paint(FAINT, "loop"))?,
        }
        if item.max >= item.min {
            match item.min == item.max {
                true => write!(out, "  {}", item.max)?,
                false => write!(out, "  {}–{}", item.min, item.max)?,
            }
        }
        writeln!(out)?;
        print_items(out, look, labels, &item.below, depth + 1)?;
    }
    Ok(())
}

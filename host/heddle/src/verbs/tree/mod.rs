//! `heddle tree`: docs/tree.md.

mod blocked;

use crate::calls_of::{self, Calls};
use crate::filter::FilterArgs;
use crate::names::{NOT_KNOWN, Names};
use crate::strand_list::{self, Node, label};
use crate::trace_arg::TraceArg;
use crate::{notes, output};
use anyhow::{Context, ensure};
use heddle_strands::{Kind, StrandId, StrandList};
use heddle_trace_file::{Nanos, Trace};
use heddle_tree::Call;
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
    strand: Option<String>,
    /// Print what each strand waits for at the end, who has it, and who wait for one another
    /// (heddle record --sync)
    #[arg(long, conflicts_with_all = ["strand", "nested"])]
    blocked: bool,
    /// Strands nested deeper than this are left out
    #[arg(long, value_name = "N", default_value_t = 50)]
    nested: usize,
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
        ensure!(
            args.filter.is_empty(),
            "--blocked looks at the end of all strands: leave out the filters"
        );
        return blocked::run(&trace);
    }
    let mut names = Names::new(&trace);
    let found = match &args.strand {
        // One strand is there whether it has calls that are kept or not.
        Some(_) => strand_list::read(&trace, &mut names)?,
        None => strand_list::read_filtered(&trace, &mut names, &args.filter)?,
    };
    let mut left_out = found.left_out;
    match &args.strand {
        Some(wanted) => {
            let index = found
                .all
                .ids()
                .position(|id| label(&trace, id) == *wanted)
                .with_context(|| {
                    format!(
                        "{}: no strand {wanted}; `heddle strands` lists those that there are",
                        trace.path().display()
                    )
                })?;
            let only = Some(found.all.get(index).id);
            let calls = Calls::by_strand(&trace, &args.filter, only)?;
            left_out = calls.left_out;
            let calls = calls
                .processes
                .into_iter()
                .flat_map(|process| process.strands);
            let calls: Vec<Call> = calls.flat_map(|strand| strand.calls).collect();
            output::print(|out| {
                one(out, &trace, &mut names, &found.all, index)?;
                print_calls(out, &calls, 0)?;
                Ok(())
            })?;
        }
        None => {
            let nodes = strand_list::tree(&found.all, &mut names);
            output::print(|out| {
                writeln!(
                    out,
                    "{:>11} {:>11} {:>11} {:>9} {:>10}  strand",
                    "elapsed", "in children", "suspended", "runs", "calls"
                )?;
                for node in &nodes {
                    line(out, &trace, &mut names, node, 0, args.nested)?;
                }
                Ok(())
            })?;
        }
    }
    notes::unresolved(&found.unresolved);
    notes::incomplete(&trace, found.loose, &found.remarks);
    if let Some(left_out) = left_out {
        notes::note("runs and times are those of whole strands, also where calls are left out");
        left_out.tell();
    }
    notes::unsure(&found.unresolved);
    Ok(ExitCode::SUCCESS)
}

fn line(
    out: &mut dyn Write,
    trace: &Trace,
    names: &mut Names,
    node: &Node,
    depth: usize,
    deepest: usize,
) -> io::Result<()> {
    write!(
        out,
        "{:>11} {:>11} {:>11} {:>9} {:>10}  {:indent$}{} {}",
        node.running.to_string(),
        node.nested.to_string(),
        node.suspended.to_string(),
        node.activations,
        node.calls,
        "",
        node.kind.name(),
        node.name,
        indent = 2 * depth,
    )?;
    match node.count {
        1 => write!(out, " #{}", label(trace, node.first))?,
        count => write!(out, " \u{d7}{count}")?,
    }
    let waits = node
        .suspended_at
        .iter()
        .max_by_key(|(at, (count, _))| (*count, std::cmp::Reverse(**at)));
    if let Some((&(process, address), &(count, time))) = waits {
        let place = names.suspended_at(process, node.kind, heddle_trace_file::Addr(address), time);
        match node.count {
            1 => write!(out, ", left at {place}")?,
            _ => write!(out, ", {count} left at {place}")?,
        }
    }
    writeln!(out)?;
    if depth + 1 >= deepest && !node.children.is_empty() {
        return writeln!(out, "{:>58}{:indent$}…", "", "", indent = 2 * (depth + 1));
    }
    for child in &node.children {
        line(out, trace, names, child, depth + 1, deepest)?;
    }
    Ok(())
}

/// What is known of one strand.
fn one(
    out: &mut dyn Write,
    trace: &Trace,
    names: &mut Names,
    all: &StrandList,
    index: usize,
) -> io::Result<()> {
    let strand = &all.get(index);
    let mut named = |id: StrandId| {
        let found = all.find(id).map(|index| all.get(index));
        let name = found.map_or_else(|| "?".into(), |strand| names.strand(&strand));
        format!("{name} #{}", label(trace, id))
    };
    writeln!(out, "{} {}", strand.kind.name(), named(strand.id))?;
    match strand.maker() {
        Some(parent) => writeln!(out, "  made by      {}", named(parent))?,
        None if strand_list::is_first(trace, strand) => {}
        None => writeln!(out, "  made by      {NOT_KNOWN}")?,
    }
    if let Some(resumer) = strand.resumer.filter(|&by| Some(by) != strand.parent) {
        writeln!(out, "  first run by {}", named(resumer))?;
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
        writeln!(out, "  left at      {place}")?;
    }
    if let Some(waits) = strand.waits() {
        writeln!(out, "  waited for   {}", crate::names::printable(waits))?;
    }
    if let Some(frame) = strand.frame {
        writeln!(out, "  frame        {frame}")?;
    }
    writeln!(
        out,
        "  ran          {} times on {}: {} elapsed, {} more in children; suspended {}",
        strand.activations,
        notes::counted(strand.threads.into(), "thread"),
        strand.running,
        strand.children,
        strand.suspended
    )
}

fn print_calls(out: &mut dyn Write, calls: &[Call], depth: usize) -> io::Result<()> {
    for call in calls {
        write!(out, "{:indent$}{}", "", call.name, indent = 2 * (depth + 2))?;
        if call.calls > 1 {
            write!(out, " \u{d7}{}", call.calls)?;
        }
        if call.max >= call.min {
            match call.calls {
                1 => write!(out, "  {}", Nanos(call.max))?,
                _ => write!(out, "  {}–{}", Nanos(call.min), Nanos(call.max))?,
            }
        }
        writeln!(out)?;
        print_calls(out, &call.children, depth + 1)?;
    }
    Ok(())
}

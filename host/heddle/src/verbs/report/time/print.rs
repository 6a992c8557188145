//! The parts of the time, as `heddle report` prints them.

use super::super::format::Format;
use crate::{notes, output, screen};
use heddle_results::{Shares, ThreadTime, Traced, percent};
use heddle_trace_file::Nanos;
use std::io::{self, Write};

/// Prints them.
pub fn print(time: &ThreadTime, format: Format) -> anyhow::Result<()> {
    let shares = time.shares(None);
    match format {
        Format::Table => screen::show(|out, _| Ok(table(out, time, shares)?)),
        Format::Json => output::print(|out| json(out, time, shares)),
        Format::Csv => output::print(|out| Ok(csv(out, time, shares)?)),
        Format::Md => output::print(|out| Ok(markdown(out, time, shares)?)),
    }
}

/// The parts with their times; none: not told apart from work.
fn parts(time: &ThreadTime) -> [Option<u64>; 7] {
    let running = time.allocation_ns.map(|ns| ns.min(time.running_ns));
    let allocation = running.map(|ns| ns + time.allocation_blocked_ns);
    [
        Some(time.running_ns - running.unwrap_or(0)),
        Some(time.locks_ns),
        Some(time.processor_ns),
        Some(time.io_ns),
        None,
        allocation,
        Some(time.not_known_ns),
    ]
}

/// Names, times and shares in one order.
fn rows(
    time: &ThreadTime,
    shares: Option<Shares>,
) -> impl Iterator<Item = (&'static str, Option<u64>, Option<f64>)> {
    let shares = shares.map(|shares| shares.parts()).unwrap_or_default();
    let rows = Shares::NAMES.into_iter().zip(parts(time)).zip(shares);
    rows.map(|((name, time), share)| (name, time, share))
}

fn table(out: &mut dyn Write, time: &ThreadTime, shares: Option<Shares>) -> io::Result<()> {
    let of = match time.measured {
        true => "in the stretch that the program has marked as measured",
        false => "in the whole run",
    };
    writeln!(
        out,
        "{} of {} {of}, {}",
        Nanos(time.total_ns),
        notes::counted(time.threads, "thread"),
        notes::counted(time.kernel_switches, "kernel switch"),
    )?;
    for (name, part, share) in rows(time, shares) {
        let part = part.map_or_else(|| "–".to_owned(), |part| Nanos(part).to_string());
        writeln!(out, "  {name:<12}{part:>12}{:>5} %", percent(share))?;
    }
    if time.allocations > 0 {
        let calls = notes::counted(time.allocations, "call");
        writeln!(
            out,
            "memory was asked for in {calls}; beside it, {} in counting and timing these",
            Nanos(time.allocation_cost_ns)
        )?;
    }
    let told = Traced {
        time: Some(time.clone()),
        ..Traced::default()
    };
    if let Some(told) = told.told() {
        writeln!(out, "cause: {}", told.says)?;
    }
    if time.joining_ns > 0 {
        writeln!(
            out,
            "beside it, {} in waits for the end of other threads",
            Nanos(time.joining_ns)
        )?;
    }
    Ok(())
}

fn json(out: &mut dyn Write, time: &ThreadTime, shares: Option<Shares>) -> anyhow::Result<()> {
    let mut value = serde_json::to_value(time)?;
    value["shares"] = serde_json::to_value(shares)?;
    serde_json::to_writer_pretty(&mut *out, &value)?;
    writeln!(out)?;
    Ok(())
}

fn csv(out: &mut dyn Write, time: &ThreadTime, shares: Option<Shares>) -> io::Result<()> {
    writeln!(out, "part,total_ns,share")?;
    for (name, part, share) in rows(time, shares) {
        let part = part.map_or_else(String::new, |part| part.to_string());
        let share = share.map_or_else(String::new, |share| share.to_string());
        writeln!(out, "{name},{part},{share}")?;
    }
    Ok(())
}

fn markdown(out: &mut dyn Write, time: &ThreadTime, shares: Option<Shares>) -> io::Result<()> {
    writeln!(out, "| part | time | share, % |\n|---|--:|--:|")?;
    for (name, part, share) in rows(time, shares) {
        let part = part.map_or_else(|| "–".to_owned(), |part| Nanos(part).to_string());
        writeln!(out, "| {name} | {part} | {} |", percent(share))?;
    }
    Ok(())
}

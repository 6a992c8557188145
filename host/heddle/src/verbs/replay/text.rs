//! Lines for people: time since the start, thread, Enter or Exit, the function indented by depth,
//! its caller.

use super::line::{Line, OpenCall, Style, What};
use crate::names::{Names, printable};
use crate::notes;
use heddle_symbols::Location;
use heddle_trace_file::{Addr, Event, EventKind, Nanos, OffCpu, Place};
use std::io::{self, Write};

/// Beyond this depth the indentation stops growing, so that deep recursion does not make lines of
/// kilobytes; the depth is printed instead.
const DEEPEST: usize = 50;

/// Prints one event.
pub fn line(out: &mut dyn Write, line: &Line, label: &str, style: Style) -> io::Result<()> {
    let what = match line.what {
        What::Enter => "Enter",
        What::Exit => "Exit ",
    };
    begin(out, line.time, label, what, line.depth)?;
    match &line.function {
        Some((address, location)) => named(out, style, *address, location)?,
        None => out.write_all(b"?")?,
    }
    if let Some(frame) = line.frame {
        write!(out, " {{{frame}}}")?;
    }
    match (&line.values, line.what) {
        (None, _) => {}
        (Some(arguments), What::Enter) => write!(out, " {{{arguments}}}")?,
        (Some(result), What::Exit) => write!(out, " = {result}")?,
    }
    match &line.caller {
        None => writeln!(out, "  <- (its enter was not recorded)"),
        Some(caller) => {
            out.write_all(b"  <- ")?;
            match &caller.container {
                Some(container) => writeln!(out, "{} (inlined)", style.name(container)),
                None => {
                    named(out, style, caller.site.0, &caller.site.1)?;
                    writeln!(out)
                }
            }
        }
    }
}

/// Prints an event that is neither an enter nor an exit.
pub fn other(out: &mut dyn Write, event: &Event, label: &str, depth: usize) -> io::Result<()> {
    match said(event) {
        Some((what, words)) => self::words(out, event.time, label, what, depth, &words),
        None => Ok(()),
    }
}

/// The two parts of such an event's line; `None`: other lines tell of it.
pub fn said(event: &Event) -> Option<(&'static str, String)> {
    let text = |bytes| printable(&String::from_utf8_lossy(bytes));
    Some(match event.kind {
        // What is made says itself by whom; waits are told elsewhere.
        EventKind::Enter { .. }
        | EventKind::Exit { .. }
        | EventKind::Making { .. }
        | EventKind::StackMade { .. }
        | EventKind::Jump { .. }
        | EventKind::FrameMade { .. }
        | EventKind::FrameFreed { .. }
        | EventKind::FrameLeft { .. }
        | EventKind::ObjectMet { .. }
        | EventKind::Wait(_)
        | EventKind::WaitEnded { .. }
        | EventKind::Wake { .. }
        // They stand in the line of their call.
        | EventKind::Values(_) => return None,
        EventKind::Gap {
            why,
            missing: count,
        } => ("Gap  ", notes::gap(why, count)),
        EventKind::Mark { strand, text: mark } => {
            let on = strand.map_or(String::new(), |strand| format!(" (strand {strand})"));
            ("Mark ", format!("{}{on}", text(mark)))
        }
        EventKind::StrandSwitch { to: Some(strand) } => ("Strand", format!("{strand} runs")),
        EventKind::StrandSwitch { to: None } => ("Strand", "none runs".to_owned()),
        EventKind::StrandEnd { strand } => ("Strand", format!("{strand} ended")),
        EventKind::StrandMade { strand } => ("Strand", format!("{strand} is made")),
        EventKind::StrandName { strand, name } => {
            ("Strand", format!("{strand} is named {}", text(name)))
        }
        EventKind::StrandWaits { strand, reason } => {
            ("Strand", format!("{strand} waits: {}", text(reason)))
        }
        EventKind::LongCall {
            since, text: call, ..
        } => {
            let took = event.time - since;
            ("Kernel", format!("{}: {took}", text(call)))
        }
    })
}

/// `since 0.067215004: was blocked for 50.090 ms`: that the thread is on a processor again.
pub fn back(off: OffCpu) -> String {
    let state = match off.preempted {
        true => "ready",
        false => "blocked",
    };
    let (seconds, nanos) = (off.to.0 / 1_000_000_000, off.to.0 % 1_000_000_000);
    format!("since {seconds}.{nanos:09}: was {state} for {}", off.took())
}

/// Prints a line of these words.
pub fn words(
    out: &mut dyn Write,
    time: Nanos,
    label: &str,
    what: &str,
    depth: usize,
    words: &str,
) -> io::Result<()> {
    begin(out, time, label, what, depth)?;
    writeln!(out, "{words}")
}

/// The columns before the text.
fn begin(
    out: &mut dyn Write,
    Nanos(time): Nanos,
    label: &str,
    what: &str,
    depth: usize,
) -> io::Result<()> {
    let (seconds, nanos) = (time / 1_000_000_000, time % 1_000_000_000);
    write!(out, "{seconds:>5}.{nanos:09}  {label}  {what} ")?;
    indent(out, depth)
}

/// Prints the open calls, innermost first, and at last who called the outermost.
pub fn backtrace(
    out: &mut dyn Write,
    names: &mut Names,
    place: Place,
    open: &[OpenCall],
    style: Style,
) -> io::Result<()> {
    for (number, frame) in open.iter().rev().enumerate() {
        let location = names.function(place.process, frame.function, frame.enter);
        write!(out, "      #{number:<3} ")?;
        named(out, style, frame.function, &location)?;
        writeln!(out, "{}", if frame.inlined { " (inlined)" } else { "" })?;
    }
    if let Some(outermost) = open.first() {
        let location = names.caller(place.process, outermost.caller, outermost.enter);
        write!(out, "      #{:<3} ", open.len())?;
        named(out, style, outermost.caller, &location)?;
        writeln!(out)?;
    }
    Ok(())
}

fn indent(out: &mut dyn Write, depth: usize) -> io::Result<()> {
    const SPACES: [u8; 2 * DEEPEST] = [b' '; 2 * DEEPEST];
    out.write_all(&SPACES[..2 * depth.min(DEEPEST)])?;
    if depth > DEEPEST {
        write!(out, "({depth}) ")
    } else {
        Ok(())
    }
}

fn named(out: &mut dyn Write, style: Style, address: Addr, location: &Location) -> io::Result<()> {
    out.write_all(style.name(location).as_bytes())?;
    // Outside every module the name is the address.
    if style.addresses && !location.module.is_empty() {
        write!(out, " [{address}]")
    } else {
        Ok(())
    }
}

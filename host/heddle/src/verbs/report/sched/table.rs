//! Aligned columns for people; why each strand was off its processor, below its row.

use super::shown::label;
use crate::sched::{Group, State};
use crate::screen::{FAINT, HEADING, Look, WAITING};
use heddle_trace_file::Nanos;
use std::io::{self, Write};

/// Causes that are printed of each strand.
const MOST: usize = 8;

/// Prints the rows.
pub fn print(out: &mut dyn Write, look: &Look, groups: &[Group]) -> io::Result<()> {
    let heading = format!(
        "{:>12}{:>12}{:>12}{:>12}{:>8}  strand",
        "running", "ready", "blocked", "worst", "times"
    );
    writeln!(out, "{}", look.paint(HEADING, heading))?;
    for group in groups {
        let [running, ready, blocked] =
            [State::Running, State::Ready, State::Blocked].map(|state| group.split.of(state));
        writeln!(
            out,
            "{:>12}{:>12}{:>12}{:>12}{:>8}  {}",
            running.total.to_string(),
            ready.total.to_string(),
            blocked.total.to_string(),
            ready.worst.max(blocked.worst).to_string(),
            ready.waits + blocked.waits,
            label(group)
        )?;
        let off = group.split.off();
        for (cause, stat) in off.iter().take(MOST) {
            if cause.state == State::NotKnown {
                let unknown = format!("{cause}: {}", stat.total);
                writeln!(out, "{:>56}    {}", "", look.paint(WAITING, unknown))?;
                continue;
            }
            let time = |state| match cause.state == state {
                true => stat.total.to_string(),
                false => String::new(),
            };
            writeln!(
                out,
                "{:>12}{:>12}{:>12}{:>12}{:>8}    {}",
                "",
                time(State::Ready),
                time(State::Blocked),
                stat.worst.to_string(),
                stat.waits,
                look.paint(WAITING, cause)
            )?;
        }
        if let Some(more @ 1..) = off.len().checked_sub(MOST) {
            let rest: u64 = off[MOST..].iter().map(|(_, stat)| stat.total.0).sum();
            let rest = format!("… {more} more, {} in all", Nanos(rest));
            writeln!(out, "{:>56}    {}", "", look.paint(FAINT, rest))?;
        }
    }
    Ok(())
}

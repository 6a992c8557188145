//! Aligned columns for people; why each strand was off its processor, below its row.

use super::shown::label;
use crate::sched::{Group, State};
use crate::screen::{FAINT, HEADING, Look, WAITING};
use heddle_trace_file::Nanos;
use std::io::{self, Write};

/// Causes that are printed of each strand.
const MOST: usize = 8;

const HEADINGS: [&str; 5] = ["running", "ready", "blocked", "worst", "times"];
const WIDTHS: [usize; HEADINGS.len()] = [12, 12, 12, 12, 8];
/// On a narrow terminal the last are left out, until so many characters are left for names.
const LESS: [usize; 2] = [4, 3];
const NAME: usize = 30;

/// Prints the rows.
pub fn print(out: &mut dyn Write, look: &Look, groups: &[Group], several: bool) -> io::Result<()> {
    let columns = look.columns(WIDTHS, &LESS, NAME);
    let nothing = columns.nothing();
    let heading = columns.line(HEADINGS) + "  strand";
    writeln!(out, "{}", look.paint(HEADING, heading))?;
    for group in groups {
        let [running, ready, blocked] =
            [State::Running, State::Ready, State::Blocked].map(|state| group.split.of(state));
        let cells = columns.line([
            &running.total.to_string(),
            &ready.total.to_string(),
            &blocked.total.to_string(),
            &ready.worst.max(blocked.worst).to_string(),
            &(ready.waits + blocked.waits).to_string(),
        ]);
        writeln!(out, "{cells}  {}", label(group, several))?;
        let off = group.split.off();
        for (cause, stat) in off.iter().take(MOST) {
            if cause.state == State::NotKnown {
                let unknown = format!("{cause}: {}", stat.total);
                writeln!(out, "{nothing}    {}", look.paint(WAITING, unknown))?;
                continue;
            }
            let time = |state| match cause.state == state {
                true => stat.total.to_string(),
                false => String::new(),
            };
            let cells = columns.line([
                "",
                &time(State::Ready),
                &time(State::Blocked),
                &stat.worst.to_string(),
                &stat.waits.to_string(),
            ]);
            writeln!(out, "{cells}    {}", look.paint(WAITING, cause))?;
        }
        if let Some(more @ 1..) = off.len().checked_sub(MOST) {
            let rest: u64 = off[MOST..].iter().map(|(_, stat)| stat.total.0).sum();
            let rest = format!("… {more} more, {} in all", Nanos(rest));
            writeln!(out, "{nothing}    {}", look.paint(FAINT, rest))?;
        }
    }
    Ok(())
}

//! Aligned columns for people; who waited, who had it and who woke, below each row.

use super::shown::{average, by_number, by_time, label, taken};
use crate::notes::counted;
use crate::screen::{self, HEADING, Look};
use crate::waits::{Functions, Lock};
use heddle_trace_file::Nanos;
use std::io::{self, Write};

/// Functions that are printed of each kind.
const MOST: usize = 5;

const WIDTH: usize = 12;
const HEADINGS: [&str; 5] = ["taken", "blocked", "total wait", "avg", "worst"];
/// On a narrow terminal the average is left out, and the worst, until so many characters are left
/// for names.
const LESS: [usize; 2] = [3, 4];
const NAME: usize = 30;

type Columns = screen::Columns<{ HEADINGS.len() }>;

/// Prints the rows.
pub fn print(out: &mut dyn Write, look: &Look, locks: &[Lock], several: bool) -> io::Result<()> {
    let columns = look.columns([WIDTH; HEADINGS.len()], &LESS, NAME);
    let heading = columns.line(HEADINGS) + "  lock";
    writeln!(out, "{}", look.paint(HEADING, heading))?;
    for lock in locks {
        let all = &lock.sum.all;
        let some = |at: Nanos| time(time_of(all.waits, at));
        let cells = columns.line([
            &taken(lock),
            &lock.blocked.to_string(),
            &some(all.total),
            &time(average(lock)),
            &some(all.worst),
        ]);
        writeln!(out, "{cells}  {}", label(lock, several))?;
        functions(out, &columns, "waits in", &lock.sum.waiters)?;
        functions(out, &columns, "held by", &lock.sum.holders)?;
        // Of what is held, every holder that lets go while another waits wakes somebody.
        let mut wakers = by_number(lock);
        wakers.retain(|_| !lock.kind.is_held());
        for (name, wakes) in wakers.iter().take(MOST) {
            let cells = columns.line(["", &format!("\u{d7}{wakes}"), "", "", ""]);
            writeln!(out, "{cells}    woken by {name}")?;
        }
        rest(out, &columns, wakers.len())?;
        remarks(out, &columns, lock)?;
    }
    Ok(())
}

/// A time of waits, if any has ended.
fn time_of(waits: u64, time: Nanos) -> Option<Nanos> {
    (waits > 0).then_some(time)
}

fn time(time: Option<Nanos>) -> String {
    time.map_or("-".to_owned(), |time| time.to_string())
}

fn functions(
    out: &mut dyn Write,
    columns: &Columns,
    what: &str,
    functions: &Functions,
) -> io::Result<()> {
    let all = by_time(functions);
    for (name, stat) in all.iter().take(MOST) {
        let cells = columns.line([
            "",
            &stat.begun().to_string(),
            &time(time_of(stat.waits, stat.total)),
            "",
            &time(time_of(stat.waits, stat.worst)),
        ]);
        writeln!(out, "{cells}    {what} {name}")?;
    }
    rest(out, columns, all.len())
}

fn rest(out: &mut dyn Write, columns: &Columns, all: usize) -> io::Result<()> {
    match all.checked_sub(MOST) {
        None | Some(0) => Ok(()),
        Some(more) => writeln!(out, "{}    … {more} more", columns.nothing()),
    }
}

/// What the columns do not say.
fn remarks(out: &mut dyn Write, columns: &Columns, lock: &Lock) -> io::Result<()> {
    let mut all = Vec::new();
    if let Some(given) = lock.given.filter(|&given| given > 0) {
        let unmet = match lock.unmet {
            0 => String::new(),
            unmet => format!(", {unmet} of them when nobody waited"),
        };
        all.push(format!("{}{unmet}", counted(given, "wake-up")));
    }
    if lock.sum.timeouts > 0 {
        all.push(counted(lock.sum.timeouts, "time-out"));
    }
    if let open @ 1.. = lock.sum.open - lock.sum.by_exec {
        all.push(format!(
            "{} not ended: heddle tree --blocked",
            counted(open, "wait")
        ));
    }
    if lock.sum.by_exec > 0 {
        all.push(format!(
            "{} ended by exec",
            counted(lock.sum.by_exec, "wait")
        ));
    }
    match all.is_empty() {
        true => Ok(()),
        false => writeln!(out, "{}    {}", columns.nothing(), all.join("; ")),
    }
}

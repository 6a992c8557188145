//! Aligned columns for people; who waited, who had it and who woke, below each row.

use super::shown::{average, by_number, by_time, label, taken};
use crate::notes::counted;
use crate::waits::{Functions, Lock};
use heddle_trace_file::Nanos;
use std::io::{self, Write};

/// Functions that are printed of each kind.
const MOST: usize = 5;

/// Prints the rows.
pub fn print(out: &mut dyn Write, locks: &[Lock], several: bool) -> io::Result<()> {
    writeln!(
        out,
        "{:>12}{:>12}{:>12}{:>12}{:>12}  lock",
        "taken", "blocked", "total wait", "avg", "worst"
    )?;
    for lock in locks {
        let all = &lock.sum.all;
        let some = |time: Nanos| time_of(all.waits, time);
        writeln!(
            out,
            "{:>12}{:>12}{:>12}{:>12}{:>12}  {}",
            taken(lock),
            lock.blocked,
            time(some(all.total)),
            time(average(lock)),
            time(some(all.worst)),
            label(lock, several)
        )?;
        functions(out, "waits in", &lock.sum.waiters)?;
        functions(out, "held by", &lock.sum.holders)?;
        // Of what is held, every holder that lets go while another waits wakes somebody.
        let mut wakers = by_number(lock);
        wakers.retain(|_| !lock.kind.is_held());
        for (name, wakes) in wakers.iter().take(MOST) {
            writeln!(
                out,
                "{:>60}  {}",
                format!("\u{d7}{wakes}"),
                format_args!("  woken by {name}")
            )?;
        }
        rest(out, wakers.len())?;
        remarks(out, lock)?;
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

fn functions(out: &mut dyn Write, what: &str, functions: &Functions) -> io::Result<()> {
    let all = by_time(functions);
    for (name, stat) in all.iter().take(MOST) {
        writeln!(
            out,
            "{:>12}{:>12}{:>12}{:>12}{:>12}    {what} {name}",
            "",
            stat.begun(),
            time(time_of(stat.waits, stat.total)),
            "",
            time(time_of(stat.waits, stat.worst))
        )?;
    }
    rest(out, all.len())
}

fn rest(out: &mut dyn Write, all: usize) -> io::Result<()> {
    match all.checked_sub(MOST) {
        None | Some(0) => Ok(()),
        Some(more) => writeln!(out, "{:>60}    … {more} more", ""),
    }
}

/// What the columns do not say.
fn remarks(out: &mut dyn Write, lock: &Lock) -> io::Result<()> {
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
    if lock.sum.open > 0 {
        all.push(format!(
            "{} not ended: heddle tree --blocked",
            counted(lock.sum.open, "wait")
        ));
    }
    match all.is_empty() {
        true => Ok(()),
        false => writeln!(out, "{:>60}    {}", "", all.join("; ")),
    }
}

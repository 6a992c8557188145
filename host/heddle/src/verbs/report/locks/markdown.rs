//! A Markdown table.

use super::shown::{average, by_number, by_time, label, taken};
use crate::cells::escape;
use crate::waits::{Functions, Lock};
use heddle_trace_file::Nanos;
use std::io::{self, Write};

/// Prints the rows.
pub fn print(out: &mut dyn Write, locks: &[Lock], several: bool) -> io::Result<()> {
    writeln!(
        out,
        "| taken | blocked | total wait | avg | worst | lock | waits in | held or woken by |"
    )?;
    writeln!(out, "|--:|--:|--:|--:|--:|---|---|---|")?;
    for lock in locks {
        let all = &lock.sum.all;
        let waited = all.waits > 0;
        let time = |time: Option<Nanos>| time.map_or("-".to_owned(), |time| time.to_string());
        let mut others = functions(&lock.sum.holders);
        if others.is_empty() {
            let wakers = by_number(lock).into_iter();
            others.extend(wakers.map(|(name, wakes)| format!("{name} \u{d7}{wakes}")));
        }
        writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            taken(lock),
            lock.blocked,
            time(waited.then_some(all.total)),
            time(average(lock)),
            time(waited.then_some(all.worst)),
            escape(&label(lock, several)),
            escape(&functions(&lock.sum.waiters).join(", ")),
            escape(&others.join(", ")),
        )?;
    }
    Ok(())
}

fn functions(functions: &Functions) -> Vec<String> {
    let all = by_time(functions).into_iter();
    all.map(|(name, stat)| format!("{name} \u{d7}{}", stat.begun()))
        .collect()
}

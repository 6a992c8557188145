//! Comma-separated values; times in nanoseconds, empty where there is none. Functions are in one
//! field, the most important first, each with its number of waits or wake-ups.

use super::shown::{average, by_number, by_time};
use crate::cells::quote;
use crate::waits::{Functions, Lock};
use std::io::{self, Write};

/// Prints a header and the rows.
pub fn print(out: &mut dyn Write, locks: &[Lock]) -> io::Result<()> {
    writeln!(
        out,
        "pid,image,kind,name,objects,taken,blocked,given,unmet,waits,total_ns,min_ns,avg_ns,max_ns,timeouts,open,waiters,holders,wakers"
    )?;
    for lock in locks {
        let all = &lock.sum.all;
        let some = |number: Option<u64>| number.map_or(String::new(), |number| number.to_string());
        let wakers = by_number(lock).into_iter();
        let wakers = wakers.map(|(name, wakes)| format!("{name} \u{d7}{wakes}"));
        writeln!(
            out,
            "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
            lock.process.pid,
            lock.process.image,
            lock.kind.name(),
            quote(&lock.name),
            lock.objects,
            some(lock.taken),
            lock.blocked,
            some(lock.given),
            lock.unmet,
            all.waits,
            all.total.0,
            some(all.shortest.map(|time| time.0)),
            some(average(lock).map(|time| time.0)),
            some((all.waits > 0).then_some(all.worst.0)),
            lock.sum.timeouts,
            lock.sum.open,
            quote(&functions(&lock.sum.waiters)),
            quote(&functions(&lock.sum.holders)),
            quote(&wakers.collect::<Vec<String>>().join("; ")),
        )?;
    }
    Ok(())
}

fn functions(functions: &Functions) -> String {
    let all = by_time(functions).into_iter();
    let all = all.map(|(name, stat)| format!("{name} \u{d7}{}", stat.begun()));
    all.collect::<Vec<String>>().join("; ")
}

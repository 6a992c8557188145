//! What all formats show of a lock.

use crate::waits::{Functions, Lock, Stat};
use heddle_trace_file::Nanos;
use std::cmp::Reverse;

/// How often it was taken, for people.
pub fn taken(lock: &Lock) -> String {
    lock.taken
        .map_or_else(|| "not known".to_owned(), |taken| taken.to_string())
}

/// Of the waits that have ended.
pub fn average(lock: &Lock) -> Option<Nanos> {
    let all = &lock.sum.all;
    all.total.0.checked_div(all.waits).map(Nanos)
}

/// `mutex ledger`, with the number of objects that are called so, and the process.
pub fn label(lock: &Lock, several: bool) -> String {
    let process = match several {
        true => format!("{}/", lock.process),
        false => String::new(),
    };
    let count = match lock.objects {
        1 => String::new(),
        count => format!(" \u{d7}{count}"),
    };
    format!("{process}{} {}{count}", lock.kind.name(), lock.name)
}

/// Functions with their waits, the longest first.
pub fn by_time(functions: &Functions) -> Vec<(&str, &Stat)> {
    let mut all: Vec<_> = functions
        .iter()
        .map(|(name, stat)| (name.as_ref(), stat))
        .collect();
    all.sort_by_key(|(_, stat)| (Reverse(stat.total), Reverse(stat.begun())));
    all
}

/// Functions with how often they woke waiters, the most often first.
pub fn by_number(lock: &Lock) -> Vec<(&str, u64)> {
    let mut all: Vec<_> = lock
        .sum
        .wakers
        .iter()
        .map(|(name, &wakes)| (name.as_ref(), wakes))
        .collect();
    all.sort_by_key(|&(_, wakes)| Reverse(wakes));
    all
}

//! `heddle report --by lock`: a row an object, or objects of one name, that strands wait for.

mod csv;
mod json;
mod markdown;
mod shown;
mod table;

use super::format::Format;
use super::row::Column;
use crate::incomplete;
use crate::names::{Length, Names};
use crate::waits::{self, Lock};
use crate::{notes, output, screen};
use heddle_trace_file::Trace;
use shown::average;
use std::cmp::Reverse;
use std::process::ExitCode;

/// Prints the report.
pub fn run(
    trace: &Trace,
    format: Format,
    column: Column,
    limit: Option<usize>,
    length: Length,
) -> anyhow::Result<ExitCode> {
    let mut found = waits::read(trace, Names::new(trace).of_length(length))?;
    let locks = &mut found.locks;
    locks.sort_by_key(|lock| Reverse(number(lock, column)));
    if column == Column::Function {
        locks.sort_by(|a, b| (a.kind, &a.name).cmp(&(b.kind, &b.name)));
    }
    locks.truncate(limit.unwrap_or(usize::MAX));
    let several = trace.processes().len() > 1;
    match format {
        Format::Table => screen::show(|out, look| Ok(table::print(out, look, locks, several)?))?,
        Format::Json => output::print(|out| json::print(out, locks))?,
        Format::Csv => output::print(|out| Ok(csv::print(out, locks)?))?,
        Format::Md => output::print(|out| Ok(markdown::print(out, locks, several)?))?,
    }
    if let Some(uncounted) = notes::uncounted_operations(trace) {
        notes::warning(format_args!("{uncounted}: they are in no row"));
    } else if found.locks.iter().any(|lock| lock.taken.is_none()) {
        notes::warning(
            "how often some locks were taken is not known: the tables that count it are not there or have no room, and locks for which no thread waited may be in no row",
        );
    }
    if found.locks.is_empty() && found.counted {
        notes::note("no lock was used, nor anything else that threads wait for");
    }
    incomplete::losses(trace, found.loose, &found.remarks);
    notes::unsure(&found.unresolved);
    Ok(ExitCode::SUCCESS)
}

/// What rows are sorted by, the largest first.
fn number(lock: &Lock, column: Column) -> (u64, u64, u64) {
    let all = &lock.sum.all;
    let taken = lock.taken.unwrap_or(0);
    let first = match column {
        Column::Calls => taken,
        Column::Total | Column::Own => all.total.0,
        Column::Min => all.shortest.map_or(0, |shortest| shortest.0),
        Column::Avg => average(lock).map_or(0, |average| average.0),
        Column::Max => all.worst.0,
        Column::Function => 0,
    };
    (first, lock.blocked, taken)
}

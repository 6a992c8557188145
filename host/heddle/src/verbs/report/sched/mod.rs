//! `heddle report --by sched`: how long each strand ran, was ready, and was blocked on what.

mod flat;
mod shown;
mod table;

use super::format::Format;
use super::row::Column;
use crate::incomplete;
use crate::names::{Length, Names};
use crate::sched::{self, Group, State};
use crate::{notes, output, screen};
use heddle_trace_file::Trace;
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
    let mut found = sched::read(trace, Names::new(trace).of_length(length), None)?;
    let groups = &mut found.groups;
    groups.sort_by_key(|group| Reverse(number(group, column)));
    if column == Column::Function {
        groups.sort_by(|a, b| (a.kind, &a.name).cmp(&(b.kind, &b.name)));
    }
    groups.truncate(limit.unwrap_or(usize::MAX));
    let several = trace.processes().len() > 1;
    match format {
        Format::Table => screen::show(|out, look| Ok(table::print(out, look, groups, several)?))?,
        Format::Json => output::print(|out| flat::json(out, groups))?,
        Format::Csv => output::print(|out| Ok(flat::csv(out, groups)?))?,
        Format::Md => output::print(|out| Ok(flat::markdown(out, groups, several)?))?,
    }
    incomplete::losses(trace, found.loose, &found.remarks);
    notes::unsure(&found.unresolved);
    Ok(ExitCode::SUCCESS)
}

/// What rows are sorted by, the largest first.
fn number(group: &Group, column: Column) -> u64 {
    let [ready, blocked] = [State::Ready, State::Blocked].map(|state| group.split.of(state));
    match column {
        Column::Calls => ready.waits + blocked.waits,
        Column::Own => ready.total.0 + blocked.total.0,
        Column::Total => ready.total.0 + blocked.total.0 + group.split.of(State::Running).total.0,
        Column::Min | Column::Avg => {
            (ready.total.0 + blocked.total.0) / (ready.waits + blocked.waits).max(1)
        }
        Column::Max => ready.worst.max(blocked.worst).0,
        Column::Function => 0,
    }
}

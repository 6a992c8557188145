//! From a trace to rows: all threads at once, as many as the machine has processors.

use super::profiles::Profiles;
use super::row::{By, Group, Row, Who};
use crate::filter::{Filter, FilterArgs, LeftOut, decode_kept};
use crate::names::{Length, Names, printable, thread_label};
use heddle_calls::{Loose, Stats, Wanted};
use heddle_strands::{Analysis, Kind, Strand, Unresolved};
use heddle_symbols::short_name;
use heddle_trace_file::{Remarks, Trace};
use std::collections::BTreeMap;

/// The rows, unsorted, and what is to be said about the trace.
pub struct Rows {
    pub rows: Vec<Row>,
    pub loose: Loose,
    pub remarks: Remarks,
    /// What could not be told of the calls, if they are told apart by strand.
    pub unresolved: Vec<Unresolved>,
    /// The number of fibers, if calls are told apart by strand.
    pub fibers: u64,
    /// The number of calls that a filter left out, if there is one.
    pub left_out: Option<LeftOut>,
}

/// Whose calls are rows of their own: strands of one kind and name together, because there may be a
/// hundred thousand of them.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Owner {
    All,
    /// By indices of the process and, in it, the thread.
    Thread(usize, usize),
    Strands(usize, Kind, String),
}

/// What strands called, by module and function.
#[derive(Default)]
struct Merged {
    strands: u64,
    functions: BTreeMap<(String, String), Stats>,
}

/// Reads the trace once, or calls one by one where a filter looks at them. Functions of one name in
/// one module are one row: the clones of an optimiser, a constructor's variants.
///
/// By function, calls of a thread that never leaves its stack are paired as that has them: a
/// coroutine's are on the stack of the call that resumed it.
///
/// # Errors
/// What reading the trace gives, and options that do not fit it.
pub fn read(trace: &Trace, by: By, filter: &FilterArgs, length: Length) -> anyhow::Result<Rows> {
    let mut names = Names::new(trace).of_length(length);
    let wanted = match by {
        By::Function | By::Args | By::Caller | By::Line | By::Module => Wanted::OneStack,
        By::Thread => Wanted::All,
        By::Strand => Wanted::OneStrand,
    };
    let profiles =
        |process: usize| Profiles::new(trace.processes()[process].modules(), by != By::Function);
    let (decoded, left_out) = match Filter::new(filter, trace, &mut names)? {
        None => (
            Analysis::sum(trace, names.images(), wanted, profiles)?,
            None,
        ),
        Some(filter) => {
            let (decoded, left_out) = decode_kept(trace, names.images(), wanted, filter, profiles)?;
            (decoded, Some(left_out))
        }
    };
    let mut result = Rows {
        rows: Vec::new(),
        loose: decoded.loose,
        remarks: decoded.remarks,
        unresolved: decoded.unresolved,
        fibers: 0,
        left_out,
    };
    let mut merged: BTreeMap<Owner, Merged> = BTreeMap::new();
    for (process, profiles) in &decoded.sinks {
        let modules = trace.processes()[*process].modules();
        result.fibers += profiles.fibers;
        for group in &profiles.groups {
            let owner = owner_of(trace, &mut names, by, *process, &group.example);
            let merged = merged.entry(owner).or_default();
            merged.strands += group.strands;
            for (key, stats) in profiles.functions(group) {
                let time = modules.time_of(key.address, key.generation);
                let location = names.function(*process, key.address, time);
                let name = (location.module.clone(), location.name.clone());
                merged.functions.entry(name).or_default().merge(&stats);
            }
        }
    }
    for (owner, merged) in merged {
        let group = owner.group(trace, merged.strands);
        let rows = merged.functions.into_iter();
        result
            .rows
            .extend(rows.map(|((module, function), stats)| Row {
                short: short_name(&function),
                function,
                module,
                group: group.clone(),
                values: None,
                from: None,
                stats,
            }));
    }
    Ok(result)
}

/// The group whose rows the calls of a strand are counted in.
fn owner_of(
    trace: &Trace,
    names: &mut Names<'_>,
    by: By,
    process: usize,
    strand: &Strand,
) -> Owner {
    let name = match (by, strand.kind) {
        (By::Thread, _) => return Owner::Thread(process, strand.thread()),
        (By::Strand, Kind::Thread) => {
            let process = &trace.processes()[process];
            thread_label(trace, process, &process.threads()[strand.thread()])
        }
        (By::Strand, _) => names.strand(strand).to_string(),
        _ => return Owner::All,
    };
    Owner::Strands(process, strand.kind, name)
}

impl Owner {
    fn group(&self, trace: &Trace, strands: u64) -> Option<Group> {
        match self {
            Owner::All => None,
            Owner::Thread(process, thread) => {
                let process = &trace.processes()[*process];
                let thread = &process.threads()[*thread];
                Some(Group {
                    pid: process.pid(),
                    name: printable(thread.name()),
                    label: format!("thread {}", thread_label(trace, process, thread)),
                    who: Who::Thread(thread.tid()),
                })
            }
            Owner::Strands(process, kind, name) => {
                let label = match strands {
                    1 => format!("{} {name}", kind.name()),
                    count => format!("{} {name} \u{d7}{count}", kind.name()),
                };
                Some(Group {
                    pid: trace.processes()[*process].pid(),
                    name: printable(name),
                    label: printable(&label),
                    who: Who::Strands(*kind, strands),
                })
            }
        }
    }
}

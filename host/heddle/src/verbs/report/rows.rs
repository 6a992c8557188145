//! From a trace to rows: all threads at once, as many as the machine has processors.

use super::profiles::Profiles;
use super::row::{By, Group, Row, Who};
use crate::filter::{Filter, FilterArgs, LeftOut, decode_kept};
use crate::names::{Length, Names, printable, thread_label};
use heddle_calls::{Key, Loose, Stats, Wanted};
use heddle_strands::{Analysis, Kind, Standing, Strand, Unresolved, Watch};
use heddle_symbols::short_name;
use heddle_trace_file::{Addr, Nanos, Remarks, Trace};
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
    /// How all threads stand, in order of processes; empty if a filter looked at calls.
    pub standing: Vec<Standing>,
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

/// One of a function's addresses, as [`Row::place`] has it.
type Place = (usize, Addr, Nanos);

/// What strands called, by module and function.
#[derive(Default)]
struct Merged {
    strands: u64,
    functions: BTreeMap<(String, String), (Stats, Place)>,
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
    read_watched(trace, by, filter, length, None)
}

/// The same, while `watch` is shown the sums so far, unless a filter looks at calls one by one.
///
/// # Errors
/// The same.
pub fn read_watched(
    trace: &Trace,
    by: By,
    filter: &FilterArgs,
    length: Length,
    watch: Option<Watch<'_>>,
) -> anyhow::Result<Rows> {
    let mut names = Names::new(trace).of_length(length);
    let wanted = match by {
        By::Function | By::Args | By::Caller | By::Line | By::Module => Wanted::OneStack,
        By::Thread => Wanted::All,
        By::Strand => Wanted::OneStrand,
    };
    let variants = names.variants();
    let profiles = |process: usize| {
        let modules = trace.processes()[process].modules();
        Profiles::new(modules, &variants[process], by != By::Function)
    };
    let (decoded, standing, left_out) = match Filter::new(filter, trace, &mut names)? {
        None => {
            let (decoded, standing) =
                Analysis::sum(trace, names.images(), wanted, &variants, profiles, watch)?;
            (decoded, standing, None)
        }
        Some(filter) => {
            let (decoded, left_out) = decode_kept(trace, names.images(), wanted, filter, profiles)?;
            (decoded, Vec::new(), Some(left_out))
        }
    };
    let mut result = Rows {
        rows: Vec::new(),
        loose: decoded.loose,
        remarks: decoded.remarks,
        unresolved: decoded.unresolved,
        fibers: 0,
        left_out,
        standing,
    };
    let mut merged: BTreeMap<Owner, Merged> = BTreeMap::new();
    for (process, profiles) in &decoded.sinks {
        result.fibers += profiles.fibers;
        for group in &profiles.groups {
            let owner = owner_of(trace, &mut names, by, *process, &group.example);
            let merged = merged.entry(owner).or_default();
            merged.strands += group.strands;
            for (key, stats) in profiles.functions(group) {
                merged.add(trace, &mut names, *process, key, &stats);
            }
        }
    }
    for (owner, merged) in merged {
        let group = owner.group(trace, merged.strands);
        result.rows.append(&mut merged.rows(group));
    }
    Ok(result)
}

/// The rows of all calls of these sums, by process.
pub fn named<'s>(
    trace: &Trace,
    names: &mut Names<'_>,
    sums: impl Iterator<Item = (usize, &'s [(Key, Stats)])>,
) -> Vec<Row> {
    let mut merged = Merged::default();
    for (process, sums) in sums {
        for &(key, stats) in sums {
            merged.add(trace, names, process, key, &stats);
        }
    }
    merged.rows(None)
}

impl Merged {
    /// Adds calls of the function at an address.
    fn add(
        &mut self,
        trace: &Trace,
        names: &mut Names<'_>,
        process: usize,
        key: Key,
        stats: &Stats,
    ) {
        let modules = trace.processes()[process].modules();
        let time = modules.time_of(key.address, key.generation);
        let location = names.function(process, key.address, time);
        let name = (location.module.clone(), location.name.clone());
        let place = (process, key.address, time);
        let sum = self.functions.entry(name);
        let (sum, _) = sum.or_insert_with(|| (Stats::default(), place));
        sum.merge(stats);
    }

    /// A row for each function.
    fn rows(self, group: Option<Group>) -> Vec<Row> {
        let rows = self.functions.into_iter();
        let rows = rows.map(|((module, function), (stats, place))| Row {
            short: short_name(&function),
            function,
            module,
            group: group.clone(),
            values: None,
            from: None,
            stats,
            place: Some(place),
        });
        rows.collect()
    }
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
                    process: process.id(),
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
                    process: trace.processes()[*process].id(),
                    name: printable(name),
                    label: printable(&label),
                    who: Who::Strands(*kind, strands),
                })
            }
        }
    }
}

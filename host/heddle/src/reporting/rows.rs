//! From a trace to rows: all threads at once, as many as the machine has processors.

use super::{Group, Row, Who};
use crate::names::{Names, printable, thread_label};
use heddle_calls::{Loose, Profile, Stats, Workers};
use heddle_strands::Unresolved;
use heddle_trace_file::{Error, Modules, Remarks, Thread, Trace};
use std::collections::BTreeMap;

/// The rows, unsorted, and what is to be said about the trace.
pub struct Rows {
    pub rows: Vec<Row>,
    pub loose: Loose,
    pub remarks: Remarks,
    /// Of calls that are told apart by strand: what could not be told, and how many fibers there are.
    pub unresolved: Vec<Unresolved>,
    pub fibers: u64,
}

/// Reads the whole trace. Functions of one name in one module are one row: the clones of an optimiser, a constructor's variants.
///
/// # Errors
/// What reading the trace gives.
pub fn read(trace: &Trace, by_thread: bool) -> Result<Rows, Error> {
    let profiles = Profile::of_all(&threads(trace), Workers::all())?;
    Ok(rows(trace, profiles, by_thread))
}

/// The same, a row a function; `None`, early, if a thread may have fibers, whose calls do not pair up by thread.
///
/// # Errors
/// What reading the trace gives.
pub fn read_plain(trace: &Trace) -> Result<Option<Rows>, Error> {
    let profiles = Profile::of_plain(&threads(trace), Workers::all())?;
    Ok(profiles.map(|profiles| rows(trace, profiles, false)))
}

/// All threads, in the order of processes, with their modules.
fn threads(trace: &Trace) -> Vec<(&Thread, &Modules)> {
    let mut threads = Vec::new();
    for process in trace.processes() {
        let of_process = process.threads().iter();
        threads.extend(of_process.map(|thread| (thread, process.modules())));
    }
    threads
}

fn rows(trace: &Trace, profiles: Vec<Profile>, by_thread: bool) -> Rows {
    let mut names = Names::new(trace);
    let mut result = Rows {
        rows: Vec::new(),
        loose: Loose::default(),
        remarks: Remarks::default(),
        unresolved: Vec::new(),
        fibers: 0,
    };
    // Thread (none: all of them), module, function.
    let mut merged: BTreeMap<(Option<usize>, String, String), Stats> = BTreeMap::new();
    let mut threads = Vec::new();
    let mut profiles = profiles.into_iter();
    for (index, process) in trace.processes().iter().enumerate() {
        for (thread, profile) in process.threads().iter().zip(profiles.by_ref()) {
            result.loose += profile.loose;
            result.remarks += &profile.remarks;
            let group = by_thread.then_some(threads.len());
            threads.push(Group {
                pid: process.pid(),
                name: printable(thread.name()),
                label: format!("thread {}", thread_label(trace, process, thread)),
                who: Who::Thread(thread.tid()),
            });
            for (key, stats) in profile.functions {
                let time = process.modules().time_of(key.address, key.generation);
                let location = names.function(index, key.address, time);
                merged
                    .entry((group, location.module.clone(), location.name.clone()))
                    .or_default()
                    .merge(&stats);
            }
        }
    }
    let rows = merged
        .into_iter()
        .map(|((group, module, function), stats)| {
            let group = group.map(|index| threads[index].clone());
            Row {
                function,
                module,
                group,
                stats,
            }
        });
    result.rows = rows.collect();
    result
}

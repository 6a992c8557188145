//! From a trace to rows: all threads at once, as many as the machine has processors.

use super::{Group, Row, Who};
use crate::names::{Names, printable, thread_label};
use heddle_calls::{Loose, Profile, Stats};
use heddle_strands::Unresolved;
use heddle_trace_file::{Error, Remarks, Trace};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The rows, unsorted, and what is to be said about the trace.
pub struct Rows {
    pub rows: Vec<Row>,
    pub loose: Loose,
    pub remarks: Remarks,
    /// Of calls that are told apart by strand: what could not be told, and how many fibers there are.
    pub unresolved: Vec<Unresolved>,
    pub fibers: u64,
    /// Whether these may be calls of fibers.
    pub may_have_fibers: bool,
}

/// Reads the whole trace. Functions of one name in one module are one row: the clones of an optimiser, a constructor's variants.
pub fn read(trace: &Trace, by_thread: bool) -> Result<Rows, Error> {
    let profiles = profiles(trace)?;
    let mut names = Names::new(trace);
    let mut result = Rows {
        rows: Vec::new(),
        loose: Loose::default(),
        remarks: Remarks::default(),
        unresolved: Vec::new(),
        fibers: 0,
        may_have_fibers: false,
    };
    // Thread (none: all of them), module, function.
    let mut merged: BTreeMap<(Option<usize>, String, String), Stats> = BTreeMap::new();
    let mut threads = Vec::new();
    let mut profiles = profiles.into_iter();
    for (index, process) in trace.processes().iter().enumerate() {
        for (thread, profile) in process.threads().iter().zip(profiles.by_ref()) {
            result.loose += profile.loose;
            result.remarks += &profile.remarks;
            result.may_have_fibers |= profile.may_have_fibers;
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
    Ok(result)
}

/// One profile a thread, in the order of processes and threads.
fn profiles(trace: &Trace) -> Result<Vec<Profile>, Error> {
    let threads: Vec<_> = trace
        .processes()
        .iter()
        .flat_map(|process| {
            process
                .threads()
                .iter()
                .map(move |thread| (process, thread))
        })
        .collect();
    // The longest first, so that no worker is left with it at the end.
    let mut order: Vec<usize> = (0..threads.len()).collect();
    order.sort_by_key(|&index| std::cmp::Reverse(threads[index].1.bytes()));
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<Option<Result<Profile, Error>>>> =
        Mutex::new(threads.iter().map(|_| None).collect());
    let work = || {
        while let Some(&index) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (process, thread) = threads[index];
            let profile = Profile::of(thread, process.modules());
            done.lock().unwrap_or_else(PoisonError::into_inner)[index] = Some(profile);
        }
    };
    let workers = std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(threads.len());
    std::thread::scope(|scope| {
        for _ in 1..workers {
            scope.spawn(work);
        }
        work();
    });
    done.into_inner()
        .unwrap_or_else(PoisonError::into_inner)
        .into_iter()
        .flatten()
        .collect()
}

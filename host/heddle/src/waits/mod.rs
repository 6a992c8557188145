//! Who waited for what, as `heddle record --sync` has it: every wait, by strand and call, and every
//! object that may be waited for.

mod blocked;
mod collect;
mod complete;
mod holding;
mod key;
mod labels;
mod lives;
mod names;
mod stacks;
mod sum;
mod waiters;
mod wakeups;

pub use blocked::{Again, Blocked, Has, HoldingThread, cycles};
pub use labels::Labels;
pub use names::{Describe, is_wrapper, own_function};
pub use sum::{Functions, Lock, Stat, Sum};

use crate::names::Names;
use anyhow::bail;
use collect::Collect;
use heddle_calls::Loose;
use heddle_strands::{Analysis, Unresolved};
use heddle_trace_file::{Nanos, Objects, Process, Remarks, Trace};
use lives::Lives;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// What a trace says of waits.
pub struct Waits {
    /// The objects, by process and name.
    pub locks: Vec<Lock>,
    /// From each process's first event to its last, or to its threads' ends where these are known.
    pub spans: Vec<Nanos>,
    /// The strands whose waits had not ended when the records did.
    pub blocked: Vec<Blocked>,
    /// Every operation on every object is counted.
    pub counted: bool,
    pub loose: Loose,
    pub remarks: Remarks,
    pub unresolved: Vec<Unresolved>,
}

/// Reads the whole trace, in order of time.
///
/// # Errors
/// A trace in which waits were not recorded, and what reading it gives.
pub fn read<'a>(trace: &'a Trace, names: Names<'a>) -> anyhow::Result<Waits> {
    let counted = trace.processes().iter().map(Process::objects);
    // --alloc records waits, too; a program that uses no lock has no file of objects.
    let mut processes = trace.processes().iter();
    let asked =
        processes.any(|process| process.objects().is_some() || process.allocation().is_some());
    let counted: Vec<Objects> = counted
        .map(|objects| objects.cloned().unwrap_or_default())
        .collect();
    let names = Rc::new(RefCell::new(names));
    let analysis = Analysis::new(trace, names.borrow_mut().images());
    let lives = Lives::of(trace)?;
    let make = |process| Collect::new(trace, process, names.clone(), &lives);
    let decoded = analysis.stream(make, |_, _, _| true)?;
    let mut blocked = Vec::new();
    let mut sums = BTreeMap::new();
    let mut describe = Describe::new(trace);
    let mut spans = vec![Nanos(0); trace.processes().len()];
    for (process, collect) in decoded.sinks {
        spans[process] = spans[process].max(collect.span());
        collect.finish(&mut describe, &mut sums, &mut blocked);
    }
    // A flight recorder's snapshot has waits, and no counts.
    if !asked && sums.is_empty() && blocked.is_empty() {
        bail!(
            "{}: waits were not recorded; record again: heddle record --sync …",
            trace.path().display()
        );
    }
    let whole = trace.lost_counts().operations == 0 && counted.iter().all(Objects::whole);
    let names = &mut names.borrow_mut();
    complete::complete(&mut blocked, &counted, names, &describe, &lives);
    let locks = sum::locks(sums, &counted, names, &describe);
    let listed = locks.iter().all(|lock| lock.taken.is_some());
    Ok(Waits {
        locks,
        spans,
        blocked,
        counted: whole && listed,
        loose: decoded.loose,
        remarks: decoded.remarks,
        unresolved: decoded.unresolved,
    })
}

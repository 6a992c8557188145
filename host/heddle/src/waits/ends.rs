//! When the strands of processes ended with these.

use super::lives::Lives;
use heddle_trace_file::{Nanos, Process, Thread, Trace};

/// By process: when its strands ended with it, if that was before the trace did: as its latest
/// event tells, or as the kernel does of one that was killed, or left by `_exit` (`heddle record
/// --sched`). `None`: it lived when the trace ended, or was killed at a time that is not known.
/// What of it cannot be read is said where its events are.
pub fn process_ends(trace: &Trace) -> Vec<Option<Nanos>> {
    let end = trace.processes().iter().filter_map(Process::last).max();
    // Where the switches cannot be read, that is said by those who show them.
    let lives = Lives::of(trace).unwrap_or_default();
    let killed = |process: &Process| {
        let threads = process.threads().iter();
        let ends: Option<Vec<Nanos>> = threads.map(|thread: &Thread| lives.died(thread)).collect();
        ends?.into_iter().max()
    };
    let ends = |process: &Process| match (process.replaced(), process.ended()) {
        (true, _) => process.last(),
        (false, true) => process.last().filter(|last| Some(*last) < end),
        (false, false) => killed(process).filter(|killed| Some(*killed) < end),
    };
    trace.processes().iter().map(ends).collect()
}

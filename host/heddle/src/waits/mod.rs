//! Who waited for what, as `heddle record --sync` has it: every wait, by strand and call, and every
//! object that may be waited for.

mod blocked;
mod carriers;
mod collect;
mod complete;
mod ends;
mod holding;
mod key;
mod labels;
mod lives;
mod names;
mod stacks;
mod sum;
mod waiters;
mod wakeups;

pub use blocked::{
    Again, Blocked, By, Cycle, Ends, Has, HoldingStrand, HoldingThread, cycles, ends,
};
pub use collect::is_no_wait;
pub use ends::process_ends;
pub use labels::Labels;
pub use names::{Describe, is_wrapper, own_function};
pub use sum::{Functions, Lock, Stat, Sum};

use crate::names::Names;
use anyhow::bail;
use carriers::Carriers;
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
    let mut carriers = Carriers::default();
    let mut spans = vec![Nanos(0); trace.processes().len()];
    for (process, collect) in decoded.sinks {
        spans[process] = spans[process].max(collect.span());
        carriers.add(collect.finish(&mut describe, &mut sums, &mut blocked));
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
    complete::complete(&mut blocked, &counted, names, &describe, &lives, &carriers);
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

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_trace_file::write::{ThreadWriter, TraceWriter};
    use heddle_trace_file::{Switch, SwitchKind};

    const MUTEX: u32 = 1;
    const LEDGER: (u32, u64, u32) = (MUTEX, 0x9000, 1);
    const FROM: u64 = 0x1_0000;
    /// The function that takes the mutex, by where it calls libc, and another one.
    const SECTION: u64 = 0x1_1000;
    const OTHER: u64 = 0x1_2000;
    const STACKS: [u64; 2] = [0x4_f000, 0x5_f000];

    /// Looks, and those at which the holder was suspended, of one wait from 100 to 200: a thread
    /// begins as fiber 1, `announced` or not, which calls the function that takes the mutex, and
    /// then does this.
    fn looks(announced: bool, does: impl FnOnce(&mut ThreadWriter)) -> (u64, u64) {
        let sum = sum(announced, &[], does);
        (sum.looks, sum.suspended)
    }

    /// The same wait, with what the kernel told of the holder.
    fn sum(announced: bool, told: &[Switch], does: impl FnOnce(&mut ThreadWriter)) -> Sum {
        let directory = tempfile::tempdir().unwrap();
        let writer = TraceWriter::create(directory.path()).unwrap();
        if !told.is_empty() {
            writer.switches(told, Some(1000)).unwrap();
        }
        let mut process = writer.process(42, 1, "/bin/app").unwrap();
        process.module(FROM, 0x2_0000, 0, None, "/nowhere/app");
        process.objects(&[], 0).unwrap();
        let mut holder = process.thread(42, "holder");
        holder
            .stack(0x7_0000, 0x8_0000)
            .object_met(5, LEDGER, SECTION);
        if announced {
            holder.strand_switch(10, 1);
        }
        holder.enter(20, SECTION, FROM, STACKS[0]);
        does(&mut holder);
        holder.finish().unwrap();
        let mut waiter = process.thread(43, "waiter");
        waiter
            .wait(100, LEDGER, OTHER, (42, SECTION as u32))
            .wait_ended(200, 0, 0);
        waiter.finish().unwrap();
        process.finish().unwrap();
        let trace = Trace::open(directory.path()).unwrap();
        let found = read(&trace, Names::new(&trace)).unwrap();
        let sum = found.locks[0].sum.clone();
        assert_eq!(sum.all.waits, 1);
        sum
    }

    /// Looks, and those at which the holder was blocked, where it was off its processor from one
    /// time to another, and lets go at 160.
    fn off_looks(kind: SwitchKind, from: u64, to: u64) -> (u64, u64) {
        let told = [(5, SwitchKind::Runs), (from, kind), (to, SwitchKind::Runs)];
        let told = told.map(|(time, kind)| Switch {
            time: Nanos(time),
            pid: 42,
            tid: 42,
            cpu: 0,
            kind,
        });
        let sum = sum(true, &told, |thread| lets_go(thread, 160));
        (sum.looks, sum.off)
    }

    /// It goes to fiber 2 at one time, which calls something, and back at another.
    fn goes_away(thread: &mut ThreadWriter, from: u64, to: u64) {
        thread
            .strand_switch(from, 2)
            .enter(from + 1, OTHER, FROM, STACKS[1])
            .exit(to - 1, OTHER, FROM, STACKS[1])
            .strand_switch(to, 1);
    }

    fn lets_go(thread: &mut ThreadWriter, time: u64) {
        thread
            .wake(time, MUTEX, 1, SECTION)
            .exit(time + 1, SECTION, FROM, STACKS[0]);
    }

    #[test]
    fn a_holder_that_rests_all_through_a_wait_was_suspended() {
        let found = looks(true, |thread| {
            goes_away(thread, 50, 150);
            lets_go(thread, 160);
        });
        assert_eq!(found, (1, 1));
    }

    #[test]
    fn a_holder_that_is_blocked_as_a_wait_begins_waits() {
        assert_eq!(off_looks(SwitchKind::Blocks, 90, 150), (1, 1));
        assert_eq!(off_looks(SwitchKind::Preempted, 90, 150), (1, 0));
        assert_eq!(off_looks(SwitchKind::Blocks, 80, 90), (1, 0));
    }

    #[test]
    fn of_a_holder_that_is_blocked_meanwhile_it_is_known_if_it_had_let_go() {
        assert_eq!(off_looks(SwitchKind::Blocks, 120, 140), (0, 0));
        assert_eq!(off_looks(SwitchKind::Blocks, 170, 190), (1, 0));
    }

    #[test]
    fn a_holder_that_is_blocked_for_longer_than_a_wait_had_let_go_before() {
        assert_eq!(off_looks(SwitchKind::Blocks, 90, 250), (0, 0));
    }

    #[test]
    fn a_holder_that_is_suspended_when_it_has_let_go_was_not_before() {
        let found = looks(true, |thread| {
            lets_go(thread, 150);
            goes_away(thread, 160, 190);
        });
        assert_eq!(found, (1, 0));
    }

    #[test]
    fn of_a_holder_that_is_suspended_meanwhile_it_is_not_known_what_it_did() {
        let found = looks(true, |thread| {
            goes_away(thread, 110, 140);
            lets_go(thread, 150);
        });
        assert_eq!(found, (0, 0));
    }

    #[test]
    fn of_a_holder_that_was_suspended_before_a_wait_it_is_not_known_whether_with_the_lock() {
        let found = looks(true, |thread| {
            goes_away(thread, 50, 80);
            thread
                .enter(90, OTHER, FROM, STACKS[0] - 8)
                .exit(95, OTHER, FROM, STACKS[0] - 8);
            lets_go(thread, 150);
        });
        assert_eq!(found, (0, 0));
    }

    #[test]
    fn a_call_that_takes_the_lock_after_its_fiber_went_on_was_not_suspended_with_it() {
        let found = looks(true, |thread| {
            thread.exit(40, SECTION, FROM, STACKS[0]);
            goes_away(thread, 50, 80);
            thread.enter(90, SECTION, FROM, STACKS[0]);
            lets_go(thread, 150);
        });
        assert_eq!(found, (1, 0));
    }

    #[test]
    fn a_holder_whose_thread_went_back_to_it_before_its_next_event_is_not_known() {
        let found = looks(false, |thread| {
            // Nothing tells of the switches, and the next event is the fiber's own.
            thread
                .enter(60, OTHER, FROM, STACKS[1])
                .exit(70, OTHER, FROM, STACKS[1])
                .by(STACKS[0] - 8);
            lets_go(thread, 150);
        });
        assert_eq!(found, (0, 0));
    }
}

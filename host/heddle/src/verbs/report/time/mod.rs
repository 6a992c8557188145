//! `heddle report --by time`: where the time of all threads together went, as `heddle compare
//! --trace` shows it of each cell.
//!
//! The kernel says when each thread ran, was preempted and was blocked; on what it was blocked say
//! the waits and long calls that the recorder has seen the thread in.

mod allocations;
mod crowded;
mod print;

use self::allocations::{Allocations, in_one};
use self::crowded::Crowded;
use super::format::Format;
use crate::{notes, sched};
use anyhow::Context;
use heddle_results::ThreadTime;
use heddle_trace_file::{
    AllocationEntry, EventKind, Life, Nanos, ObjectKind, Remarks, Switches, Thread, Trace,
};
use rustc_hash::FxHashMap;
use std::process::ExitCode;

/// Marks (heddle_mark) between which a program is measured. The last begin counts, and the first
/// end after it: before them may be a warm-up.
const BEGIN: &[u8] = b"heddle: measured from here";
const END: &[u8] = b"heddle: measured to here";

/// Prints the report.
pub fn run(trace: &Trace, format: Format) -> anyhow::Result<ExitCode> {
    let time = read(trace)?;
    print::print(&time, format)?;
    for missing in &time.missing {
        notes::warning(missing);
    }
    Ok(ExitCode::SUCCESS)
}

/// What a thread was in while it was blocked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    Locks,
    Joining,
    Io,
    Allocation,
}

/// A wait or a call of a thread.
#[derive(Clone, Copy, Debug)]
struct Block {
    from: Nanos,
    to: Nanos,
    reason: Reason,
}

/// What the recorder has seen of a thread.
struct Seen {
    first: Nanos,
    last: Nanos,
    blocks: Vec<Block>,
}

/// What the recorder has seen of all threads, by the kernel's number.
#[derive(Default)]
struct All {
    threads: FxHashMap<u32, Vec<Seen>>,
    begins: Vec<Nanos>,
    ends: Vec<Nanos>,
    remarks: Remarks,
}

impl All {
    fn add(&mut self, thread: &Thread) -> anyhow::Result<()> {
        let mut blocks: Vec<Block> = Vec::new();
        let mut waiting: Vec<usize> = Vec::new();
        let mut last = thread.first();
        let mut events = thread.events();
        for event in events.by_ref() {
            let event = event?;
            last = last.max(event.time);
            match event.kind {
                EventKind::Mark { text: BEGIN, .. } => self.begins.push(event.time),
                EventKind::Mark { text: END, .. } => self.ends.push(event.time),
                EventKind::Wait(wait) => {
                    // One within another is a signal handler's, or the other was left by a jump:
                    // which is not known, so that the other ends here.
                    for open in waiting.drain(..) {
                        blocks[open].to = event.time;
                    }
                    waiting.push(blocks.len());
                    blocks.push(Block {
                        from: event.time,
                        to: Nanos(u64::MAX),
                        reason: match wait.kind {
                            ObjectKind::Thread => Reason::Joining,
                            _ => Reason::Locks,
                        },
                    });
                }
                EventKind::WaitEnded { .. } => {
                    if let Some(open) = waiting.pop() {
                        blocks[open].to = event.time;
                    }
                }
                EventKind::LongCall { since, .. } => blocks.push(Block {
                    from: since,
                    to: event.time,
                    reason: Reason::Io,
                }),
                _ => {}
            }
        }
        self.remarks += &events.remarks();
        blocks.sort_by_key(|block| block.from);
        let first = thread.first();
        let of_number = self.threads.entry(thread.tid()).or_default();
        of_number.push(Seen {
            first,
            last,
            blocks,
        });
        Ok(())
    }

    /// The stretch that is measured.
    fn measured(&self) -> Option<(Nanos, Nanos)> {
        let begin = *self.begins.iter().max()?;
        let end = self.ends.iter().filter(|end| **end >= begin).min()?;
        Some((begin, *end))
    }

    /// Those that one thread may be whose number was another's up to a time.
    fn of(&self, life: &Life, after: Nanos) -> impl Iterator<Item = &Seen> {
        let all = self.threads.get(&life.tid).into_iter().flatten();
        all.filter(move |seen| seen.first >= after && seen.first <= life.to)
    }
}

/// Why a thread was blocked from a time on.
fn reason(seen: &[&Seen], from: Nanos) -> Option<Reason> {
    /// A call may lie within a wait, and end before.
    const LOOKED_AT: usize = 4;
    seen.iter().find_map(|seen| {
        let end = seen.blocks.partition_point(|block| block.from <= from);
        let near = seen.blocks[..end].iter().rev().take(LOOKED_AT);
        let mut around = near.filter(|block| block.to >= from);
        around.next().map(|block| block.reason)
    })
}

/// Adds up the time of all threads.
///
/// # Errors
/// It was not recorded when threads were off their processors, or the trace cannot be read.
pub fn read(trace: &Trace) -> anyhow::Result<ThreadTime> {
    let switches = sched::switches(trace)?;
    let mut all = All::default();
    for thread in trace
        .processes()
        .iter()
        .flat_map(|process| process.threads())
    {
        let path = || format!("cannot read {}", trace.path().display());
        all.add(thread).with_context(path)?;
    }
    let measured = all.measured();
    let window = measured.unwrap_or((Nanos(0), Nanos(u64::MAX)));
    let clipped = |from: Nanos, to: Nanos| to.min(window.1) - from.max(window.0);
    let mut time = ThreadTime {
        measured: measured.is_some(),
        ..ThreadTime::default()
    };
    let allocation = Allocations::of(trace);
    time.allocation_ns = allocation.counted.then_some(0);
    let ran = switches.processors_within(window.0, window.1);
    let processors = switches.processors.map_or(ran, |number| number as usize);
    let crowded = Crowded::of(&switches, processors);
    let mut ended: FxHashMap<u32, Nanos> = FxHashMap::default();
    for life in &switches.lives {
        let after = ended.insert(life.tid, life.to).unwrap_or(Nanos(0));
        let seen: Vec<&Seen> = all.of(life, after).collect();
        let first = seen.iter().map(|seen| seen.first).min();
        let from = first.map_or(life.from, |first| first.min(life.from));
        let lived = clipped(from, life.to).0;
        if lived == 0 {
            continue;
        }
        time.threads += 1;
        let allocated = allocation.of_thread(life.tid, after, life.to);
        let (mut allocation_ns, mut cost) = (0, 0);
        for entry in allocated.clone() {
            allocation_ns += entry.within(window.0, window.1).0;
            cost += entry.cost_within(window.0, window.1).0;
            time.allocations += entry.calls_within(window.0, window.1);
        }
        let long: Vec<&AllocationEntry> = allocated.filter(|entry| entry.long).collect();
        let mut off = 0;
        for stretch in switches.of(life.tid, from..life.to) {
            if stretch.from < from {
                continue;
            }
            let took = clipped(stretch.from, stretch.to).0;
            off += took;
            let within = stretch.from >= window.0 && stretch.from < window.1;
            time.kernel_switches += u64::from(within);
            let allocates = in_one(&long, stretch.from);
            // That is in its time, too.
            if allocates {
                allocation_ns = allocation_ns.saturating_sub(took);
            }
            let known = reason(&seen, stretch.from);
            let known = known.or(allocates.then_some(Reason::Allocation));
            let part = match (stretch.preempted, known) {
                (true, _) => &mut time.processor_ns,
                (false, Some(Reason::Locks)) => &mut time.locks_ns,
                (false, Some(Reason::Joining)) => &mut time.joining_ns,
                (false, Some(Reason::Io)) => &mut time.io_ns,
                (false, Some(Reason::Allocation)) => &mut time.allocation_blocked_ns,
                (false, None) => &mut time.not_known_ns,
            };
            *part += took;
            if stretch.preempted {
                let (from, to) = (stretch.from.max(window.0), stretch.to.min(window.1));
                time.processor_own_ns += crowded.within(from, to).0.min(took);
            }
        }
        let running = lived.saturating_sub(off);
        let cost = cost.min(running.saturating_sub(allocation_ns));
        let running = running - cost;
        time.allocation_cost_ns += cost;
        time.running_ns += running;
        if let Some(sum) = &mut time.allocation_ns {
            *sum += allocation_ns.min(running);
        }
    }
    // What threads did when no switch was told any more.
    let all_seen = all.threads.values().flatten();
    let untold = all_seen.map(|seen| {
        let from = seen.first.max(switches.told);
        clipped(from, seen.last.max(from)).0
    });
    let untold = untold.fold(0, u64::saturating_add);
    time.not_known_ns = time.not_known_ns.saturating_add(untold);
    time.total_ns = time.running_ns
        + time.processor_ns
        + time.locks_ns
        + time.io_ns
        + time.not_known_ns
        + time.allocation_blocked_ns;
    time.missing = missing(trace, &all.remarks, &switches, Nanos(untold));
    time.missing.extend(allocation.missing);
    Ok(time)
}

/// What is not in the parts; `untold`: time of threads in which no switch was told any more.
fn missing(trace: &Trace, remarks: &Remarks, switches: &Switches, untold: Nanos) -> Vec<String> {
    let dropped = trace.processes().iter().map(|it| it.dropped()).sum::<u64>() + remarks.dropped;
    let mut missing = Vec::new();
    if switches.lost > 0 {
        missing.push(format!(
            "{} lost: what was not seen counts as running",
            notes::were(switches.lost, "switch record")
        ));
    }
    match sched::early(switches) {
        Some(early) => missing.push(early),
        None if untold > Nanos(0) => missing.push(sched::unknown_after(switches.told, untold)),
        None => {}
    }
    if dropped > 0 {
        missing.push(format!(
            "{} dropped: more is blocked on what is not known",
            notes::were(dropped, "event")
        ));
    }
    let uncounted = notes::uncounted_operations(trace);
    missing.extend(uncounted.map(|text| format!("{text}: more is blocked on what is not known")));
    missing
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_trace_file::write::TraceWriter;
    use heddle_trace_file::{Switch, SwitchKind};

    const MUTEX: u32 = 1;
    const THREAD: u32 = 8;

    fn switch(time: u64, tid: u32, kind: SwitchKind) -> Switch {
        Switch {
            time: Nanos(time),
            pid: 42,
            tid,
            cpu: 0,
            kind,
        }
    }

    /// The time of a program's threads, of which the kernel alone tells.
    fn of_switches(all: &[Switch]) -> ThreadTime {
        let directory = tempfile::tempdir().unwrap();
        let writer = TraceWriter::create(directory.path()).unwrap();
        let mut process = writer.process(42, 1, "/bin/app").unwrap();
        let mut main = process.thread(42, "app");
        main.mark(0, 0, "here").finish().unwrap();
        process.finish().unwrap();
        writer.switches(all, Some(1000)).unwrap();
        read(&Trace::open(directory.path()).unwrap()).unwrap()
    }

    /// A thread that waits for a mutex, reads, is preempted, and is blocked on what nobody has
    /// seen; one of which the recorder has seen nothing; and one that waits for the end of others.
    fn trace(marks: bool) -> (tempfile::TempDir, Trace) {
        trace_with(marks, None)
    }

    /// With entries of allocation, and flags.
    fn trace_with(
        marks: bool,
        allocation: Option<(&[[u64; 8]], u32)>,
    ) -> (tempfile::TempDir, Trace) {
        use SwitchKind::{Blocks, Ended, Preempted, Runs};
        let directory = tempfile::tempdir().unwrap();
        let writer = TraceWriter::create(directory.path()).unwrap();
        let mut process = writer.process(42, 1, "/bin/app").unwrap();
        if let Some((entries, flags)) = allocation {
            process.allocation(entries, flags).unwrap();
        }
        let mut main = process.thread(42, "app");
        main.mark(0, 0, "here");
        if marks {
            main.mark(1, 0, "heddle: measured from here");
            main.mark(100, 0, "heddle: measured from here");
        }
        main.wait(105, (THREAD, 0x1000, 0), 0x2000, (0, 0));
        main.wait_ended(900, 0, 0);
        if marks {
            main.mark(910, 0, "heddle: measured to here");
            main.mark(1000, 0, "heddle: measured to here");
        }
        main.finish().unwrap();
        let mut worker = process.thread(43, "app");
        worker.wait(205, (MUTEX, 0x1000, 0), 0x2000, (0, 0));
        worker.wait_ended(305, 0, 0);
        worker.long_call(450, 395, "read 3 pipe:[5]");
        worker.finish().unwrap();
        process.finish().unwrap();
        let all = [
            switch(110, 42, Blocks),
            switch(890, 42, Runs),
            switch(200, 43, Runs),
            switch(210, 43, Blocks),
            switch(300, 43, Runs),
            switch(400, 43, Blocks),
            switch(440, 43, Runs),
            switch(500, 43, Preempted),
            switch(570, 43, Runs),
            switch(600, 43, Blocks),
            switch(620, 43, Runs),
            switch(700, 43, Ended),
            switch(700, 44, Runs),
            switch(710, 44, Blocks),
            switch(715, 44, Runs),
            switch(720, 44, Ended),
        ];
        writer.switches(&all, Some(1000)).unwrap();
        let trace = Trace::open(directory.path()).unwrap();
        (directory, trace)
    }

    #[test]
    fn each_stretch_is_in_the_part_of_what_its_thread_was_in() {
        let (_directory, trace) = trace(true);
        let time = read(&trace).unwrap();
        assert!(time.measured);
        assert_eq!(time.locks_ns, 90);
        assert_eq!(time.io_ns, 40);
        assert_eq!(time.processor_ns, 70);
        // Never could more threads run than there are processors.
        assert_eq!(time.processor_own_ns, 0);
        // The second thread has 20 of it, the third 5.
        assert_eq!(time.not_known_ns, 25);
        assert_eq!(time.joining_ns, 780);
        // From the last mark that begins to the first that ends: 810 of the main thread, and 600
        // of the second, which the recorder has seen before the kernel told of it.
        assert_eq!(
            time.running_ns,
            (810 - 780) + (600 - 90 - 40 - 70 - 20) + (20 - 5)
        );
        assert_eq!((time.threads, time.kernel_switches), (3, 6));
        let sum = time.running_ns + time.locks_ns + time.io_ns + time.processor_ns;
        assert_eq!(time.total_ns, sum + time.not_known_ns);
        assert!(time.missing.is_empty(), "{:?}", time.missing);
    }

    #[test]
    fn allocation_is_what_a_thread_was_in_without_what_it_was_off_its_processor_for() {
        const STRETCH: u64 = 1 << 32;
        const LONG: u64 = 2 << 32;
        let of = |flags| {
            let entries = [
                // Half of it is before the stretch that is measured.
                [0, 200, 40, 10, 10, 80, 42 | STRETCH, 0],
                // It is blocked in one call for 20, and preempted in another for 70.
                [495, 575, 80, 1, 0, 8, 43 | LONG, 0],
                [598, 625, 27, 1, 0, 8, 43 | LONG, 0],
                [650, 660, 9, 2, 2, 16, 43 | STRETCH, 0],
                // Its wait for the mutex is one of locks, wherever it is.
                [209, 301, 92, 1, 0, 8, 43 | LONG, 0],
            ];
            let (_directory, trace) = trace_with(true, Some((&entries, flags)));
            read(&trace).unwrap()
        };
        let time = of(0);
        let on_processor = 20 + (80 - 70) + (27 - 20) + 9 + (92 - 90);
        assert_eq!(time.allocation_ns, Some(on_processor));
        assert_eq!(time.allocation_blocked_ns, 20);
        assert_eq!(time.allocations, 5 + 1 + 1 + 2 + 1);
        let (_directory, plain) = trace(true);
        let plain = read(&plain).unwrap();
        assert_eq!(plain.allocation_ns, None);
        // The parts exclude each other: what is blocked there was not known before.
        assert_eq!(time.not_known_ns + 20, plain.not_known_ns);
        assert_eq!(
            (time.locks_ns, time.processor_ns),
            (plain.locks_ns, plain.processor_ns)
        );
        // Half of the first stretch's calls; of those that took all of their time, nothing.
        let cost = 10 + 1;
        assert_eq!(time.allocation_cost_ns, cost);
        assert_eq!(time.total_ns + cost, plain.total_ns);
        assert_eq!(time.running_ns + cost, plain.running_ns);
        assert!(
            (time
                .shares(None)
                .unwrap()
                .parts()
                .iter()
                .flatten()
                .sum::<f64>()
                - 1.0)
                .abs()
                < 1e-9
        );
        assert!(time.missing.is_empty(), "{:?}", time.missing);

        // A program with a malloc of its own: that is not known, and why.
        let time = of(1);
        assert_eq!(time.allocation_ns, None);
        assert!(
            time.missing[0].contains("a malloc of its own"),
            "{:?}",
            time.missing
        );
        assert!(of(4).missing[0].contains("than there is room for"));
    }

    #[test]
    fn a_thread_is_crowded_out_while_more_can_run_than_there_are_processors() {
        use SwitchKind::{Blocks, Ended, Preempted, Runs};
        // Two threads on one processor, which another program has from 400 on. The second is
        // blocked from 300 to 350.
        let all = [
            switch(0, 42, Runs),
            switch(100, 42, Preempted),
            switch(100, 43, Runs),
            switch(300, 43, Blocks),
            switch(350, 43, Runs),
            switch(400, 43, Ended),
            switch(600, 42, Runs),
            switch(700, 42, Ended),
        ];
        let time = of_switches(&all);
        assert_eq!(time.processor_ns, 500);
        assert_eq!(time.processor_own_ns, (300 - 100) + (400 - 350));
    }

    #[test]
    fn what_other_programs_take_is_not_the_programs_own_crowd() {
        use SwitchKind::{Ended, Preempted, Runs};
        // Three threads on one processor, which another program has from 300 to 600.
        let all = [
            switch(0, 42, Runs),
            switch(0, 43, Preempted),
            switch(0, 44, Preempted),
            switch(300, 42, Preempted),
            switch(600, 42, Runs),
            switch(900, 42, Ended),
            switch(900, 43, Runs),
            switch(1000, 43, Ended),
            switch(1000, 44, Runs),
            switch(1100, 44, Ended),
        ];
        let time = of_switches(&all);
        assert_eq!(time.processor_ns, 900 + 1000 + 300);
        // Two of three are too many, whoever has the processor.
        let own = 2 * 900 + 100;
        assert!(
            time.processor_own_ns.abs_diff(own) <= 2,
            "{}",
            time.processor_own_ns
        );
    }

    #[test]
    fn without_marks_the_whole_run_is_looked_at() {
        let (_directory, trace) = trace(false);
        let time = read(&trace).unwrap();
        assert!(!time.measured);
        assert_eq!(time.running_ns, (1000 - 780) + (700 - 220) + (20 - 5));
    }
}

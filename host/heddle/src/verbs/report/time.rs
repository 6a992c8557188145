//! `heddle report --by time`: where the time of all threads together went, as `heddle compare
//! --trace` shows it of each cell.
//!
//! The kernel says when each thread ran, was preempted and was blocked; on what it was blocked say
//! the waits and long calls that the recorder has seen the thread in.

use super::format::Format;
use crate::{notes, output, sched, screen};
use anyhow::Context;
use heddle_results::{Shares, ThreadTime, percent};
use heddle_trace_file::{EventKind, Life, Nanos, ObjectKind, Remarks, Thread, Trace};
use rustc_hash::FxHashMap;
use std::io::{self, Write};
use std::process::ExitCode;

/// Marks (heddle_mark) between which a program is measured. The last begin counts, and the first
/// end after it: before them may be a warm-up.
const BEGIN: &[u8] = b"heddle: measured from here";
const END: &[u8] = b"heddle: measured to here";

/// Prints the report.
pub fn run(trace: &Trace, format: Format) -> anyhow::Result<ExitCode> {
    let time = read(trace)?;
    let shares = time.shares(None);
    match format {
        Format::Table => screen::show(|out, _| Ok(table(out, &time, shares)?))?,
        Format::Json => output::print(|out| json(out, &time, shares))?,
        Format::Csv => output::print(|out| Ok(csv(out, &time, shares)?))?,
        Format::Md => output::print(|out| Ok(markdown(out, &time, shares)?))?,
    }
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
        let mut events = thread.events();
        for event in events.by_ref() {
            let event = event?;
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
        of_number.push(Seen { first, blocks });
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
        let mut off = 0;
        for stretch in switches.of(life.tid, from..life.to) {
            if stretch.from < from {
                continue;
            }
            let took = clipped(stretch.from, stretch.to).0;
            off += took;
            let within = stretch.from >= window.0 && stretch.from < window.1;
            time.kernel_switches += u64::from(within);
            let part = match (stretch.preempted, reason(&seen, stretch.from)) {
                (true, _) => &mut time.processor_ns,
                (false, Some(Reason::Locks)) => &mut time.locks_ns,
                (false, Some(Reason::Joining)) => &mut time.joining_ns,
                (false, Some(Reason::Io)) => &mut time.io_ns,
                (false, None) => &mut time.not_known_ns,
            };
            *part += took;
        }
        time.running_ns += lived.saturating_sub(off);
    }
    time.total_ns =
        time.running_ns + time.processor_ns + time.locks_ns + time.io_ns + time.not_known_ns;
    time.missing = missing(trace, &all.remarks, switches.lost, switches.until.is_none());
    Ok(time)
}

fn missing(trace: &Trace, remarks: &Remarks, lost: u64, killed: bool) -> Vec<String> {
    let dropped = trace.processes().iter().map(|it| it.dropped()).sum::<u64>() + remarks.dropped;
    let mut missing = Vec::new();
    if lost > 0 {
        missing.push(format!(
            "{} lost: what was not seen counts as running",
            notes::were(lost, "switch record")
        ));
    }
    if killed {
        missing.push("heddle record was killed: what threads did last counts as running".into());
    }
    if dropped > 0 {
        missing.push(format!(
            "{} dropped: more is blocked on what is not known",
            notes::were(dropped, "event")
        ));
    }
    missing
}

/// The parts with their times; none: not told apart from work.
fn parts(time: &ThreadTime) -> [Option<u64>; 7] {
    let allocation = time.allocation_ns.map(|ns| ns.min(time.running_ns));
    [
        Some(time.running_ns - allocation.unwrap_or(0)),
        Some(time.locks_ns),
        Some(time.processor_ns),
        Some(time.io_ns),
        None,
        allocation,
        Some(time.not_known_ns),
    ]
}

/// Names, times and shares in one order.
fn rows(
    time: &ThreadTime,
    shares: Option<Shares>,
) -> impl Iterator<Item = (&'static str, Option<u64>, Option<f64>)> {
    let shares = shares.map(|shares| shares.parts()).unwrap_or_default();
    let rows = Shares::NAMES.into_iter().zip(parts(time)).zip(shares);
    rows.map(|((name, time), share)| (name, time, share))
}

fn table(out: &mut dyn Write, time: &ThreadTime, shares: Option<Shares>) -> io::Result<()> {
    let of = match time.measured {
        true => "in the stretch that the program has marked as measured",
        false => "in the whole run",
    };
    writeln!(
        out,
        "{} of {} {of}, {}",
        Nanos(time.total_ns),
        notes::counted(time.threads, "thread"),
        notes::counted(time.kernel_switches, "kernel switch"),
    )?;
    for (name, part, share) in rows(time, shares) {
        let part = part.map_or_else(|| "–".to_owned(), |part| Nanos(part).to_string());
        writeln!(out, "  {name:<12}{part:>12}{:>5} %", percent(share))?;
    }
    if time.joining_ns > 0 {
        writeln!(
            out,
            "beside it, {} in waits for the end of other threads",
            Nanos(time.joining_ns)
        )?;
    }
    Ok(())
}

fn json(out: &mut dyn Write, time: &ThreadTime, shares: Option<Shares>) -> anyhow::Result<()> {
    let mut value = serde_json::to_value(time)?;
    value["shares"] = serde_json::to_value(shares)?;
    serde_json::to_writer_pretty(&mut *out, &value)?;
    writeln!(out)?;
    Ok(())
}

fn csv(out: &mut dyn Write, time: &ThreadTime, shares: Option<Shares>) -> io::Result<()> {
    writeln!(out, "part,total_ns,share")?;
    for (name, part, share) in rows(time, shares) {
        let part = part.map_or_else(String::new, |part| part.to_string());
        let share = share.map_or_else(String::new, |share| share.to_string());
        writeln!(out, "{name},{part},{share}")?;
    }
    Ok(())
}

fn markdown(out: &mut dyn Write, time: &ThreadTime, shares: Option<Shares>) -> io::Result<()> {
    writeln!(out, "| part | time | share, % |\n|---|--:|--:|")?;
    for (name, part, share) in rows(time, shares) {
        let part = part.map_or_else(|| "–".to_owned(), |part| Nanos(part).to_string());
        writeln!(out, "| {name} | {part} | {} |", percent(share))?;
    }
    Ok(())
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

    /// A thread that waits for a mutex, reads, is preempted, and is blocked on what nobody has
    /// seen; one of which the recorder has seen nothing; and one that waits for the end of others.
    fn trace(marks: bool) -> (tempfile::TempDir, Trace) {
        use SwitchKind::{Blocks, Ended, Preempted, Runs};
        let directory = tempfile::tempdir().unwrap();
        let writer = TraceWriter::create(directory.path()).unwrap();
        let mut process = writer.process(42, 1, "/bin/app").unwrap();
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
    fn without_marks_the_whole_run_is_looked_at() {
        let (_directory, trace) = trace(false);
        let time = read(&trace).unwrap();
        assert!(!time.measured);
        assert_eq!(time.running_ns, (1000 - 780) + (700 - 220) + (20 - 5));
    }
}

//! However many workers decode a trace, they tell the same, in the same order.

#![allow(clippy::unwrap_used)]

use heddle_calls::{Key, Stats, Wanted, Workers};
use heddle_strands::{Call, Kind, Plan, Sink, Strand, StrandId, StrandSpan, Summing};
use heddle_symbols::Images;
use heddle_trace_file::write::{ThreadWriter, TraceWriter};
use heddle_trace_file::{Addr, Callee, Event, Nanos, Trace, Why};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;

/// All that a sink is told.
#[derive(Clone, Debug, PartialEq)]
enum Told {
    Strand(&'static str, StrandId, Kind, Option<StrandId>, u64, u64),
    Runs(StrandId, Option<StrandId>, usize, Nanos),
    Rests(StrandId, usize, Nanos),
    Enter(StrandId, u32, usize, Addr, bool, usize, Nanos),
    Leave(StrandId, u32, usize, heddle_calls::Span),
    Unmatched(StrandId, usize, Callee, Nanos),
    Other(StrandId, usize, Nanos),
}

#[derive(Default)]
struct Log(Vec<Told>);

impl Log {
    fn strand(&mut self, what: &'static str, strand: &Strand) {
        let told = Told::Strand(
            what,
            strand.id,
            strand.kind,
            strand.parent,
            strand.calls,
            strand.running.0,
        );
        self.0.push(told);
    }
}

impl Sink for Log {
    fn born(&mut self, strand: &Strand) {
        self.strand("born", strand);
    }
    fn named(&mut self, strand: &Strand) {
        self.strand("named", strand);
    }
    fn ended(&mut self, strand: &Strand) {
        self.strand("ended", strand);
    }
    fn resumed(&mut self, strand: StrandId, by: Option<StrandId>, thread: usize, time: Nanos) {
        self.0.push(Told::Runs(strand, by, thread, time));
    }
    fn suspended(&mut self, strand: StrandId, thread: usize, time: Nanos) {
        self.0.push(Told::Rests(strand, thread, time));
    }
    fn enter(&mut self, call: &Call) {
        let (function, inlined, depth) = (call.function, call.inlined, call.depth);
        let (strand, slot, thread) = (call.strand, call.slot, call.thread);
        let told = Told::Enter(strand, slot, thread, function, inlined, depth, call.enter);
        self.0.push(told);
    }
    fn leave(&mut self, call: &StrandSpan) {
        self.0
            .push(Told::Leave(call.strand, call.slot, call.thread, call.span));
    }
    fn unmatched(&mut self, strand: StrandId, thread: usize, function: Callee, time: Nanos) {
        self.0.push(Told::Unmatched(strand, thread, function, time));
    }
    fn other(&mut self, strand: StrandId, thread: usize, event: &Event<'_>) {
        self.0.push(Told::Other(strand, thread, event.time));
    }
}

/// Counts calls by function.
#[derive(Default)]
struct Sums(BTreeMap<u64, u64>);

impl Sink for Sums {
    fn leave(&mut self, call: &StrandSpan) {
        *self.0.entry(call.span.function.0).or_default() += 1;
    }
}

impl Summing for Sums {
    fn called(&mut self, _: &Strand, functions: &[(Key, Stats)]) {
        for (key, stats) in functions {
            *self.0.entry(key.address.0).or_default() += stats.calls;
        }
    }
}

const CODE: u64 = 0x40_0000;
const OWN: u64 = 0x1_0000;
const FIBERS: u64 = 0x80_0000;

/// A thread that calls on its own stack and, now and then, on one of `fibers` others, not always as programs do.
fn write(thread: &mut ThreadWriter, seed: u64, fibers: u64, events: u64) {
    let mut dice = seed | 1;
    let mut roll = |sides: u64| {
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        (dice >> 11) % sides
    };
    let own = 0x10_0000 * seed;
    thread.stack(own, own + OWN);
    let base = |stack: u64| match stack {
        0 => own + OWN - 64,
        fiber => FIBERS + fiber * 0x2000,
    };
    let mut stacks: Vec<Vec<(u64, u64)>> = vec![Vec::new(); 1 + fibers as usize];
    let mut current = 0;
    for time in 0..events {
        let time = 3 * time + seed;
        let open = &mut stacks[current];
        let sp = open.last().map_or(base(current as u64), |&(_, sp)| sp);
        let outer = open.last().map_or(CODE + 0x9000, |&(function, _)| function);
        match roll(100) {
            0..45 if open.len() < 60 => {
                let (function, frame) = (CODE + roll(5) * 0x100, 0x20 + roll(2) * 0x10);
                thread.enter(time, function, outer + 0x20, sp - frame);
                open.push((function, sp - frame));
            }
            0..95 => {
                if let Some((function, sp)) = open.pop() {
                    thread.exit(time, function, 0, sp);
                }
            }
            95 => open.truncate(open.len() / 2),
            96 => _ = thread.gap(time, Why::Paused, None),
            97 => _ = thread.mark(time, 0, "here"),
            _ => current = roll(1 + fibers) as usize,
        }
        if roll(4_000) == 0 {
            thread.next_run();
        }
    }
}

/// Each with how many fibers it runs.
fn all_agree(threads: &[(u64, u64)]) {
    let directory = tempfile::tempdir().unwrap();
    let writer = TraceWriter::create(directory.path()).unwrap();
    let mut process = writer.process(1, 0, "/x").unwrap();
    for (index, &(fibers, events)) in threads.iter().enumerate() {
        let mut thread = process.thread(1 + index as u32, "x");
        write(&mut thread, 1 + index as u64, fibers, events);
        thread.finish().unwrap();
    }
    process.finish().unwrap();
    let trace = Trace::open(directory.path()).unwrap();
    let decode = |count: usize| {
        let workers = Workers::new(NonZeroUsize::new(count).unwrap());
        let plan = Plan::new(&trace, &mut Images::new()).with_workers(workers);
        let decoded = plan.decode(|_| Log::default()).unwrap();
        let sinks = decoded
            .sinks
            .into_iter()
            .map(|(process, log)| (process, log.0));
        let sinks: Vec<(usize, Vec<Told>)> = sinks.collect();
        (sinks, decoded.unresolved, decoded.loose, decoded.remarks)
    };
    let one = decode(1);
    let told: usize = one.0.iter().map(|(_, log)| log.len()).sum();
    let events: u64 = threads.iter().map(|(_, events)| events).sum();
    assert!(told as u64 > events / 2, "{told} of {events}");
    for count in [2, 3, 8] {
        // Not with assert_eq, which would print megabytes.
        let other = decode(count);
        assert!(other == one, "{count} workers tell otherwise than one");
    }
    // Whichever way a thread is read, each of its calls is counted once.
    let mut entered: BTreeMap<u64, u64> = BTreeMap::new();
    for told in one.0.iter().flat_map(|(_, log)| log) {
        if let Told::Enter(_, _, _, function, ..) = told {
            *entered.entry(function.0).or_default() += 1;
        }
    }
    for wanted in [Wanted::All, Wanted::OneStack, Wanted::OneStrand] {
        let found = Plan::sum(&trace, &mut Images::new(), wanted, |_| Sums::default()).unwrap();
        let mut counted: BTreeMap<u64, u64> = BTreeMap::new();
        for (function, calls) in found.sinks.iter().flat_map(|(_, sums)| &sums.0) {
            *counted.entry(*function).or_default() += calls;
        }
        assert_eq!(counted, entered, "{wanted:?}");
    }
    let streamed = Plan::by_thread(&trace).stream(|_| Log::default(), |_, _, _| true);
    let calls = |told: &&Told| matches!(told, Told::Enter(..));
    let streamed = streamed.unwrap().sinks.into_iter().map(|(_, log)| log.0);
    let streamed: usize = streamed.map(|log| log.iter().filter(calls).count()).sum();
    assert_eq!(streamed as u64, entered.values().sum::<u64>());
}

#[test]
fn of_one_thread() {
    all_agree(&[(0, 100_000)]);
}

#[test]
fn of_a_thread_with_fibers() {
    all_agree(&[(20, 100_000)]);
}

#[test]
fn of_threads_that_share_fibers_beside_others() {
    all_agree(&[(5, 60_000), (5, 60_000), (0, 80_000), (0, 300), (0, 1)]);
}

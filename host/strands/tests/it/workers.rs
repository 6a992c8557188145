//! However many workers decode a trace, they tell the same, in the same order.

use crate::leaves::{Ends, ends};
use crate::log::{Log, Told};
use heddle_calls::{Wanted, Workers};
use heddle_strands::Analysis;
use heddle_symbols::Images;
use heddle_trace_file::write::{ThreadWriter, TraceWriter};
use heddle_trace_file::{Trace, Why};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;

const CODE: u64 = 0x40_0000;
const OWN: u64 = 0x1_0000;
const FIBERS: u64 = 0x80_0000;

/// A thread that calls on its own stack and, now and then, on one of `fibers` others, not always as
/// programs do.
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
        let analysis = Analysis::new(&trace, &mut Images::new()).with_workers(workers);
        let decoded = analysis.decode(|_| Log::default()).unwrap();
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
    // Whoever wants no single calls is told the same of strands.
    for count in [1, 2] {
        let workers = Workers::new(NonZeroUsize::new(count).unwrap());
        let analysis = Analysis::new(&trace, &mut Images::new()).with_workers(workers);
        let few = analysis.decode(|_| Ends::default()).unwrap();
        assert_eq!((few.unresolved, few.loose), (one.1.clone(), one.2));
        for ((_, few), (_, all)) in few.sinks.iter().zip(&one.0) {
            assert!(ends(&few.0.0) == ends(all), "{count} workers");
        }
    }
    // Whichever way a thread is read, each of its calls is counted once.
    let mut entered: BTreeMap<u64, u64> = BTreeMap::new();
    for told in one.0.iter().flat_map(|(_, log)| log) {
        if let Told::Enter(_, _, _, function, ..) = told {
            *entered.entry(function.0).or_default() += 1;
        }
    }
    for wanted in [Wanted::All, Wanted::OneStack, Wanted::OneStrand] {
        let log = |_| Log::default();
        let found = Analysis::sum(&trace, &mut Images::new(), wanted, &[], log, None);
        let (found, _) = found.unwrap();
        let mut counted: BTreeMap<u64, u64> = BTreeMap::new();
        for told in found.sinks.iter().flat_map(|(_, log)| &log.0) {
            match told {
                Told::Leave(.., span) => *counted.entry(span.function.0).or_default() += 1,
                Told::Called(key, calls) => *counted.entry(key.address.0).or_default() += calls,
                _ => {}
            }
        }
        assert_eq!(counted, entered, "{wanted:?}");
    }
    let streamed =
        Analysis::by_thread(&trace, &mut Images::new()).stream(|_| Log::default(), |_, _, _| true);
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

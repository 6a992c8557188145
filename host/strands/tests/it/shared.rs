//! Fibers that share a stack: what is suspended is copied elsewhere, and back.

use crate::log::{Log, Told};
use crate::marks::decoded;
use heddle_strands::{Analysis, Kind, StrandId};
use heddle_symbols::Images;
use heddle_trace_file::Trace;
use heddle_trace_file::Way;
use heddle_trace_file::write::{ThreadWriter, TraceWriter};
use std::collections::HashSet;

const CODE: u64 = 0x40_0000;
const BODY: u64 = CODE;
const WAIT: u64 = CODE + 0x100;
const LIBRARY: u64 = 0x7f00_8000_0000;
const BASE: u64 = 0x6000_1f80;
/// Where fibers run that share nothing.
const OTHER: u64 = 0x6100_1f80;

#[test]
fn fibers_that_share_a_stack_are_not_sure() {
    let directory = tempfile::tempdir().unwrap();
    let writer = TraceWriter::create(directory.path()).unwrap();
    let mut process = writer.process(4711, 1, "/nowhere/app").unwrap();
    process.module(CODE, CODE + 0x1000, CODE, None, "/nowhere/app");
    process.module(LIBRARY, LIBRARY + 0x1000, LIBRARY, None, "[library]");
    let mut thread = process.thread(4711, "app");
    thread.stack(0x7fff_0000, 0x7fff_8000);
    let mut time = 0;
    let mut next = || {
        time += 10;
        time
    };
    for _ in 0..10 {
        // Two are suspended in turn, and go on in turn; then one runs alone.
        for _ in 0..2 {
            thread.enter(next(), BODY, LIBRARY + 0x20, BASE).enter(
                next(),
                WAIT,
                BODY + 0x20,
                BASE - 0x80,
            );
        }
        for _ in 0..2 {
            thread
                .exit(next(), WAIT, 0, BASE - 0x80)
                .exit(next(), BODY, 0, BASE);
        }
        thread
            .enter(next(), BODY, LIBRARY + 0x20, OTHER)
            .exit(next(), BODY, 0, OTHER);
    }
    thread.finish().unwrap();
    process.finish().unwrap();
    let trace = Trace::open(directory.path()).unwrap();
    let analysis = Analysis::new(&trace, &mut Images::packed(&[]));
    let decoded = analysis.decode(|_| Log::default()).unwrap();
    let (mut fibers, mut unsure) = (HashSet::new(), HashSet::new());
    let mut alone: HashSet<StrandId> = HashSet::new();
    for told in decoded.sinks.iter().flat_map(|(_, log)| &log.0) {
        match told {
            Told::Strand("born", strand, Kind::Fiber, ..) => _ = fibers.insert(*strand),
            Told::Strand("ended", strand, Kind::Fiber, _, 1, _) => _ = alone.insert(*strand),
            Told::Unsure(strand) => _ = unsure.insert(*strand),
            _ => {}
        }
    }
    assert_eq!(alone.len(), 10);
    assert!(alone.is_disjoint(&unsure), "those share nothing");
    assert!(fibers.len() >= 20, "{} fibers", fibers.len());
    let all_others: HashSet<StrandId> = fibers.difference(&alone).copied().collect();
    assert_eq!(unsure, all_others);
}

/// One way of compiling, by which a thread's calls are written.
struct Compiled<'a> {
    thread: &'a mut ThreadWriter,
    way: Way,
    time: u64,
}

impl Compiled<'_> {
    fn enter(&mut self, function: u64, caller: u64, sp: u64) {
        self.time += 10;
        match self.way {
            Way::Instrumented => self.thread.enter(self.time, function, caller, sp),
            Way::Entry => self.thread.entry(self.time, function, caller, sp),
        };
    }

    fn exit(&mut self, function: u64, sp: u64) {
        self.time += 10;
        match self.way {
            Way::Instrumented => self.thread.exit(self.time, function, 0, sp),
            Way::Entry => self.thread.leave(self.time, sp),
        };
    }

    /// Fibers run by turns on one stack, which is copied: each a body of its own of `bodies`, and
    /// a function that this calls from one place and in which it is suspended.
    fn run_by_turns(&mut self, bodies: &[u64]) {
        const TURNS: usize = 4;
        for turn in 0..=TURNS {
            for body in bodies {
                let work = body + 0x100;
                match turn {
                    0 => self.enter(*body, LIBRARY + 0x20, BASE),
                    _ => self.exit(work, BASE - 0x80),
                }
                match turn < TURNS {
                    true => self.enter(work, body + 0x20, BASE - 0x80),
                    false => self.exit(*body, BASE),
                }
            }
        }
    }
}

/// The fibers that are sure, each with its calls, where a thread runs on.
fn sure_fibers(way: Way, run: impl Fn(&mut Compiled)) -> Vec<u64> {
    let decoded = decoded(|process| {
        process.module(LIBRARY, LIBRARY + 0x1000, LIBRARY, None, "[library]");
        let mut thread = process.thread(4711, "app");
        thread.stack(0x7fff_0000, 0x7fff_8000);
        let (thread, time) = (&mut thread, 0);
        run(&mut Compiled { thread, way, time });
        thread.finish().unwrap();
    });
    let log: Vec<&Told> = decoded.sinks.iter().flat_map(|(_, log)| &log.0).collect();
    let fibers = log.iter().filter_map(|told| match told {
        Told::Strand("ended", strand, Kind::Fiber, _, calls, _) => Some((*strand, *calls)),
        _ => None,
    });
    let is_sure = |strand: StrandId| !log.contains(&&Told::Unsure(strand));
    let sure = fibers.filter(|&(strand, _)| is_sure(strand));
    sure.map(|(_, calls)| calls).collect()
}

#[test]
fn a_fiber_that_goes_on_after_another_began_in_its_place_is_not_sure() {
    let bodies = [0, 0x200, 0x400].map(|at| CODE + at);
    for way in [Way::Instrumented, Way::Entry] {
        // The fibers run one function, two, or three; the last four run two, in pairs.
        let same = [BODY; 3];
        let pairs = [bodies[0], bodies[0], bodies[1], bodies[1]];
        for run in [&same[..2], &same, &bodies[..2], &bodies, &pairs] {
            let sure = sure_fibers(way, |compiled| compiled.run_by_turns(run));
            assert!(sure.is_empty(), "{way:?} {run:x?}: {sure:?}");
        }
    }
}

#[test]
fn fibers_that_were_destroyed_where_others_began_are_sure() {
    for way in [Way::Instrumented, Way::Entry] {
        let sure = sure_fibers(way, |compiled| {
            for _ in 0..5 {
                for body in [CODE, CODE + 0x200] {
                    compiled.enter(body, LIBRARY + 0x20, BASE);
                    compiled.enter(body + 0x100, body + 0x20, BASE - 0x80);
                }
            }
        });
        assert_eq!(sure, [2; 10], "{way:?}");
    }
}

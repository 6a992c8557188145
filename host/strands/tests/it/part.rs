//! Recordings that begin in the middle of fibers' calls.

use crate::log::{Log, Told};
use heddle_strands::{Analysis, Kind, StrandId};
use heddle_symbols::Images;
use heddle_trace_file::write::{ThreadWriter, TraceWriter};
use heddle_trace_file::{ModuleSymbols, Trace};
use std::collections::HashSet;
use std::path::Path;

const CODE: u64 = 0x40_0000;
const BODY: u64 = CODE;
const WORK: u64 = CODE + 0x100;
/// The function that is not traced, and makes each fiber's outermost call.
const FIRST: u64 = CODE + 0x200;
const STACKS: [u64; 2] = [0x6000_1f80, 0x6000_9f80];
const FIBERS: usize = 40;

/// A recording, a part of what the program did, of one thread that does this.
fn written(path: &Path, events: impl FnOnce(&mut ThreadWriter)) -> Trace {
    let writer = TraceWriter::create(path).unwrap();
    let mut process = writer.process(4711, 1, "/nowhere/app").unwrap();
    process.mode(1 << 20, 0);
    process.module(CODE, CODE + 0x1000, CODE, None, "/nowhere/app");
    let mut thread = process.thread(4711, "app");
    thread.stack(0x7fff_0000, 0x7fff_8000);
    events(&mut thread);
    thread.finish().unwrap();
    process.finish().unwrap();
    Trace::open(path).unwrap()
}

/// Fibers run one after another on two stacks. Where recording begins, one is in the middle of its
/// calls on each, and no other stack is ever used.
fn on_stacks_in_use(thread: &mut ThreadWriter) {
    let mut time = 0;
    let mut next = || {
        time += 10;
        time
    };
    for base in STACKS {
        thread
            .enter(next(), WORK, BODY + 0x20, base - 0x80)
            .exit(next(), WORK, 0, base - 0x80);
    }
    for base in STACKS {
        thread.exit(next(), BODY, 0, base);
    }
    for fiber in 0..FIBERS {
        let base = STACKS[fiber % 2];
        thread
            .enter(next(), BODY, FIRST + 0x20, base)
            .enter(next(), WORK, BODY + 0x20, base - 0x80)
            .exit(next(), WORK, 0, base - 0x80)
            .exit(next(), BODY, 0, base);
    }
}

/// Fibers whose function, which is not traced, calls `work` and then `body`. One rests in `work`,
/// and those on the stack below it, of which recording has seen only `body`, look as if that were
/// called back from there.
fn below_a_resting_one(thread: &mut ThreadWriter) {
    const LAST: u64 = FIRST + 0x30;
    let [lower, upper] = STACKS;
    let mut time = 0;
    let mut call = |function: u64, site: u64, sp: u64, ends: bool| {
        time += 10;
        thread.enter(time, function, site, sp);
        if ends {
            thread.exit(time + 5, function, 0, sp);
        }
    };
    let elsewhere = upper + 0x100_0000;
    call(WORK, FIRST + 0x20, lower, true);
    call(WORK, FIRST + 0x20, elsewhere, false);
    call(WORK, FIRST + 0x20, upper, false);
    call(BODY, LAST, elsewhere + 0x40, true);
    for _ in 0..4 {
        call(BODY, WORK + 0x20, upper - 0x80, true);
        call(BODY, LAST, lower, true);
    }
    call(WORK, FIRST + 0x20, lower, true);
    call(BODY, LAST, lower, true);
}

fn symbols() -> ModuleSymbols {
    symbols_with("")
}

/// With these facts of the code.
fn symbols_with(facts: &str) -> ModuleSymbols {
    let text = "symtab 1\n0 100 local body\n100 100 local work\n200 100 local first\n";
    ModuleSymbols {
        path: "/nowhere/app".into(),
        build_id: None,
        text: format!("{text}{facts}"),
    }
}

#[test]
fn fibers_on_stacks_that_were_in_use_are_told_apart() {
    let directory = tempfile::tempdir().unwrap();
    let trace = written(directory.path(), on_stacks_in_use);
    let analysis = Analysis::new(&trace, &mut Images::packed(&[symbols()]));
    let decoded = analysis.decode(|_| Log::default()).unwrap();
    let (mut fibers, mut unsure) = (HashSet::new(), HashSet::new());
    let mut bodies: Vec<StrandId> = Vec::new();
    for told in decoded.sinks.iter().flat_map(|(_, log)| &log.0) {
        match told {
            Told::Strand("born", strand, Kind::Fiber, ..) => _ = fibers.insert(*strand),
            Told::Unsure(strand) => _ = unsure.insert(*strand),
            Told::Enter(strand, _, _, function, ..) if function.0 == BODY => bodies.push(*strand),
            _ => {}
        }
    }
    let distinct: HashSet<StrandId> = bodies.iter().copied().collect();
    assert_eq!((bodies.len(), distinct.len()), (FIBERS, FIBERS));
    assert!(
        distinct.is_disjoint(&unsure),
        "each was seen from its beginning"
    );
    assert_eq!(fibers.len(), FIBERS + STACKS.len());
    assert_eq!(unsure.len(), STACKS.len(), "those were in the middle");
    let unresolved = decoded.unresolved[0];
    assert_eq!((unresolved.unsure, unresolved.unsure_calls), (2, 2));
    assert_eq!(unresolved.calls, 2 + 2 * FIBERS as u64);
}

#[test]
fn a_fiber_goes_on_where_its_last_call_has_just_ended() {
    let directory = tempfile::tempdir().unwrap();
    let trace = written(directory.path(), below_a_resting_one);
    let analysis = Analysis::new(&trace, &mut Images::packed(&[symbols()]));
    let decoded = analysis.decode(|_| Log::default()).unwrap();
    let told = decoded.sinks.iter().flat_map(|(_, log)| &log.0);
    let calls: Vec<(u64, StrandId)> = told
        .filter_map(|told| match told {
            Told::Enter(strand, _, _, function, ..) => Some((function.0, *strand)),
            _ => None,
        })
        .collect();
    let resting = calls.iter().find(|(function, _)| *function == WORK);
    let (Some((_, resting)), Some((BODY, last))) = (resting, calls.last()) else {
        panic!("{calls:?}");
    };
    assert_ne!(resting, last, "{calls:?}");
}

#[test]
fn calls_of_a_function_that_has_hooks_and_was_never_entered_are_one_fibers() {
    const MANY: u64 = 8;
    let directory = tempfile::tempdir().unwrap();
    let trace = written(directory.path(), |thread| {
        for turn in 1..40 {
            let sp = STACKS[0] + turn % MANY * 0x8000;
            thread
                .enter(10 * turn, WORK, BODY + 0x20, sp)
                .exit(10 * turn + 5, WORK, 0, sp);
        }
    });
    let told = |facts: &str| {
        let analysis = Analysis::new(&trace, &mut Images::packed(&[symbols_with(facts)]));
        let decoded = analysis.decode(|_| Log::default()).unwrap();
        let told = decoded.sinks.iter().flat_map(|(_, log)| &log.0);
        let told: Vec<&Told> = told.collect();
        let is_fiber = |told: &&&Told| matches!(told, Told::Strand("born", _, Kind::Fiber, ..));
        let is_unsure = |told: &&&Told| matches!(told, Told::Unsure(_));
        let count = |is: &dyn Fn(&&&Told) -> bool| told.iter().filter(is).count() as u64;
        (count(&is_fiber), count(&is_unsure))
    };
    assert_eq!(told("8 0 enter-call 0\n"), (MANY, MANY));
    // Each may be a fiber's outermost call where it has none.
    assert!(told("").0 > MANY);
}

/// Fibers whose `body` a library calls back. While one of them rests in it, another runs, below,
/// that is in the middle of a call where recording begins, and is called back as well; that call
/// `ends` or not.
fn called_back_below(thread: &mut ThreadWriter, ends: bool) {
    const LIBRARY: u64 = 0x7f00_0000_0000;
    let mut time = 0;
    let mut next = || {
        time += 10;
        time
    };
    for fiber in (0..FIBERS as u64).rev() {
        let base = STACKS[1] + fiber * 0x2_0000;
        thread
            .enter(next(), BODY, FIRST + 0x20, base)
            .enter(next(), WORK, LIBRARY, base - 0x1100)
            .exit(next(), WORK, 0, base - 0x1100);
    }
    let (last, below) = (STACKS[1], STACKS[1] - 0x1000);
    thread
        .enter(next(), WORK, LIBRARY, below - 0x100)
        .exit(next(), WORK, 0, below - 0x100);
    if ends {
        thread.exit(next(), WORK, 0, below);
    }
    thread.exit(next(), BODY, 0, last);
}

#[test]
fn a_fiber_below_whose_calls_another_ends_one_may_have_some_of_that() {
    let unsure = |ends: bool| {
        let directory = tempfile::tempdir().unwrap();
        let trace = written(directory.path(), |thread| called_back_below(thread, ends));
        let analysis = Analysis::new(&trace, &mut Images::packed(&[symbols()]));
        let decoded = analysis.decode(|_| Log::default()).unwrap();
        decoded.unresolved[0].unsure
    };
    assert_eq!(unsure(true), unsure(false) + 1);
}

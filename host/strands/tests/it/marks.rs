//! Marks have no stack pointer: on which strand one is, the calls of its thread tell.

use crate::log::{Log, Told};
use heddle_strands::{Analysis, Decoded, StrandId};
use heddle_symbols::Images;
use heddle_trace_file::write::{ProcessWriter, TraceWriter};
use heddle_trace_file::{ModuleSymbols, Nanos, Trace, Why};

const CODE: u64 = 0x40_0000;
const BODY: u64 = CODE;
const WORK: u64 = CODE + 0x100;
/// The function that is not traced, and makes each fiber's outermost call.
const FIRST: u64 = CODE + 0x200;
/// Where the outermost call of the fibers is that both threads are seen on.
const SHARED: u64 = 0x6000_1f80;
/// Where those of fibers are that begin and end on one thread.
const OTHERS: u64 = 0x6100_0f80;
const OWN: [u64; 2] = [0x7fff_0000, 0x7ffe_0000];
/// When the first thread marks.
const MARK: u64 = 5000;

/// Decodes what is written of a program with these functions, by strand.
pub fn decoded(write: impl FnOnce(&mut ProcessWriter)) -> Decoded<Log> {
    decoded_by(false, "", write)
}

/// The same by thread, or by strand, with more facts of the program.
pub fn decoded_by(
    by_thread: bool,
    facts: &str,
    write: impl FnOnce(&mut ProcessWriter),
) -> Decoded<Log> {
    let directory = tempfile::tempdir().unwrap();
    let writer = TraceWriter::create(directory.path()).unwrap();
    let mut process = writer.process(4711, 1, "/nowhere/app").unwrap();
    process.module(CODE, CODE + 0x1000, CODE, None, "/nowhere/app");
    write(&mut process);
    process.finish().unwrap();
    let symbols = ModuleSymbols {
        path: "/nowhere/app".into(),
        build_id: None,
        text: format!(
            "symtab 1\n0 100 local body\n100 100 local work\n200 100 local first\n\
               300 100 local leaf\n400 100 local inner\n\
               250 0 handler-return -\n{facts}"
        ),
    };
    let trace = Trace::open(directory.path()).unwrap();
    let mut images = Images::packed(&[symbols]);
    let decoded = match by_thread {
        true => {
            let analysis = Analysis::by_thread(&trace, &mut images);
            analysis.stream(|_| Log::default(), |_, _, _| true)
        }
        false => Analysis::new(&trace, &mut images).decode(|_| Log::default()),
    };
    decoded.unwrap()
}

/// The strand of the mark, those that are not sure, and how many of these are threads.
fn placed(decoded: &Decoded<Log>) -> (StrandId, Vec<StrandId>, u64) {
    let log = decoded.sinks.iter().flat_map(|(_, log)| &log.0);
    let (mut mark, mut unsure) = (None, Vec::new());
    for told in log {
        match told {
            Told::Other(strand, _, Nanos(MARK)) => mark = Some(*strand),
            Told::Unsure(strand) => unsure.push(*strand),
            _ => {}
        }
    }
    (mark.unwrap(), unsure, decoded.unresolved[0].unsure_threads)
}

/// The strand that the call which is entered at this time is on.
pub fn strand_of(decoded: &Decoded<Log>, entered: u64) -> StrandId {
    let mut log = decoded.sinks.iter().flat_map(|(_, log)| &log.0);
    let found = log.find_map(|told| match told {
        Told::Enter(strand, .., time) if time.0 == entered => Some(*strand),
        _ => None,
    });
    found.unwrap()
}

/// The first thread enters a fiber, the second is found on the same stack, with a call of
/// `function` from `caller` at `sp`, and then the first marks. `part`: calls are missing.
fn two_threads(part: bool, (function, caller, sp): (u64, u64, u64)) -> Decoded<Log> {
    decoded(|process| {
        let mut first = process.thread(4711, "first");
        first.stack(OWN[0], OWN[0] + 0x8000);
        if part {
            first.gap(100, Why::Paused, None);
        }
        for time in (1000..3000).step_by(100) {
            let base = OTHERS + 0x1000 * (time / 100);
            first
                .enter(time, BODY, FIRST + 0x20, base)
                .enter(time + 10, WORK, BODY + 0x20, base - 0x80)
                .exit(time + 20, WORK, 0, base - 0x80)
                .exit(time + 30, BODY, 0, base);
        }
        first.enter(3000, BODY, FIRST + 0x20, SHARED);
        first.mark(MARK, 0, "here");
        first.finish().unwrap();
        let mut second = process.thread(4712, "second");
        second.stack(OWN[1], OWN[1] + 0x8000);
        second.enter(4000, function, caller, sp);
        second.finish().unwrap();
    })
}

const CALLED_BY_BODY: (u64, u64, u64) = (WORK, BODY + 0x20, SHARED - 0x80);
const BEGINS_ANEW: (u64, u64, u64) = (BODY, FIRST + 0x20, SHARED);

#[test]
fn a_thread_has_left_its_fiber_where_another_thread_runs_it() {
    for found in [CALLED_BY_BODY, BEGINS_ANEW] {
        let decoded = two_threads(false, found);
        let (mark, unsure, threads) = placed(&decoded);
        assert_eq!(mark, StrandId::of_thread(0, 0));
        assert!(!unsure.contains(&mark), "all calls were recorded");
        assert_eq!(threads, 0);
    }
}

#[test]
fn what_a_thread_marks_whose_fiber_another_thread_runs_is_doubted_where_calls_are_missing() {
    let decoded = two_threads(true, CALLED_BY_BODY);
    let (mark, unsure, threads) = placed(&decoded);
    assert_eq!(mark, strand_of(&decoded, 3000));
    assert!(unsure.contains(&mark));
    assert_eq!(threads, 0, "both may be sure");
}

#[test]
fn a_thread_is_doubted_that_marks_where_its_fiber_is_gone_and_calls_are_missing() {
    let decoded = two_threads(true, BEGINS_ANEW);
    let (mark, unsure, threads) = placed(&decoded);
    assert_eq!(mark, StrandId::of_thread(0, 0));
    assert!(unsure.contains(&mark));
    assert_eq!(threads, 1, "not the other");
}

#[test]
fn a_mark_is_not_the_threads_where_its_recording_begins_on_another_stack() {
    let begins = |sp: u64| {
        decoded(|process| {
            process.mode(1 << 20, 0);
            let mut thread = process.thread(4711, "app");
            thread.stack(OWN[0], OWN[0] + 0x8000);
            thread
                .enter(100, BODY, FIRST + 0x20, sp)
                .next_run()
                .overwrite()
                .mark(MARK, 0, "here")
                .exit(MARK + 10, BODY, 0, sp);
            thread.finish().unwrap();
        })
    };
    let (mark, unsure, threads) = placed(&begins(SHARED));
    assert_ne!(mark, StrandId::of_thread(0, 0));
    assert_eq!((unsure, threads), (vec![mark], 0));
    let (mark, unsure, threads) = placed(&begins(OWN[0] + 0x7000));
    assert_eq!(mark, StrandId::of_thread(0, 0));
    assert_eq!((unsure, threads), (vec![], 0));
}

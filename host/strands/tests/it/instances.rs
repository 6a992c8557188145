//! Instances of coroutines whose frames come from elsewhere than what was seen to be allocated.

use crate::log::{Log, Told};
use heddle_strands::{Analysis, Decoded, Kind, StrandId};
use heddle_symbols::Images;
use heddle_trace_file::write::{ThreadWriter, TraceWriter};
use heddle_trace_file::{ModuleSymbols, Trace, Why};
use std::path::Path;

const CODE: u64 = 0x40_0000;
const MAIN: u64 = CODE;
const RAMP: u64 = CODE + 0x100;
const BODY: u64 = CODE + 0x200;
const LEAF: u64 = CODE + 0x300;
const OWN: u64 = 0x7fff_7000;
const MEMORY: u64 = 0x6000_0010;

/// What the thread does within a call of `main`, by the second way in, which tells no resume index
/// without debug information.
fn written(path: &Path, does: impl FnOnce(&mut ThreadWriter, &mut dyn FnMut() -> u64)) -> Trace {
    let writer = TraceWriter::create(path).unwrap();
    let mut process = writer.process(4711, 1, "/nowhere/app").unwrap();
    process.module(CODE, CODE + 0x1000, CODE, None, "/nowhere/app");
    let mut thread = process.thread(4711, "app");
    thread.stack(0x7fff_0000, 0x7fff_8000);
    let mut time = 0;
    let mut next = || {
        time += 10;
        time
    };
    thread.entry(next(), MAIN + 4, CODE + 0x900, OWN);
    does(&mut thread, &mut next);
    thread.leave(next(), OWN);
    thread.finish().unwrap();
    process.finish().unwrap();
    Trace::open(path).unwrap()
}

/// Runs a coroutine's body with this frame, called from `caller` at `sp`.
fn run(thread: &mut ThreadWriter, next: &mut dyn FnMut() -> u64, frame: u64, from: (u64, u64)) {
    let (caller, sp) = from;
    thread
        .capture(BODY + 4, frame, None)
        .entry(next(), BODY + 4, caller, sp)
        .leave(next(), sp);
}

const SYMBOLS: &str = "symtab 1\n0 100 local main\n100 100 local _Z4workv\n\
                       200 100 local _Z4workPZ4workvE14_Z4workv.Frame.actor\n\
                       300 100 local leaf\n204 0 enter-call 200\n";

fn decoded(trace: &Trace, text: &str) -> Decoded<Log> {
    let symbols = ModuleSymbols {
        path: "/nowhere/app".into(),
        build_id: None,
        text: text.into(),
    };
    let analysis = Analysis::new(trace, &mut Images::packed(&[symbols]));
    analysis.decode(|_| Log::default()).unwrap()
}

/// A coroutine, as its number, its maker's, the number of its calls, and whether it is sure.
type Instance = (u64, Option<u64>, u64, bool);

fn instances(trace: &Trace) -> Vec<Instance> {
    instances_by(trace, SYMBOLS)
}

/// The instances, as far as these symbols tell.
fn instances_by(trace: &Trace, text: &str) -> Vec<Instance> {
    let told = decoded(trace, text).sinks.into_iter();
    let told: Vec<Told> = told.flat_map(|(_, log)| log.0).collect();
    let ended = told.iter().filter_map(|ended| match ended {
        Told::Strand("ended", id, Kind::Coroutine, maker, calls, _) => {
            let sure = !told.contains(&Told::Unsure(*id));
            let maker = maker.map(|maker| maker.number());
            Some((id.number(), maker, *calls, sure))
        }
        _ => None,
    });
    let mut ended: Vec<Instance> = ended.collect();
    ended.sort_unstable();
    ended
}

/// The place of a call by `main`, and of one by a function that `main` calls.
const BY_MAIN: (u64, u64) = (MAIN + 0x20, OWN - 0x40);
const BY_RAMP: (u64, u64) = (RAMP + 0x20, OWN - 0x80);

#[test]
fn memory_that_is_older_than_its_ramp_was_another_thing() {
    let directory = tempfile::tempdir().unwrap();
    let trace = written(directory.path(), |thread, next| {
        let body = OWN - 0x80;
        thread
            .entry(next(), RAMP + 4, BY_MAIN.0, BY_MAIN.1)
            .frame_made(next(), MEMORY, BY_MAIN.1 - 0x20)
            .capture(BODY + 4, MEMORY, None)
            .entry(next(), BODY + 4, BY_RAMP.0, body)
            // The first one allocates what no frame is.
            .frame_made(next(), MEMORY + 0x100, body - 0x20)
            .leave(next(), body)
            .leave(next(), BY_MAIN.1);
        // Nothing tells of the memory of the second one.
        thread.entry(next(), RAMP + 4, BY_MAIN.0, BY_MAIN.1);
        run(thread, next, MEMORY + 0x100, BY_RAMP);
        thread.leave(next(), BY_MAIN.1);
    });
    let by_main = [(2, Some(1), 1, true), (3, Some(1), 1, true)];
    assert_eq!(instances(&trace), by_main);
}

#[test]
fn a_frame_may_lie_behind_what_its_operator_new_keeps_in_front() {
    let directory = tempfile::tempdir().unwrap();
    let trace = written(directory.path(), |thread, next| {
        for _ in 0..4 {
            thread
                .entry(next(), RAMP + 4, BY_MAIN.0, BY_MAIN.1)
                .frame_made(next(), MEMORY, BY_MAIN.1 - 0x20);
            run(thread, next, MEMORY + 16, BY_RAMP);
            thread.leave(next(), BY_MAIN.1);
        }
    });
    let all: Vec<Instance> = (2..6).map(|number| (number, Some(1), 1, true)).collect();
    assert_eq!(instances(&trace), all);
}

/// So many calls of the ramp, before the body runs four times with one frame.
fn at_one_place(ramps: u64, index: Option<u16>) -> Vec<Instance> {
    let directory = tempfile::tempdir().unwrap();
    let trace = written(directory.path(), |thread, next| {
        for _ in 0..ramps {
            thread
                .entry(next(), RAMP + 4, BY_MAIN.0, BY_MAIN.1)
                .leave(next(), BY_MAIN.1);
        }
        for _ in 0..4 {
            thread
                .capture(BODY + 4, MEMORY, index)
                .entry(next(), BODY + 4, BY_MAIN.0 + 0x20, BY_MAIN.1)
                .leave(next(), BY_MAIN.1);
        }
    });
    instances(&trace)
}

#[test]
fn an_instance_that_may_be_several_is_not_sure() {
    let without_calls = |number| (number, Some(1), 0, true);
    let mut all = vec![(2, Some(1), 4, false)];
    all.extend((3..6).map(without_calls));
    assert_eq!(at_one_place(4, None), all);
    assert_eq!(at_one_place(1, None), [(2, Some(1), 4, true)]);
    // The ramp is inlined, and the program has memory of its own for frames.
    assert_eq!(at_one_place(0, None), [(2, None, 4, false)]);
    assert_eq!(at_one_place(0, Some(4)), [(2, None, 4, true)]);
    // The index tells that it was the same one that went on.
    all[0].3 = true;
    assert_eq!(at_one_place(4, Some(4)), all);
}

/// Clang lays frames into those of callers, and inlines the ramp there: nothing tells whether a
/// loop in the caller makes one after another at one place.
#[test]
fn an_instance_of_clang_s_that_may_be_several_is_not_sure() {
    let clang = SYMBOLS.replace("_Z4workPZ4workvE14_Z4workv.Frame.actor", "_Z4workv.resume");
    for (symbols, runs, ramp, sure) in [
        (&*clang, 1, false, true),
        (&clang, 2, false, false),
        (&clang, 2, true, true),
        (SYMBOLS, 1, false, true),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let trace = written(directory.path(), |thread, next| {
            if ramp {
                thread.entry(next(), RAMP + 4, BY_MAIN.0, BY_MAIN.1);
                run(thread, next, MEMORY, BY_RAMP);
                thread.leave(next(), BY_MAIN.1);
            }
            for _ in u64::from(ramp)..runs {
                run(thread, next, MEMORY, BY_MAIN);
            }
        });
        let expected = [(2, ramp.then_some(1), runs, sure)];
        assert_eq!(instances_by(&trace, symbols), expected, "{runs} {ramp}");
    }
}

/// Who is known to have run each coroutine first, that of the lowest number first.
fn first_run_by(trace: &Trace, facts: &str) -> Vec<Option<u64>> {
    let told = decoded(trace, &format!("{SYMBOLS}{facts}")).sinks;
    let told = told.iter().flat_map(|(_, log)| &log.0);
    let mut by: Vec<(u64, Option<u64>)> = told
        .filter_map(|told| match told {
            Told::RunBy(id, by) => Some((id.number(), by.map(StrandId::number))),
            _ => None,
        })
        .collect();
    by.sort_unstable();
    by.into_iter().map(|(_, by)| by).collect()
}

/// The one that runs in the place of another may have been called by that, if it hands over.
#[test]
fn who_ran_an_instance_again_has_not_run_it_first() {
    let directory = tempfile::tempdir().unwrap();
    let trace = written(directory.path(), |thread, next| {
        run(thread, next, MEMORY, BY_MAIN);
        run(thread, next, MEMORY + 0x100, BY_MAIN);
        run(thread, next, MEMORY + 0x100, BY_RAMP);
    });
    assert_eq!(first_run_by(&trace, ""), [Some(1), Some(1)]);
    assert_eq!(first_run_by(&trace, "210 0 jump ?\n"), [Some(1), None]);
}

/// A ramp makes an instance and runs it up to where that makes memory its own. Then its body is
/// entered for the first time, twice.
#[test]
fn an_instance_that_has_begun_is_not_the_one_that_begins_in_its_place() {
    let directory = tempfile::tempdir().unwrap();
    let trace = written(directory.path(), |thread, next| {
        let (site, sp) = BY_MAIN;
        thread
            .entry(next(), RAMP + 4, site, sp)
            .frame_made(next(), MEMORY, sp - 0x20)
            .frame_made(next(), MEMORY + 0x100, sp - 0x20)
            .leave(next(), sp);
        for _ in 0..2 {
            thread
                .capture(BODY + 4, MEMORY, Some(0))
                .entry(next(), BODY + 4, site + 0x20, sp)
                .leave(next(), sp);
        }
    });
    let all = [(2, Some(1), 1, true), (3, Some(1), 1, true)];
    assert_eq!(instances(&trace), all);
}

#[test]
fn what_may_be_no_instance_for_want_of_symbols_is_not_sure() {
    let directory = tempfile::tempdir().unwrap();
    let trace = written(directory.path(), |thread, next| {
        thread.frame_made(next(), MEMORY, BY_MAIN.1 - 0x20);
        run(thread, next, MEMORY, BY_MAIN);
        run(thread, next, MEMORY, BY_MAIN);
    });
    let by = |text| instances_by(&trace, text);
    assert_eq!(by(SYMBOLS), [(2, Some(1), 2, true)]);
    assert_eq!(by("symtab 0\n"), [(2, Some(1), 2, false)]);
    // The body's function has a symbol, which is no coroutine's.
    assert_eq!(by("symtab 1\n200 100 local plain\n"), []);
}

const MAKER: u32 = 4711;
const RUNNER: u32 = 4712;
const RUNNERS: u64 = 0x7ffe_7000;

/// A thread makes an instance twice at one address; what runs the first one, by this thread, has
/// read the clock or not, and then bears a time at which the second one is there.
fn at_one_address(by: u32, untimed: bool) -> Vec<Instance> {
    let directory = tempfile::tempdir().unwrap();
    let writer = TraceWriter::create(directory.path()).unwrap();
    let mut process = writer.process(MAKER, 1, "/nowhere/app").unwrap();
    process.mode(0, 128);
    process.module(CODE, CODE + 0x1000, CODE, None, "/nowhere/app");
    for (tid, own) in [(MAKER, OWN), (RUNNER, RUNNERS)] {
        let mut thread = process.thread(tid, "app");
        let sp = own - 0x40;
        let runs = |thread: &mut ThreadWriter, time: u64| {
            if untimed {
                thread.untimed();
            }
            thread
                .capture(BODY + 4, MEMORY, None)
                .entry(time, BODY + 4, BY_MAIN.0 + 0x20, sp);
            if untimed {
                thread.untimed();
            }
            thread.leave(time + 10, sp);
        };
        thread.stack(own & !0xffff, (own & !0xffff) + 0x8000).entry(
            10,
            MAIN + 4,
            CODE + 0x900,
            own,
        );
        if tid == MAKER {
            for time in [100, 300] {
                thread
                    .entry(time, RAMP + 4, BY_MAIN.0, sp)
                    .frame_made(time + 10, MEMORY, sp - 0x20)
                    .leave(time + 20, sp);
                if by == MAKER && time == 100 {
                    runs(&mut thread, 150);
                }
                thread.frame_freed(time + 100, MEMORY, BODY);
            }
        } else if by == RUNNER {
            // Without times, its enter and exit lie evenly between those before and behind.
            runs(&mut thread, 150);
        }
        thread.leave(1000, own);
        thread.finish().unwrap();
    }
    process.finish().unwrap();
    instances(&Trace::open(directory.path()).unwrap())
}

#[test]
fn instances_at_one_address_are_not_sure_if_other_threads_have_no_times() {
    for (by, untimed) in [(MAKER, false), (MAKER, true), (RUNNER, false)] {
        let right = [(3, Some(1), 1, true), (4, Some(1), 0, true)];
        assert_eq!(at_one_address(by, untimed), right, "{by} {untimed}");
    }
    // The call comes when the first one is over, which lacks it.
    let misplaced = [(3, Some(1), 0, true), (4, Some(1), 1, false)];
    assert_eq!(at_one_address(RUNNER, true), misplaced);
}

#[test]
fn an_instance_from_before_a_gap_may_be_another_behind_it() {
    let directory = tempfile::tempdir().unwrap();
    let trace = written(directory.path(), |thread, next| {
        for frame in [MEMORY, MEMORY + 0x100] {
            run(thread, next, frame, BY_MAIN);
        }
        thread.gap(next(), Why::Paused, None);
        for frame in [MEMORY, MEMORY + 0x200] {
            run(thread, next, frame, BY_MAIN);
            run(thread, next, frame, BY_MAIN);
        }
    });
    let all = [(2, None, 3, false), (3, None, 1, true), (4, None, 2, true)];
    assert_eq!(instances(&trace), all);
}

#[test]
fn a_thread_that_was_paused_with_others_lacks_nothing_since() {
    let directory = tempfile::tempdir().unwrap();
    let writer = TraceWriter::create(directory.path()).unwrap();
    let mut process = writer.process(MAKER, 1, "/nowhere/app").unwrap();
    process.module(CODE, CODE + 0x1000, CODE, None, "/nowhere/app");
    for (tid, own) in [(MAKER, OWN), (RUNNER, RUNNERS)] {
        let mut thread = process.thread(tid, "app");
        thread.stack(own & !0xffff, (own & !0xffff) + 0x8000);
        let mut times = match tid {
            MAKER => vec![600, 500, 300, 200].into_iter(),
            _ => vec![450, 400].into_iter(),
        };
        let mut next = || times.next_back().unwrap();
        thread.gap(if tid == MAKER { 100 } else { 350 }, Why::Paused, None);
        run(&mut thread, &mut next, MEMORY, (BY_MAIN.0, own - 0x40));
        if tid == MAKER {
            run(&mut thread, &mut next, MEMORY, (BY_MAIN.0, own - 0x40));
        }
        thread.finish().unwrap();
    }
    process.finish().unwrap();
    let trace = Trace::open(directory.path()).unwrap();
    assert_eq!(instances(&trace), [(3, None, 3, true)]);
}

#[test]
fn a_ramp_from_before_a_gap_may_have_made_another() {
    let directory = tempfile::tempdir().unwrap();
    let trace = written(directory.path(), |thread, next| {
        thread
            .entry(next(), RAMP + 4, BY_MAIN.0, BY_MAIN.1)
            .leave(next(), BY_MAIN.1)
            .gap(next(), Why::Paused, None);
        run(thread, next, MEMORY, BY_MAIN);
    });
    assert_eq!(instances(&trace), [(2, None, 1, true)]);
}

/// How many threads are not sure, how many coroutines, and the number of their calls. A thread
/// begins with a call from `site` and then `ends` what is around that, and runs another coroutine
/// twice from `main`'s place.
fn in_doubt(site: u64, ends: impl FnOnce(&mut ThreadWriter)) -> [u64; 3] {
    let directory = tempfile::tempdir().unwrap();
    let writer = TraceWriter::create(directory.path()).unwrap();
    let mut process = writer.process(4711, 1, "/nowhere/app").unwrap();
    process.module(CODE, CODE + 0x1000, CODE, None, "/nowhere/app");
    let mut thread = process.thread(4711, "app");
    thread.stack(0x7fff_0000, 0x7fff_8000);
    let deep = BY_MAIN.1 - 0x80;
    thread.entry(10, LEAF + 4, site, deep).leave(20, deep);
    ends(&mut thread);
    let mut time = 1000;
    let mut next = || {
        time += 10;
        time
    };
    thread.frame_made(next(), MEMORY, BY_MAIN.1 - 0x20);
    run(&mut thread, &mut next, MEMORY, BY_MAIN);
    run(&mut thread, &mut next, MEMORY, BY_MAIN);
    thread.finish().unwrap();
    process.finish().unwrap();
    let trace = Trace::open(directory.path()).unwrap();
    let found = decoded(&trace, SYMBOLS).unresolved[0];
    [
        found.unsure_threads,
        found.unsure_coroutines,
        found.unsure_calls,
    ]
}

#[test]
fn calls_of_a_coroutine_within_which_recording_begins_are_not_surely_the_threads() {
    const BY_BODY: u64 = BODY + 0x20;
    let at = BY_MAIN.1;
    // The coroutine's code has made the call.
    assert_eq!(in_doubt(BY_BODY, |_| ()), [0, 1, 1]);
    // It has ended: the exit tells of what, or is where the next one begins.
    let exit = |of: u64| move |thread: &mut ThreadWriter| _ = thread.exit(30, of, 0, at);
    let leave = |sp: u64| move |thread: &mut ThreadWriter| _ = thread.leave(30, sp);
    assert_eq!(in_doubt(BY_MAIN.0, exit(BODY)), [1, 0, 1]);
    assert_eq!(in_doubt(BY_MAIN.0, leave(at)), [1, 0, 1]);
    // Its call is seen, and the frame was told of before.
    let begins = |thread: &mut ThreadWriter| {
        thread
            .entry(30, BODY + 4, BY_MAIN.0, at)
            .entry(40, LEAF + 4, BY_BODY, at - 0x80)
            .leave(50, at - 0x80)
            .leave(60, at);
    };
    assert_eq!(in_doubt(BY_MAIN.0, begins), [1, 0, 3]);
    // Or it was another function.
    assert_eq!(in_doubt(BY_MAIN.0, |_| ()), [0, 0, 0]);
    assert_eq!(in_doubt(BY_MAIN.0, exit(LEAF)), [0, 0, 0]);
    assert_eq!(in_doubt(BY_MAIN.0, leave(at + 0x40)), [0, 0, 0]);
}

/// How many calls of a thread may be a coroutine's, one of which was made by `mid`, with these
/// filters, which left out that one's, and these symbols besides its own.
fn in_doubt_by(filters: &str, symbols: &str) -> u64 {
    let directory = tempfile::tempdir().unwrap();
    written(directory.path(), |thread, next| {
        thread
            .entry(next(), LEAF + 4, CODE + 0x420, OWN - 0x200)
            .leave(next(), OWN - 0x200);
    });
    std::fs::write(directory.path().join("filters"), filters).unwrap();
    let trace = Trace::open(directory.path()).unwrap();
    let text = format!("{symbols}400 100 local mid\n404 0 enter-call 400\n");
    decoded(&trace, &text).unresolved[0].unsure_calls
}

#[test]
fn a_filtered_call_of_a_program_with_coroutines_may_be_one_of_those() {
    assert_eq!(in_doubt_by("--filter leaf", SYMBOLS), 2);
    assert_eq!(in_doubt_by("--no-filter other", SYMBOLS), 0);
    let without = "symtab 1\n0 100 local main\n300 100 local leaf\n";
    assert_eq!(in_doubt_by("--filter leaf", without), 0);
}

/// What belongs to no call may be an activation's: all that are open on the stack are doubted.
#[test]
fn a_coroutine_is_not_sure_on_whose_stack_calls_are_another_strands() {
    let sure = |by: u64, above: u64| {
        let directory = tempfile::tempdir().unwrap();
        let trace = written(directory.path(), |thread, next| {
            let sp = BY_MAIN.1;
            thread
                .capture(BODY + 4, MEMORY, None)
                .entry(next(), BODY + 4, BY_MAIN.0, sp)
                .entry(next(), LEAF + 4, BODY + 0x20, sp - 0x40)
                .entry(next(), LEAF + 4, by, sp - 0x40 + above)
                .leave(next(), sp - 0x40 + above);
        });
        instances(&trace).iter().all(|&(.., is_sure)| is_sure)
    };
    assert!(sure(BODY + 0x40, 0x20));
    assert!(!sure(LEAF + 0x40, 0x20), "whose caller is gone");
    assert!(!sure(LEAF + 0x40, 0x60), "and it seems to be, too");
}

/// By `-finstrument-functions`, the distance of a function's other callers tells that the inner one
/// of two open calls of a coroutine's function is gone. That is not certain.
#[test]
fn coroutines_are_not_sure_where_other_callers_tell_which_of_them_has_called() {
    let sure = |below: u64| {
        let directory = tempfile::tempdir().unwrap();
        let trace = written(directory.path(), |thread, next| {
            let (outer, inner, leaf) = (OWN - 0x100, OWN - 0x130, OWN - 0x130 - below);
            thread
                .enter(next(), LEAF, MAIN + 0x40, OWN - 0x50)
                .exit(next(), LEAF, 0, OWN - 0x50);
            for memory in [MEMORY, MEMORY + 0x1000] {
                thread
                    .capture(BODY, memory, None)
                    .enter(next(), BODY, MAIN + 0x20, outer)
                    .capture(BODY, memory + 0x100, None)
                    .enter(next(), BODY, BODY + 0x20, inner)
                    .enter(next(), LEAF, BODY + 0x40, leaf)
                    .exit(next(), LEAF, 0, leaf);
                if below == 0x50 {
                    thread.exit(next(), BODY, 0, inner);
                }
                thread.exit(next(), BODY, 0, outer);
            }
        });
        let told = instances(&trace).into_iter();
        told.map(|(.., is_sure)| is_sure).collect::<Vec<bool>>()
    };
    assert_eq!(sure(0x50), [true; 4]);
    assert_eq!(sure(0x20), [false; 4], "the outer one is 0x50 above");
}

//! Stacks that the program was seen to make for fibers.

use crate::log::{Log, Told};
use heddle_calls::End;
use heddle_strands::{Analysis, Kind, StrandId};
use heddle_symbols::Images;
use heddle_trace_file::write::{ThreadWriter, TraceWriter};
use heddle_trace_file::{ModuleSymbols, Trace, Why};
use std::ops::Range;
use std::path::Path;

const CODE: u64 = 0x40_0000;
pub const MAIN: u64 = CODE;
pub const BODY: u64 = CODE + 0x100;
/// The function that is not traced, and makes the fibers' outermost calls.
pub const FIRST: u64 = CODE + 0x200;
const MAKE: u64 = CODE + 0x300;
pub const RUN: u64 = CODE + 0x400;
pub const STEP: u64 = CODE + 0x500;
pub const OWN: u64 = 0x7fff_7000;
/// An array of a function on the thread's own stack.
const ARRAY: Range<u64> = 0x7fff_3000..0x7fff_6000;
/// Two stacks side by side.
pub const STACKS: [Range<u64>; 2] = [0x6000_0000..0x6000_4000, 0x6000_4000..0x6000_8000];

/// What the thread does within a call of `main`.
pub fn written(
    path: &Path,
    does: impl FnOnce(&mut ThreadWriter, &mut dyn FnMut() -> u64),
) -> Trace {
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
    thread.enter(next(), MAIN, FIRST + 0x80, OWN);
    does(&mut thread, &mut next);
    thread.exit(next(), MAIN, 0, OWN);
    thread.finish().unwrap();
    process.finish().unwrap();
    Trace::open(path).unwrap()
}

/// A call of `body` by what is not traced, on the stack with this number.
fn call(thread: &mut ThreadWriter, next: &mut dyn FnMut() -> u64, stack: usize) {
    let sp = STACKS[stack].end - 0x80;
    thread
        .enter(next(), BODY, FIRST + 0x20, sp)
        .exit(next(), BODY, 0, sp);
}

/// What the decoder tells.
fn told(trace: &Trace) -> Vec<Told> {
    told_with(trace, "")
}

/// The same, with these facts of the code.
pub fn told_with(trace: &Trace, facts: &str) -> Vec<Told> {
    let text = concat!(
        "symtab 1\n0 100 local main\n100 100 local body\n200 100 local first\n",
        "300 100 local make\n400 100 local run\n500 100 local step\n"
    );
    let symbols = ModuleSymbols {
        path: "/nowhere/app".into(),
        build_id: None,
        text: format!("{text}{facts}"),
    };
    let analysis = Analysis::new(trace, &mut Images::packed(&[symbols]));
    let decoded = analysis.decode(|_| Log::default()).unwrap();
    let logs = decoded.sinks.into_iter();
    logs.flat_map(|(_, log)| log.0).collect()
}

/// The number of each fiber, and that of its maker.
fn fibers(trace: &Trace) -> Vec<(u64, Option<u64>)> {
    let told = told(trace).into_iter();
    told.filter_map(|told| match told {
        Told::Strand("born", id, Kind::Fiber, maker, ..) => {
            Some((id.number(), maker.map(StrandId::number)))
        }
        _ => None,
    })
    .collect()
}

/// The number of the strand and the time of each event that is no call, once both fibers have a
/// call open: `does` is what their thread does then.
fn others(trace: &Trace) -> Vec<(u64, u64)> {
    let told = told(trace).into_iter();
    told.filter_map(|told| match told {
        Told::Other(id, _, time) if time.0 > 50 => Some((id.number(), time.0)),
        _ => None,
    })
    .collect()
}

/// Begins a fiber on each stack, which both are suspended within a call; the second is the thread's
/// latest. 50 ns have passed then if both stacks were seen to be made, else 30.
fn begin_both(thread: &mut ThreadWriter, next: &mut dyn FnMut() -> u64, made: bool) {
    for (number, stack) in STACKS.into_iter().enumerate() {
        let sp = stack.end - 0x80;
        if made {
            thread.stack_made(next(), stack, OWN - 0x100);
        }
        let site = FIRST + 0x20 + 0x20 * number as u64;
        thread.enter(next(), BODY, site, sp);
    }
}

#[test]
fn calls_from_one_place_on_a_stack_are_one_fibers_until_it_is_made_anew() {
    let directory = tempfile::tempdir().unwrap();
    let trace = written(directory.path(), |thread, next| {
        for _ in 0..2 {
            thread.stack_made(next(), STACKS[0].clone(), OWN - 0x100);
            (0..50).for_each(|_| call(thread, next, 0));
        }
    });
    assert_eq!(fibers(&trace), [(2, Some(1)), (3, Some(1))]);
}

#[test]
fn a_fiber_that_begins_where_another_was_left_is_not_inlined_into_that() {
    let directory = tempfile::tempdir().unwrap();
    let trace = written(directory.path(), |thread, next| {
        for function in [BODY, STEP, BODY, STEP] {
            thread.stack_made(next(), STACKS[0].clone(), OWN - 0x100);
            thread.enter(next(), function, FIRST + 0x20, STACKS[0].end - 0x80);
        }
    });
    let maker = Some(1);
    let all = [(2, maker), (3, maker), (4, maker), (5, maker)];
    assert_eq!(fibers(&trace), all);
    assert!(
        !told(&trace)
            .iter()
            .any(|told| matches!(told, Told::Unsure(_)))
    );
}

#[test]
fn a_fiber_is_made_by_the_fiber_on_whose_stack_its_own_is_made() {
    let directory = tempfile::tempdir().unwrap();
    let trace = written(directory.path(), |thread, next| {
        thread.stack_made(next(), STACKS[0].clone(), OWN - 0x100);
        // Before its maker has made a call that is traced; and the thread goes on meanwhile.
        thread.stack_made(next(), STACKS[1].clone(), STACKS[0].end - 0x200);
        call(thread, next, 0);
        let own = OWN - 0x80;
        thread
            .enter(next(), BODY, MAIN + 0x20, own)
            .exit(next(), BODY, 0, own);
        call(thread, next, 1);
    });
    assert_eq!(fibers(&trace), [(2, Some(1)), (3, Some(2))]);
}

#[test]
fn the_maker_of_a_fiber_is_not_guessed() {
    let directory = tempfile::tempdir().unwrap();
    let trace = written(directory.path(), |thread, next| {
        call(thread, next, 0);
        call(thread, next, 1);
        // Made by a stack of which nothing is known.
        thread.stack_made(next(), STACKS[0].clone(), 0x5000_0000);
        call(thread, next, 0);
    });
    assert_eq!(fibers(&trace), [(2, None), (3, None), (4, None)]);
}

#[test]
fn stacks_may_have_been_made_while_nothing_was_recorded() {
    let directory = tempfile::tempdir().unwrap();
    let trace = written(directory.path(), |thread, next| {
        thread.stack_made(next(), STACKS[0].clone(), OWN - 0x100);
        call(thread, next, 0);
        thread.stack_made(next(), STACKS[1].clone(), OWN - 0x100);
        thread.gap(next(), Why::Paused, None);
        call(thread, next, 1);
    });
    assert_eq!(fibers(&trace), [(2, Some(1)), (3, None)]);
}

const MUTEX: (u32, u64, u32) = (1, 0x5000, 1);

#[test]
fn waits_are_on_the_strand_on_whose_stack_they_are_made() {
    for made in [true, false] {
        let directory = tempfile::tempdir().unwrap();
        let trace = written(directory.path(), |thread, next| {
            begin_both(thread, next, made);
            thread
                .by(STACKS[0].end - 0x200)
                .wait(60, MUTEX, FIRST, (0, 0))
                .wait_ended(70, 0, 0)
                .by(STACKS[1].end - 0x300)
                .long_call(90, 80, "read 3 pipe:[5]")
                .by(OWN - 0x100)
                .wake(100, 1, 1, FIRST);
            (0..6).for_each(|_| _ = next());
        });
        assert_eq!(
            others(&trace),
            [(2, 60), (2, 70), (3, 90), (1, 100)],
            "made: {made}"
        );
        let runs = told(&trace).into_iter().filter_map(|told| match told {
            Told::Runs(id, _, _, time) if time.0 > 50 => Some((id.number(), time.0)),
            _ => None,
        });
        // One that took long ran since that began.
        assert_eq!(runs.collect::<Vec<_>>(), [(2, 60), (3, 80), (1, 100)]);
    }
}

#[test]
fn waits_without_a_stack_pointer_are_on_the_strand_of_the_latest_call() {
    let directory = tempfile::tempdir().unwrap();
    let trace = written(directory.path(), |thread, next| {
        begin_both(thread, next, true);
        thread.wait(60, MUTEX, FIRST, (0, 0)).wait_ended(70, 0, 0);
        (0..3).for_each(|_| _ = next());
    });
    assert_eq!(others(&trace), [(3, 60), (3, 70)]);
}

#[test]
fn a_wait_of_a_fiber_without_calls_is_its_threads() {
    let directory = tempfile::tempdir().unwrap();
    let trace = written(directory.path(), |thread, next| {
        thread.stack_made(next(), STACKS[0].clone(), OWN - 0x100);
        call(thread, next, 0);
        thread.stack_made(50, STACKS[1].clone(), OWN - 0x100);
        thread
            .by(STACKS[1].end - 0x200)
            .wait(60, MUTEX, FIRST, (0, 0))
            .wait_ended(70, 0, 0);
        (0..4).for_each(|_| _ = next());
    });
    assert_eq!(others(&trace), [(1, 60), (1, 70)]);
}

/// A fiber has no call open that could have made the next one, as events of threads are not in
/// their order: what is open on the stack beside it is another fiber's, however well it fits.
#[test]
fn calls_on_a_stack_that_was_made_are_no_other_fiber_s() {
    let directory = tempfile::tempdir().unwrap();
    let sp = STACKS[0].end - 0x180;
    let trace = written(directory.path(), |thread, next| {
        thread.stack_made(next(), STACKS[0].clone(), OWN - 0x100);
        call(thread, next, 0);
        thread.stack_made(next(), STACKS[1].clone(), OWN - 0x100);
        thread
            .enter(next(), BODY, FIRST + 0x40, STACKS[1].end - 0x80)
            .enter(next(), BODY, BODY + 0x20, sp)
            .exit(next(), BODY, 0, sp)
            // Its enter seems to come later.
            .exit(next(), BODY, 0, sp - 0x100);
    });
    let told = told(&trace);
    let on = |told: &Told| match *told {
        Told::Enter(id, ..) | Told::Unmatched(id, ..) => Some(id.number()),
        _ => None,
    };
    let strands: Vec<u64> = told.iter().filter_map(on).collect();
    assert_eq!(strands, [1, 2, 3, 2, 2]);
    let closed = |told: &&Told| matches!(told, Told::Leave(id, ..) if id.number() == 3);
    let last = told.iter().rfind(closed);
    assert!(
        matches!(last, Some(Told::Leave(.., span)) if span.end == End::Open),
        "{last:?}"
    );
}

/// A fiber of a program that switches stacks by itself goes on on another thread. Whether it is
/// sure, if the clock was read at each event, or not.
#[test]
fn who_ran_a_fiber_first_is_not_sure_where_the_clock_was_not_read() {
    let is_sure = |sparse: u32, threads: usize| {
        let directory = tempfile::tempdir().unwrap();
        let writer = TraceWriter::create(directory.path()).unwrap();
        let mut process = writer.process(4711, 1, "/nowhere/app").unwrap();
        process.mode(0, sparse);
        process.module(CODE, CODE + 0x1000, CODE, None, "/nowhere/app");
        for (index, own) in [OWN, OWN - 0x1000_0000].into_iter().enumerate() {
            let mut thread = process.thread(4711 + index as u32, "app");
            thread.stack(own - 0x1000, own + 0x1000);
            thread.enter(10, MAIN, FIRST + 0x80, own);
            for turn in 0..20 {
                if turn as usize % threads == index {
                    let (time, sp) = (100 * (turn + 1), STACKS[0].end - 0x80);
                    if turn == 0 {
                        thread.enter(time, BODY, FIRST + 0x20, sp);
                    }
                    let inner = sp - 0x100;
                    thread.enter(time + 10, BODY, BODY + 0x20, inner).exit(
                        time + 20,
                        BODY,
                        0,
                        inner,
                    );
                }
            }
            thread.exit(9000, MAIN, 0, own);
            thread.finish().unwrap();
        }
        process.finish().unwrap();
        let told = told(&Trace::open(directory.path()).unwrap());
        !told.iter().any(|told| matches!(told, Told::Unsure(_)))
    };
    let of = |sparse| [1, 2].map(|threads| is_sure(sparse, threads));
    assert_eq!([of(0), of(128)], [[true, true], [true, false]]);
}

#[test]
fn the_exit_of_a_thunk_belongs_to_no_call_of_a_fiber_either() {
    let directory = tempfile::tempdir().unwrap();
    let trace = written(directory.path(), |thread, next| {
        for stack in STACKS {
            let sp = stack.end - 0x80;
            thread
                .stack_made(next(), stack, OWN - 0x100)
                .entry(next(), BODY, FIRST + 0x20, sp)
                // What adjusts `this` jumps to the function, which has the same stack pointer.
                .leave(next(), sp - 0x40)
                .entry(next(), BODY, BODY + 0x20, sp - 0x40)
                .leave(next(), sp - 0x40)
                .leave(next(), sp);
        }
    });
    let told = told(&trace);
    let unmatched = told
        .iter()
        .filter(|told| matches!(told, Told::Unmatched(..)));
    assert_eq!(unmatched.count(), 0);
    let unsure = told.iter().filter(|told| matches!(told, Told::Unsure(..)));
    assert_eq!(unsure.count(), 0);
}

/// The fiber on [`ARRAY`] goes on where it was: its first run, or the one with this number.
fn goes_on(thread: &mut ThreadWriter, next: &mut dyn FnMut() -> u64, run: u64) {
    let body = ARRAY.end - 0x80;
    if run == 0 {
        thread.enter(next(), BODY, FIRST + 0x20, body);
    }
    // Its frame has grown when it goes on.
    let step = body - 0x40 - run * 0x80;
    thread
        .enter(next(), STEP, BODY + 0x20 + run, step)
        .exit(next(), STEP, 0, step);
}

/// `make` makes a stack of [`ARRAY`], which is above its own frame.
fn make(
    thread: &mut ThreadWriter,
    next: &mut dyn FnMut() -> u64,
    does: impl FnOnce(&mut ThreadWriter, &mut dyn FnMut() -> u64),
) {
    let sp = ARRAY.start - 0x80;
    thread
        .enter(next(), MAKE, MAIN + 0x20, sp)
        .stack_made(next(), ARRAY, sp - 0x40);
    does(thread, next);
    thread.exit(next(), MAKE, 0, sp);
}

/// `run` switches to the fiber, and is called by `main`.
fn run(thread: &mut ThreadWriter, next: &mut dyn FnMut() -> u64, run: u64) {
    let sp = ARRAY.start - 0x60;
    thread.enter(next(), RUN, MAIN + 0x40, sp);
    goes_on(thread, next, run);
    thread.exit(next(), RUN, 0, sp);
}

/// A call of `step` by what is not traced, within [`ARRAY`]'s place.
fn call_back(thread: &mut ThreadWriter, next: &mut dyn FnMut() -> u64) {
    let sp = ARRAY.end - 0x100;
    thread
        .enter(next(), STEP, FIRST + 0x60, sp)
        .exit(next(), STEP, 0, sp);
}

/// The number of calls of each strand, and whether it is sure.
fn ended(trace: &Trace) -> Vec<(u64, u64, bool)> {
    let told = told(trace);
    let mut strands: Vec<(u64, u64, bool)> = told
        .iter()
        .filter_map(|one| match one {
            &Told::Strand("ended", id, .., calls, _) => {
                Some((id.number(), calls, !told.contains(&Told::Unsure(id))))
            }
            _ => None,
        })
        .collect();
    strands.sort_unstable();
    strands
}

/// By `-finstrument-functions`, the stack pointer of `main` is above the memory by which its frame
/// has grown, and that of `make` below: as if `make` had the array.
#[test]
fn a_fiber_on_memory_of_a_grown_frame_is_one_whoever_has_made_it() {
    for made in [true, false] {
        let directory = tempfile::tempdir().unwrap();
        let trace = written(directory.path(), |thread, next| {
            if made {
                make(thread, next, |_, _| {});
            }
            (0..4).for_each(|number| run(thread, next, number));
        });
        let expected = [(1, 5 + u64::from(made), true), (2, 5, true)];
        assert_eq!(ended(&trace), expected, "made: {made}");
    }
}

#[test]
fn it_is_one_where_its_maker_runs_it_first() {
    let directory = tempfile::tempdir().unwrap();
    let trace = written(directory.path(), |thread, next| {
        make(thread, next, |thread, next| goes_on(thread, next, 0));
        (1..4).for_each(|number| run(thread, next, number));
    });
    assert_eq!(ended(&trace), [(1, 5, true), (2, 5, true)]);
}

/// Then they may as well be calls of the thread, which an array of `make` was in the place of.
#[test]
fn it_is_doubted_where_no_call_switches_to_it() {
    let directory = tempfile::tempdir().unwrap();
    let trace = written(directory.path(), |thread, next| {
        make(thread, next, |_, _| {});
        (0..4).for_each(|number| goes_on(thread, next, number));
    });
    assert_eq!(ended(&trace), [(1, 2, false), (2, 5, false)]);

    let directory = tempfile::tempdir().unwrap();
    let trace = written(directory.path(), |thread, next| {
        make(thread, next, |thread, next| goes_on(thread, next, 0));
        call_back(thread, next);
    });
    assert_eq!(ended(&trace), [(1, 3, false), (2, 2, false)]);
}

#[test]
fn an_array_is_gone_where_its_functions_caller_makes_a_call() {
    let directory = tempfile::tempdir().unwrap();
    let trace = written(directory.path(), |thread, next| {
        make(thread, next, |thread, next| goes_on(thread, next, 0));
        let sp = ARRAY.end - 0x40;
        thread
            .enter(next(), STEP, MAIN + 0x60, sp)
            .exit(next(), STEP, 0, sp);
        call_back(thread, next);
    });
    assert_eq!(ended(&trace), [(1, 4, true), (2, 2, true)]);
}

/// `body` has two enter hooks in it, its own and that of `step`, which is inlined; a signal's
/// handler returns to 0x250.
const INLINES: &str = "108 0 enter-call 100\n118 0 enter-call 500\n250 0 handler-return -\n";

/// The strand, the function, and whether it is inlined, of each call but that of `main`. Every exit
/// must belong to one.
fn calls_inlined(trace: &Trace) -> Vec<(u64, u64, bool)> {
    let told = told_with(trace, INLINES);
    let is_unmatched = |told: &Told| matches!(told, Told::Unmatched(..));
    assert!(!told.iter().any(is_unmatched));
    let calls = told.into_iter().filter_map(|told| match told {
        Told::Enter(id, _, _, function, inlined, ..) => Some((id.number(), function.0, inlined)),
        _ => None,
    });
    calls.skip(1).collect()
}

#[test]
fn what_is_inlined_into_a_handler_is_so_on_a_stack_without_calls_too() {
    let directory = tempfile::tempdir().unwrap();
    let trace = written(directory.path(), |thread, next| {
        thread.stack_made(next(), STACKS[0].clone(), OWN - 0x100);
        // Its fiber runs code without hooks when the signal comes.
        let (sp, site) = (STACKS[0].end - 0x400, FIRST + 0x50);
        thread.enter(next(), BODY, site, sp);
        for grown in [0, 0x100] {
            thread
                .enter(next(), STEP, site, sp - grown)
                .exit(next(), STEP, 0, sp - grown);
        }
        thread.exit(next(), BODY, 0, sp);
        call(thread, next, 0);
    });
    let handler = [(2, BODY, false), (2, STEP, true), (2, STEP, true)];
    let body = [(2, BODY, false)];
    assert_eq!(calls_inlined(&trace), [&handler[..], &body].concat());
}

#[test]
fn what_is_inlined_is_its_fibers_though_the_stack_was_made_anew() {
    let directory = tempfile::tempdir().unwrap();
    let trace = written(directory.path(), |thread, next| {
        let sp = STACKS[0].end - 0x80;
        thread
            .stack_made(next(), STACKS[0].clone(), OWN - 0x100)
            .enter(next(), BODY, FIRST + 0x20, sp)
            .stack_made(next(), STACKS[0].clone(), OWN - 0x100)
            .enter(next(), STEP, FIRST + 0x20, sp - 0x100)
            .exit(next(), STEP, 0, sp - 0x100)
            .exit(next(), BODY, 0, sp);
        call(thread, next, 0);
    });
    let fibers = [(2, BODY, false), (2, STEP, true), (3, BODY, false)];
    assert_eq!(calls_inlined(&trace), fibers);
}

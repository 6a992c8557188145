//! A longjmp leaves calls without exits: to where it goes, a record says.

use crate::log::{Log, Told};
use crate::marks::{decoded, decoded_by};
use crate::ways;
use heddle_strands::Decoded;
use heddle_trace_file::Way;
use heddle_trace_file::write::{ProcessWriter, ThreadWriter};

const BODY: u64 = 0x40_0000;
const WORK: u64 = BODY + 0x100;
/// The function that is not traced.
const FIRST: u64 = BODY + 0x200;
/// Where a signal's handler returns to.
const HANDLED: u64 = BODY + 0x250;
const LEAF: u64 = BODY + 0x300;
const INNER: u64 = BODY + 0x400;
const OWN: u64 = 0x7fff_0000;
const FIBER: u64 = 0x6000_0000;

/// The calls of a thread on a stack that begins at `stack`: `work` calls `body`, which `goes_on`.
fn called(stack: u64, goes_on: impl FnOnce(&mut ThreadWriter)) -> Decoded<Log> {
    decoded(|process| {
        let mut thread = process.thread(4711, "thread");
        thread.stack(OWN, OWN + 0x8000);
        thread.enter(10, WORK, FIRST + 0x20, stack + 0x7000);
        thread.enter(20, BODY, WORK + 0x20, stack + 0x6f00);
        goes_on(&mut thread);
        thread.exit(80, BODY, 0, stack + 0x6f00);
        thread.exit(90, WORK, 0, stack + 0x7000);
        thread.finish().unwrap();
    })
}

/// `body` calls itself, and that `leaf`, which a longjmp leaves to the outer `body`; that calls
/// `leaf`, too.
fn out_of_a_recursion(stack: u64, has_record: bool) -> Decoded<Log> {
    called(stack, |thread| {
        thread.enter(30, BODY, BODY + 0x20, stack + 0x6e00);
        thread.enter(40, LEAF, BODY + 0x30, stack + 0x6d00);
        if has_record {
            thread.jump(50, stack + 0x6f00, false);
        }
        thread.enter(60, LEAF, BODY + 0x40, stack + 0x6c00);
        thread.exit(70, LEAF, 0, stack + 0x6c00);
    })
}

/// How deep each call is.
fn depths(decoded: &Decoded<Log>) -> Vec<usize> {
    let log = decoded.sinks.iter().flat_map(|(_, log)| &log.0);
    let depth = |told: &Told| match told {
        Told::Enter(.., depth, _) => Some(*depth),
        _ => None,
    };
    log.filter_map(depth).collect()
}

#[test]
fn what_comes_after_a_recorded_jump_is_called_by_the_call_that_it_goes_to() {
    for stack in [OWN, FIBER] {
        let decoded = out_of_a_recursion(stack, true);
        assert_eq!(depths(&decoded), [0, 1, 2, 3, 2], "{stack:#x}");
        let loose = decoded.loose;
        assert_eq!((loose.unwound, loose.unmatched), (2, 0), "{stack:#x}");
    }
    assert_eq!(out_of_a_recursion(OWN, true).unresolved[0].unsure, 0);
}

#[test]
fn a_jump_without_a_record_out_of_a_recursion_is_doubted() {
    let unresolved = out_of_a_recursion(OWN, false).unresolved[0];
    assert_eq!((unresolved.unsure_threads, unresolved.unsure_calls), (1, 5));
    // Where each function is open once, its call sites tell.
    let plain = called(OWN, |thread| {
        thread.enter(30, LEAF, BODY + 0x20, OWN + 0x6e00);
        thread.enter(60, LEAF, BODY + 0x40, OWN + 0x6c00);
        thread.exit(70, LEAF, 0, OWN + 0x6c00);
    });
    assert_eq!(plain.unresolved[0].unsure, 0);
}

#[test]
fn a_callback_behind_a_call_that_was_left_is_doubted() {
    const LIBRARY: u64 = FIRST + 0x40;
    // A jump without a record, or an exception, leaves `leaf`. Is what the library calls then
    // inside `leaf` or `body`?
    let behind = |site: u64, has_exit: bool| {
        let decoded = called(OWN, |thread| {
            thread.enter(30, LEAF, BODY + 0x20, OWN + 0x6e00);
            thread.enter(40, WORK, site, OWN + 0x6c00);
            thread.exit(50, WORK, 0, OWN + 0x6c00);
            if has_exit {
                thread.exit(60, LEAF, 0, OWN + 0x6e00);
            }
        });
        decoded.unresolved[0]
    };
    assert_eq!(behind(LIBRARY, false).unsure_threads, 1);
    assert_eq!(behind(LIBRARY, false).unsure_calls, 4);
    assert_eq!(behind(LIBRARY, true).unsure, 0);
    assert_eq!(behind(LEAF + 0x20, false).unsure, 0);
}

#[test]
fn a_jump_to_another_stack_ends_nothing() {
    let decoded = called(OWN, |thread| {
        // A fiber calls, and jumps back to where it was left; the thread jumps to it once more.
        thread.enter(30, LEAF, FIRST + 0x40, FIBER + 0x100);
        thread.jump(40, OWN + 0x6f00, false);
        thread.enter(50, LEAF, BODY + 0x20, OWN + 0x6e00);
        thread.exit(60, LEAF, 0, OWN + 0x6e00);
        thread.jump(65, FIBER + 0x100, true);
        thread.exit(70, LEAF, 0, FIBER + 0x100);
    });
    assert_eq!((decoded.loose.unwound, decoded.loose.unmatched), (0, 0));
}

/// `leaf`, called by a signal's handler, calls `inner`, where another signal is handled on the same
/// stack. A jump goes from there to `leaf`, which calls `inner` once more.
fn between_two_handlers(way: Way, has_record: bool, by_thread: bool) -> Vec<usize> {
    let write = |process: &mut ProcessWriter| {
        let mut thread = process.thread(4711, "thread");
        thread.stack(OWN, OWN + 0x8000);
        let enter = |thread: &mut ThreadWriter, time: u64, function: u64, site: u64, sp: u64| {
            match way {
                Way::Instrumented => thread.enter(time, function, site, sp),
                Way::Entry => thread.entry(time, function + 4, site, sp),
            };
        };
        enter(&mut thread, 10, WORK, FIRST + 0x20, OWN + 0x7000);
        enter(&mut thread, 20, BODY, HANDLED, FIBER + 0x7000);
        enter(&mut thread, 30, LEAF, BODY + 0x20, FIBER + 0x6f00);
        enter(&mut thread, 40, INNER, LEAF + 0x20, FIBER + 0x6e00);
        enter(&mut thread, 50, BODY, HANDLED, FIBER + 0x6000);
        enter(&mut thread, 60, WORK, BODY + 0x20, FIBER + 0x5f00);
        if has_record {
            thread.jump(70, FIBER + 0x6f00, false);
        }
        enter(&mut thread, 80, INNER, LEAF + 0x30, FIBER + 0x6d00);
        thread.finish().unwrap();
    };
    depths(&decoded_by(by_thread, "", write))
}

#[test]
fn a_jump_between_two_handlers_on_one_stack_leaves_what_the_first_has_called() {
    for case in 0..8 {
        let (has_record, by_thread) = (case & 1 != 0, case & 2 != 0);
        let way = [Way::Instrumented, Way::Entry][case >> 2];
        let depths = between_two_handlers(way, has_record, by_thread);
        assert_eq!(depths, [0, 1, 2, 3, 4, 5, 3], "{case}");
    }
}

/// The facts of `body`'s frame, by call sites in it: of one size, and of one that varies a little.
const FRAMES: &str = "40 20 call-frame -\n48 10 call-frame -\n50 0 call-frame -\n4 38 frame 20\n";

/// Where it may vary by anything.
const GROWS: &str = "50 0 call-frame -\n4 38 frame -\n";

/// By `-mfentry`: `body` calls itself, so many bytes below, and an exception leaves the inner call;
/// or not. Then `leaf` is called from `site` in `body`, so far below the inner call.
fn after_an_exception(
    by_thread: bool,
    facts: &str,
    (frame, site, below): (u64, u64, u64),
) -> Decoded<Log> {
    decoded_by(by_thread, facts, |process| {
        let mut thread = process.thread(4711, "thread");
        thread.stack(OWN, OWN + 0x8000);
        let (outer, inner) = (OWN + 0x6f00, OWN + 0x6f00 - frame);
        thread
            .entry(10, WORK + 4, FIRST + 0x20, OWN + 0x7000)
            .entry(20, BODY + 4, WORK + 0x20, outer)
            .entry(30, BODY + 4, BODY + 0x20, inner)
            .entry(40, LEAF + 4, BODY + site, inner - below)
            .leave(50, inner - below)
            .leave(60, outer)
            .leave(70, OWN + 0x7000);
        thread.finish().unwrap();
    })
}

#[test]
fn how_far_above_its_caller_is_tells_which_of_two_calls_of_a_function_goes_on() {
    // The arguments on the stack take as much as the frame; or less; or are of the inner call.
    let cases = [
        ((0x10, 0x40, 0x10), 2),
        ((0x10, 0x48, 0x10), 3),
        ((0x40, 0x50, 0x10), 2),
        ((0x40, 0x50, 0x40), 3),
        ((0x40, 0x50, 0x60), 3),
    ];
    for (calls, depth) in cases {
        for by_thread in [false, true] {
            let decoded = after_an_exception(by_thread, FRAMES, calls);
            assert_eq!(depths(&decoded), [0, 1, 2, depth], "{calls:x?} {by_thread}");
            assert_eq!(decoded.unresolved[0].unsure, 0, "{calls:x?}");
        }
    }
}

#[test]
fn a_recursion_that_an_exception_leaves_is_doubted_if_its_frames_are_not_known() {
    for (facts, calls) in [("", (0x10, 0x40, 0x10)), (GROWS, (0x40, 0x50, 0x40))] {
        let decoded = after_an_exception(false, facts, calls);
        assert_eq!(decoded.unresolved[0].unsure_threads, 1, "{facts}");
    }
}

/// By `-mfentry`: `body`, whose frame grows, calls itself and `leaf`, outer calls as far above as
/// inner ones were. An exception leaves the innermost call of `body`, or it returns.
#[test]
fn a_call_belongs_to_the_inner_of_two_calls_whose_frames_grow_if_that_has_an_exit() {
    for (by_thread, returns) in [(false, true), (false, false), (true, true)] {
        let decoded = decoded_by(by_thread, GROWS, |process| {
            let mut thread = process.thread(4711, "thread");
            thread.stack(OWN, OWN + 0x8000);
            let (outer, inner) = (OWN + 0x6f00, OWN + 0x6e00);
            thread
                .entry(10, WORK + 4, FIRST + 0x20, OWN + 0x7000)
                .entry(20, BODY + 4, WORK + 0x20, outer)
                .entry(30, LEAF + 4, BODY + 0x50, outer - 0x200)
                .leave(40, outer - 0x200)
                .entry(50, BODY + 4, BODY + 0x20, inner)
                .entry(60, LEAF + 4, BODY + 0x50, inner - 0x100)
                .leave(70, inner - 0x100);
            if returns {
                thread.leave(80, inner);
            }
            thread.leave(90, outer).leave(100, OWN + 0x7000);
            thread.finish().unwrap();
        });
        assert_eq!(depths(&decoded), [0, 1, 2, 2, 3], "{by_thread}");
        let unsure = decoded.unresolved[0].unsure_threads;
        assert_eq!(unsure, u64::from(!returns), "{by_thread} {returns}");
    }
}

#[test]
fn a_recursion_whose_frames_grow_is_sure_where_a_jump_says_that_it_leaves_it() {
    for has_record in [true, false] {
        let decoded = decoded_by(false, "", |process| {
            let mut thread = process.thread(4711, "thread");
            thread.stack(OWN, OWN + 0x8000);
            let (outer, inner) = (OWN + 0x6f00, OWN + 0x6e00);
            thread
                .enter(10, WORK, FIRST + 0x20, OWN + 0x7000)
                .enter(20, BODY, WORK + 0x20, outer)
                .enter(30, LEAF, BODY + 0x50, outer - 0x200)
                .exit(40, LEAF, 0, outer - 0x200)
                .enter(50, BODY, BODY + 0x20, inner)
                .enter(60, LEAF, BODY + 0x50, inner - 0x120)
                .exit(70, LEAF, 0, inner - 0x120);
            if has_record {
                thread.jump(80, OWN + 0x7000, false);
            }
            thread
                .enter(85, LEAF, WORK + 0x30, OWN + 0x6f80)
                .exit(90, LEAF, 0, OWN + 0x6f80)
                .exit(100, WORK, 0, OWN + 0x7000);
            thread.finish().unwrap();
        });
        assert_eq!(depths(&decoded), [0, 1, 2, 2, 3, 1]);
        let unsure = decoded.unresolved[0].unsure_threads;
        assert_eq!(unsure, u64::from(!has_record), "{has_record}");
    }
}

#[test]
fn a_call_is_over_where_uninstrumented_code_has_its_frame_that_makes_the_next() {
    let site = FIRST + 0x40;
    for (frame, depth) in [(0x38, 1), (0x40, 0)] {
        let facts = format!("{:x} {frame:x} call-frame -\n", site - BODY);
        for by_thread in [false, true] {
            let decoded = decoded_by(by_thread, &facts, |process| {
                let mut thread = process.thread(4711, "thread");
                let sp = OWN + 0x7000;
                // `pthread_exit` has ended it, and a destructor calls.
                thread
                    .stack(OWN, OWN + 0x8000)
                    .entry(10, WORK + 4, FIRST + 0x20, sp)
                    .entry(20, LEAF + 4, WORK + 0x20, sp - 0x20)
                    .entry(30, BODY + 4, site, sp - 0x40)
                    .leave(40, sp - 0x40);
                thread.finish().unwrap();
            });
            assert_eq!(depths(&decoded), [0, 1, depth], "{frame:x} {by_thread}");
        }
    }
}

/// Code without hooks that a fiber calls catches what `leaf` throws. That is neither the first call
/// of a fiber that was left there, nor does it make others from that place such.
#[test]
fn a_callback_that_throws_is_no_fiber_that_was_left() {
    const SITE: u64 = FIRST + 0x40;
    for way in [Way::Instrumented, Way::Entry] {
        let decoded = decoded(|process| {
            let mut thread = process.thread(4711, "thread");
            thread.stack(OWN, OWN + 0x8000);
            let mut time = 0;
            let mut next = || {
                time += 10;
                time
            };
            let [body, work, leaf] = [0x7000, 0x6f00, 0x6e00].map(|at| FIBER + at);
            ways::enter(way, &mut thread, next(), (BODY, FIRST + 0x20, body));
            for _ in 0..40 {
                ways::enter(way, &mut thread, next(), (WORK, BODY + 0x20, work));
                ways::enter(way, &mut thread, next(), (LEAF, SITE, leaf));
                if way == Way::Instrumented {
                    ways::exit(way, &mut thread, next(), LEAF, leaf);
                }
                thread.landing(next(), leaf - 0x80, leaf + 0x80);
                ways::exit(way, &mut thread, next(), WORK, work);
            }
            ways::exit(way, &mut thread, next(), BODY, body);
            thread.finish().unwrap();
        });
        let expected: Vec<usize> = std::iter::once(0)
            .chain(std::iter::repeat_n([1, 2], 40).flatten())
            .collect();
        assert_eq!(depths(&decoded), expected, "{way:?}");
        assert_eq!(decoded.unresolved[0].unsure, 0, "{way:?}");
    }
}

/// So it is, too, where `leaf` seems to be a fiber's first call, as long as little is known of its
/// call site: that fiber is over.
#[test]
fn an_exception_may_leave_the_outermost_call_of_a_fiber() {
    let decoded = decoded(|process| {
        let mut thread = process.thread(4711, "thread");
        thread.stack(OWN, OWN + 0x8000);
        thread
            .entry(10, LEAF, FIRST + 0x40, FIBER)
            .landing(20, FIBER - 0x80, FIBER + 0x80)
            .entry(30, BODY, FIRST + 0x20, FIBER + 0x10_0000)
            .leave(40, FIBER + 0x10_0000);
        thread.finish().unwrap();
    });
    let loose = decoded.loose;
    assert_eq!((loose.unwound, loose.open), (1, 0));
}

/// A fiber goes on, which is not seen, and throws at once: the thread seems to run another.
#[test]
fn an_exception_leaves_calls_on_the_stack_that_it_passes() {
    let [body, leaf] = [0x7000, 0x6e00].map(|at| FIBER + at);
    let decoded = decoded(|process| {
        let mut thread = process.thread(4711, "thread");
        thread.stack(OWN, OWN + 0x8000);
        thread
            .entry(10, BODY, FIRST + 0x20, body)
            .entry(20, LEAF, FIRST + 0x40, leaf)
            .entry(30, BODY, FIRST + 0x20, body + 0x10_0000)
            .landing(40, leaf - 0x80, leaf + 0x80)
            .entry(50, WORK, FIRST + 0x60, leaf)
            .leave(60, leaf)
            .leave(70, body);
        thread.finish().unwrap();
    });
    assert_eq!(depths(&decoded), [0, 1, 0, 1]);
    // That of `leaf`; and the other fiber's `body` is open.
    let loose = decoded.loose;
    assert_eq!((loose.unwound, loose.unmatched, loose.open), (1, 0, 1));
}

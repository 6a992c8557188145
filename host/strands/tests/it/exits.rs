//! Exits of calls on stacks other than the one that the thread ran until then. Mostly the innermost
//! call of a stack that the program has made ends, or that of the thread's own, which is seen at
//! once.

use crate::log::{Log, Told};
use crate::marks::decoded;
use heddle_calls::End;
use heddle_strands::Decoded;
use heddle_trace_file::write::{ProcessWriter, ThreadWriter};
use std::ops::Range;

const CODE: u64 = 0x40_0000;
const BODY: u64 = CODE;
const WORK: u64 = CODE + 0x100;
/// The function that is not traced, and makes each fiber's outermost call.
const FIRST: u64 = CODE + 0x200;
const LEAF: u64 = CODE + 0x300;
const INNER: u64 = CODE + 0x400;
/// The threads' own stacks.
const OWN: [Range<u64>; 2] = [0x7fff_0000..0x7fff_8000, 0x7ffe_0000..0x7ffe_8000];
/// A stack that the program makes.
const STACK: Range<u64> = 0x6000_0000..0x6000_4000;
/// Where the fiber on that has its calls of `body` and `work`.
const BASE: u64 = STACK.end - 0x80;
const AT: u64 = STACK.end - 0x100;
/// Where a fiber is that shows how far from their enters calls of `work` are left.
const OTHER: u64 = 0x6800_0f80;
/// When the exit comes that is looked at.
const EXIT: u64 = 5000;

/// What became of the exit.
#[derive(Debug, PartialEq)]
enum Exit {
    /// It is that of the call that was entered then.
    Ends(u64),
    /// It belongs to none.
    Unmatched,
}

fn exit_of(decoded: &Decoded<Log>) -> Exit {
    let mut log = decoded.sinks.iter().flat_map(|(_, log)| &log.0);
    let found = log.find_map(|told| match told {
        Told::Leave(.., span) if span.exit.0 == EXIT && span.end == End::Returned => {
            Some(Exit::Ends(span.enter.0))
        }
        Told::Unmatched(.., time) if time.0 == EXIT => Some(Exit::Unmatched),
        _ => None,
    });
    found.unwrap()
}

/// A thread of the program, within a call of `inner` on its own stack.
fn thread(process: &mut ProcessWriter, number: usize) -> ThreadWriter {
    let own = &OWN[number];
    let mut thread = process.thread(4711 + number as u32, "app");
    thread.stack(own.start, own.end).enter(
        10 + number as u64,
        INNER,
        FIRST + 0x80,
        own.end - 0x100,
    );
    thread
}

/// The thread leaves that call, and ends.
fn ends(mut thread: ThreadWriter, number: usize) {
    thread.exit(9000, INNER, 0, OWN[number].end - 0x100);
    thread.finish().unwrap();
}

/// A call of `work` on another stack is left so many bytes above its enter: others may be, too.
fn leaves_at(thread: &mut ThreadWriter, by: i64) {
    thread
        .enter(100, WORK, FIRST + 0x20, OTHER)
        .exit(110, WORK, 0, OTHER.wrapping_add_signed(by));
}

/// The thread makes [`STACK`], and the fiber there calls `body` at 210.
fn begins(thread: &mut ThreadWriter) {
    thread
        .stack_made(200, STACK, OWN[0].end - 0x200)
        .enter(210, BODY, FIRST + 0x20, BASE);
}

/// `body` calls `work`.
fn works(thread: &mut ThreadWriter, time: u64, sp: u64) {
    thread.enter(time, WORK, BODY + 0x20, sp);
}

/// The thread goes back to its own stack, and calls `leaf` there.
fn goes_back(thread: &mut ThreadWriter, time: u64) {
    let sp = OWN[0].end - 0x180;
    thread
        .enter(time, LEAF, INNER + 0x20, sp)
        .exit(time + 10, LEAF, 0, sp);
}

/// The thread goes on to a fiber elsewhere, which calls `body`.
fn goes_away(thread: &mut ThreadWriter) {
    thread.enter(4000, BODY, FIRST + 0x20, OTHER + 0x1000);
}

/// What is told of a thread that does all this within `inner`.
fn decoded_of(does: impl FnOnce(&mut ThreadWriter)) -> Decoded<Log> {
    decoded(|process| {
        let mut thread = thread(process, 0);
        does(&mut thread);
        ends(thread, 0);
    })
}

/// The exit of a thread that does this, and has gone back to its own stack.
fn exit_behind(does: impl FnOnce(&mut ThreadWriter), exit: impl FnOnce(&mut ThreadWriter)) -> Exit {
    exit_of(&decoded_of(|thread| {
        does(thread);
        goes_back(thread, 4000);
        exit(thread);
    }))
}

/// The exit of `work` with this stack pointer, of a thread that does this, and has gone away.
fn decoded_on_own(does: impl FnOnce(&mut ThreadWriter), sp: u64) -> Decoded<Log> {
    decoded_of(|thread| {
        does(thread);
        goes_away(thread);
        leaves_work(sp)(thread);
    })
}

fn leaves_work(sp: u64) -> impl FnOnce(&mut ThreadWriter) {
    move |thread| _ = thread.exit(EXIT, WORK, 0, sp)
}

/// The stacks of two fibers lie side by side, and the lower one was taken for gone: an exit there
/// seems to be that of the upper one's call, in a frame that has grown. Nor is it known by that how
/// calls of the function are left.
#[test]
fn an_exit_far_below_a_call_that_rests_is_not_its_for_sure() {
    let at = OTHER + 0x4000;
    let of = |below: u64| {
        let decoded = decoded_of(|thread| {
            thread
                .enter(100, BODY, FIRST + 0x20, at + 0x80)
                .enter(110, WORK, BODY + 0x20, at);
            goes_back(thread, 120);
            leaves_work(at - below)(thread);
        });
        let mut told = decoded.sinks.iter().flat_map(|(_, log)| &log.0);
        let unsure = told.any(|told| matches!(told, Told::Unsure(_)));
        (exit_of(&decoded), unsure)
    };
    assert_eq!(of(0x200), (Exit::Ends(110), false));
    assert_eq!(of(0x2000), (Exit::Ends(110), true));
    let again = decoded_of(|thread| {
        for (at, time) in [(at, 100), (at + 0x1_0000, 200)] {
            thread.enter(time, BODY, FIRST + 0x20, at + 0x80).enter(
                time + 10,
                WORK,
                BODY + 0x20,
                at,
            );
            goes_back(thread, time + 20);
        }
        thread.exit(300, WORK, 0, at - 0x2000);
        thread
            .enter(310, WORK, BODY + 0x20, at)
            .enter(320, LEAF, INNER + 0x20, OWN[0].end - 0x180)
            .enter(330, WORK, FIRST + 0x20, at - 0x2030);
        leaves_work(at - 0x2000)(thread);
    });
    assert_eq!(exit_of(&again), Exit::Ends(330));
}

/// Where it is not known that calls of its function are left there, an exit above the frame that
/// the innermost call was made from is an outer call's: an exception has left the inner one.
#[test]
fn an_exit_far_above_the_innermost_call_is_an_outer_calls() {
    let deep = AT - 0x2000;
    let does = |thread: &mut ThreadWriter| {
        leaves_at(thread, 0x20);
        begins(thread);
        works(thread, 220, AT);
        thread.enter(230, WORK, WORK + 0x20, deep);
    };
    assert_eq!(exit_behind(does, leaves_work(deep)), Exit::Ends(230));
    assert_eq!(exit_behind(does, leaves_work(deep + 0x20)), Exit::Ends(230));
    assert_eq!(exit_behind(does, leaves_work(AT + 0x10)), Exit::Ends(220));
}

/// Though the innermost call on the stack above has its frame so that it could have been left
/// there.
#[test]
fn an_exit_below_a_stack_that_was_made_is_another_fibers() {
    let (beneath, lowest) = (STACK.start - 0x80, STACK.start + 0x80);
    let does = |thread: &mut ThreadWriter| {
        leaves_at(thread, beneath.wrapping_sub(lowest) as i64);
        thread.enter(150, WORK, FIRST + 0x20, beneath);
        begins(thread);
        works(thread, 220, lowest);
    };
    assert_eq!(exit_behind(does, leaves_work(beneath)), Exit::Ends(150));
}

#[test]
fn an_exit_of_another_function_is_not_the_innermost_calls() {
    let does = |thread: &mut ThreadWriter| {
        leaves_at(thread, 0x40);
        begins(thread);
        works(thread, 220, AT);
    };
    let leaves_body = |thread: &mut ThreadWriter| _ = thread.exit(EXIT, BODY, 0, AT + 0x40);
    assert_eq!(exit_behind(does, leaves_body), Exit::Ends(210));
    assert_eq!(exit_behind(does, leaves_work(AT + 0x40)), Exit::Ends(220));
}

/// The same on a stack that was not seen to be made.
#[test]
fn an_exit_at_the_innermost_call_of_another_function_is_not_its() {
    let does = |thread: &mut ThreadWriter| {
        thread.enter(210, BODY, FIRST + 0x20, BASE);
        works(thread, 220, AT);
    };
    let leaves_body = |thread: &mut ThreadWriter| _ = thread.exit(EXIT, BODY, 0, AT);
    assert_eq!(exit_behind(does, leaves_body), Exit::Unmatched);
    assert_eq!(exit_behind(does, leaves_work(AT)), Exit::Ends(220));
}

/// By `-mfentry`, a call is left with the stack pointer that it was entered with, whatever is known
/// of calls of its function by the other way in.
#[test]
fn an_exit_that_tells_no_function_is_of_the_call_that_was_entered_there() {
    let does = |thread: &mut ThreadWriter| {
        leaves_at(thread, 0x40);
        begins(thread);
        thread.entry(220, WORK, BODY + 0x20, AT);
    };
    let leaves = |sp: u64| move |thread: &mut ThreadWriter| _ = thread.leave(EXIT, sp);
    assert_eq!(exit_behind(does, leaves(AT)), Exit::Ends(220));
    assert_eq!(exit_behind(does, leaves(AT + 0x40)), Exit::Unmatched);
}

/// The program says that a strand runs of which nothing was heard: the stack may have been given to
/// that.
#[test]
fn an_exit_of_a_strand_that_was_just_announced_is_not_that_of_the_fiber_before() {
    let of = |announced: bool| {
        let does = |thread: &mut ThreadWriter| {
            leaves_at(thread, 0x40);
            begins(thread);
            works(thread, 220, AT);
        };
        exit_behind(does, |thread| {
            if announced {
                thread.strand_switch(4500, 8);
            }
            thread.exit(EXIT, WORK, 0, AT + 0x40);
        })
    };
    assert_eq!(of(true), Exit::Unmatched);
    assert_eq!(of(false), Exit::Ends(220));
}

/// The fiber that was there before is gone.
#[test]
fn an_exit_on_a_stack_that_was_made_anew_is_not_that_of_the_fiber_before() {
    let of = |anew: bool, by: u64| {
        let does = |thread: &mut ThreadWriter| {
            leaves_at(thread, 0x40);
            begins(thread);
            works(thread, 220, AT);
            if anew {
                thread.stack_made(230, STACK, OWN[0].end - 0x200);
            }
        };
        exit_behind(does, leaves_work(AT + by))
    };
    for by in [0, 0x40] {
        assert_eq!(of(true, by), Exit::Unmatched, "{by}");
        assert_eq!(of(false, by), Exit::Ends(220), "{by}");
    }
}

/// The exit of the second thread, which does this once the first has done that.
fn exit_of_second(
    first: impl FnOnce(&mut ThreadWriter),
    second: impl FnOnce(&mut ProcessWriter),
) -> Exit {
    let decoded = decoded(|process| {
        let mut thread = thread(process, 0);
        first(&mut thread);
        ends(thread, 0);
        second(process);
    });
    exit_of(&decoded)
}

/// Its place is known, and which of its calls can have been left there.
#[test]
fn an_exit_on_a_stack_that_is_a_part_of_a_threads_own_is_of_the_call_that_fits() {
    let array = OWN[0].start + 0x2000..OWN[0].start + 0x6000;
    let (base, at) = (array.end - 0x80, array.end - 0x100);
    let of = |by: i64| {
        let first = |thread: &mut ThreadWriter| {
            leaves_at(thread, 0x40);
            thread
                .stack_made(200, array.clone(), OWN[0].end - 0x200)
                .enter(205, LEAF, INNER + 0x20, array.start - 0x100)
                .enter(210, BODY, FIRST + 0x20, base)
                .enter(220, WORK, BODY + 0x20, at)
                .enter(230, WORK, WORK + 0x20, at - 0x20)
                .exit(240, LEAF, 0, array.start - 0x100);
        };
        exit_of_second(first, |process| {
            let mut second = thread(process, 1);
            second.exit(EXIT, WORK, 0, (at - 0x20).wrapping_add_signed(by));
            ends(second, 1);
        })
    };
    assert_eq!(of(0), Exit::Ends(230));
    assert_eq!(of(0x40), Exit::Ends(220));
}

/// The memory of the stack has become that of the thread's own.
#[test]
fn an_exit_on_the_threads_own_stack_is_that_of_a_call_there() {
    let first = |thread: &mut ThreadWriter| {
        leaves_at(thread, 0x40);
        begins(thread);
        works(thread, 220, AT);
        goes_back(thread, 4000);
    };
    let exit = exit_of_second(first, |process| {
        let (mut second, other) = (process.thread(4712, "app"), OTHER + 0x1000);
        second
            .first(4500)
            .stack(STACK.start, STACK.end)
            .enter(4500, INNER, FIRST + 0x80, STACK.end - 0x40)
            // Without this, each thread would be decoded by itself.
            .enter(4502, BODY, FIRST + 0x20, other)
            .exit(4504, BODY, 0, other)
            .enter(4510, WORK, INNER + 0x20, AT + 0x10)
            .exit(EXIT, WORK, 0, AT + 0x40);
        second.finish().unwrap();
    });
    assert_eq!(exit, Exit::Ends(4510));
}

/// Where a thread has its calls of `work` on its own stack.
const WORKS: u64 = OWN[0].end - 0x180;

/// `inner` calls `work`.
fn works_on_own(thread: &mut ThreadWriter, time: u64, sp: u64) {
    thread.enter(time, WORK, INNER + 0x20, sp);
}

#[test]
fn an_exit_above_the_frame_of_the_threads_innermost_call_is_an_outer_calls() {
    let of = |sp: u64| {
        let does = |thread: &mut ThreadWriter| {
            works_on_own(thread, 220, WORKS);
            thread.enter(230, WORK, WORK + 0x20, WORKS - 0x80);
        };
        exit_of(&decoded_on_own(does, sp))
    };
    assert_eq!(of(WORKS - 0x80 + 0x40), Exit::Ends(230));
    assert_eq!(of(WORKS + 0x40), Exit::Ends(220));
}

#[test]
fn an_exit_right_below_the_threads_own_stack_is_a_fibers() {
    let (lowest, beneath) = (OWN[0].start + 0x10, OWN[0].start - 0x80);
    let does = |thread: &mut ThreadWriter| {
        thread
            .stack_made(200, OWN[0].start - 0x4000..OWN[0].start, WORKS)
            .enter(210, WORK, FIRST + 0x20, beneath);
        works_on_own(thread, 220, lowest);
    };
    let exit = exit_of(&decoded_on_own(does, beneath + 0x20));
    assert_eq!(exit, Exit::Ends(210));
}

/// A call of that function was taken for gone where the exit is: it is a fiber's, on an array.
#[test]
fn an_exit_far_below_the_threads_innermost_call_may_be_that_of_one_that_was_lost() {
    let of = |lost: u64| {
        let does = |thread: &mut ThreadWriter| {
            thread.enter(200, WORK, FIRST + 0x60, lost);
            works_on_own(thread, 220, WORKS);
        };
        let decoded = decoded_on_own(does, lost);
        (exit_of(&decoded), decoded.unresolved[0].unsure_threads)
    };
    assert_eq!(of(WORKS - 0x80), (Exit::Ends(220), 0));
    assert_eq!(of(WORKS - 0x800), (Exit::Ends(220), 1));
}

#[test]
fn an_exit_on_an_array_of_the_threads_own_stack_is_the_fibers_there() {
    let array = OWN[0].start + 0x2000..OWN[0].start + 0x6000;
    let at = array.end - 0x80;
    let does = |thread: &mut ThreadWriter| {
        thread
            .stack_made(200, array.clone(), OWN[0].end - 0x200)
            .enter(205, WORK, INNER + 0x20, array.start - 0x100)
            .enter(210, WORK, FIRST + 0x20, at);
    };
    assert_eq!(exit_of(&decoded_on_own(does, at + 0x20)), Exit::Ends(210));
}

/// It was in the middle of calls when recording began.
#[test]
fn an_exit_of_a_strand_that_was_announced_is_not_one_of_the_threads_innermost_call() {
    let of = |announced: bool| {
        let decoded = decoded_of(|thread| {
            works_on_own(thread, 220, WORKS);
            if announced {
                thread.strand_switch(230, 7);
            }
            thread.exit(240, LEAF, 0, OTHER);
            goes_away(thread);
            leaves_work(WORKS + 0x20)(thread);
        });
        exit_of(&decoded)
    };
    assert_eq!(of(true), Exit::Unmatched);
    assert_eq!(of(false), Exit::Ends(220));
}

/// Where the thread's own stack ends was not recorded: it seems to go on in what was made for the
/// fiber, which another thread ran when it was heard of last.
#[test]
fn an_exit_where_another_thread_has_a_call_open_is_that_ones() {
    let at = STACK.end - 0x40;
    let decoded = decoded(|process| {
        let (mut first, own) = (process.thread(4711, "app"), STACK.end + 0x1000);
        first
            .stack_made(5, STACK, own)
            .enter(10, INNER, FIRST + 0x80, own);
        works_on_own(&mut first, 220, STACK.end + 0x20);
        goes_away(&mut first);
        leaves_work(at)(&mut first);
        first.exit(9000, INNER, 0, own).finish().unwrap();
        let mut second = thread(process, 1);
        second.enter(230, WORK, FIRST + 0x20, at);
        ends(second, 1);
    });
    assert_eq!(exit_of(&decoded), Exit::Ends(230));
}

/// The memory of the stack has become that of a thread's own, and the fiber is gone.
#[test]
fn an_exit_where_a_fiber_is_gone_is_not_one_of_the_next_that_begins() {
    let decoded = decoded(|process| {
        let (mut first, next) = (thread(process, 0), STACK.end + 0x80);
        leaves_at(&mut first, BASE.wrapping_sub(next) as i64);
        begins(&mut first);
        goes_back(&mut first, 4000);
        first.enter(4600, WORK, FIRST + 0x20, next);
        goes_back(&mut first, 4700);
        leaves_work(BASE)(&mut first);
        ends(first, 0);
        let mut second = process.thread(4712, "app");
        second
            .first(4500)
            .made_by(1)
            .stack(STACK.start, STACK.end)
            .enter(4500, INNER, FIRST + 0x80, STACK.end - 0x40)
            .exit(9000, INNER, 0, STACK.end - 0x40)
            .finish()
            .unwrap();
    });
    assert_eq!(exit_of(&decoded), Exit::Unmatched);
}

/// Another thread ran the fiber when it was heard of last.
#[test]
fn an_exit_of_a_fiber_that_has_gone_to_another_thread_is_its_innermost_calls() {
    for by in [0, 0x40] {
        let first = |thread: &mut ThreadWriter| {
            leaves_at(thread, 0x40);
            begins(thread);
            works(thread, 220, AT);
        };
        let exit = exit_of_second(first, |process| {
            let mut second = thread(process, 1);
            second.exit(EXIT, WORK, 0, AT + by);
            ends(second, 1);
        });
        assert_eq!(exit, Exit::Ends(220), "{by}");
    }
}

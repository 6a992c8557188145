//! Which open call one is close below, and what that tells: hardly ever is a call by code that is
//! not traced on another stack then.

use crate::log::Told;
use crate::made_stacks::{BODY, FIRST, MAIN, OWN, STACKS, STEP, told_with, written};
use heddle_strands::Kind;
use heddle_trace_file::write::ThreadWriter;
use heddle_trace_file::{Way, Why};

/// Where the code that is not traced makes calls of `step` from.
const SITE: u64 = FIRST + 0x40;

/// What is told of a thread that does this, with these facts of the code.
fn told_of(
    facts: &str,
    does: impl FnOnce(&mut ThreadWriter, &mut dyn FnMut() -> u64),
) -> Vec<Told> {
    let directory = tempfile::tempdir().unwrap();
    told_with(&written(directory.path(), does), facts)
}

/// The strand of the last call, its depth, and whether the strand is sure.
fn last(told: &[Told]) -> (u64, usize, bool) {
    let last = told.iter().rev().find_map(|told| match told {
        Told::Enter(id, _, _, _, _, depth, _) => Some((*id, *depth)),
        _ => None,
    });
    let (id, depth) = last.unwrap();
    (id.number(), depth, !told.contains(&Told::Unsure(id)))
}

fn is_fiber(told: &Told) -> bool {
    matches!(told, Told::Strand("born", _, Kind::Fiber, ..))
}

/// Where the n-th of many fibers has its outermost call.
fn base(number: u64) -> u64 {
    STACKS[1].end + (number << 20)
}

/// So many fibers begin with a call from [`SITE`], and rest.
fn begin(thread: &mut ThreadWriter, next: &mut dyn FnMut() -> u64, fibers: u64) {
    for number in 1..=fibers {
        thread.entry(next(), STEP, SITE, base(number));
    }
}

#[test]
fn a_call_close_below_that_of_the_stack_that_runs_is_no_fibers_first_for_sure() {
    let of = |fibers: u64, below: u64, facts: &str| {
        let told = told_of(facts, |thread, next| {
            begin(thread, next, fibers);
            let sp = base(41);
            thread.entry(next(), BODY, FIRST + 0x20, sp);
            for _ in 0..2 {
                thread
                    .entry(next(), STEP, SITE, sp - below)
                    .leave(next(), sp - below);
            }
        });
        let (_, depth, is_sure) = last(&told);
        (depth, is_sure)
    };
    // The code tells that the second is not made behind the first.
    let begins = "240 1 first-call -\n";
    for facts in ["", begins] {
        assert_eq!(of(40, 0x40, facts), (0, false));
        assert_eq!(of(40, 0x800, facts), (0, true));
        // So few calls may have been callbacks, on fibers whose functions have no hooks.
        assert_eq!(of(10, 0x800, facts), (0, false));
        assert_eq!(of(10, 0x1800, facts), (0, true));
    }
}

/// Where calls from that site were callbacks, too, one close below another stack's is not for sure.
#[test]
fn a_call_close_below_that_of_a_stack_that_rests_may_be_that_ones() {
    let of = |called_back: u64, below: u64| {
        let told = told_of("", |thread, next| {
            let sp = base(20);
            thread.entry(next(), BODY, FIRST + 0x20, sp);
            for _ in 0..called_back {
                thread
                    .entry(next(), STEP, SITE, sp - 0x840)
                    .leave(next(), sp - 0x840);
            }
            begin(thread, next, 10);
            thread.entry(next(), BODY, FIRST + 0x20, base(30)).entry(
                next(),
                STEP,
                SITE,
                sp - below,
            );
        });
        let (_, depth, is_sure) = last(&told);
        (depth, is_sure)
    };
    assert_eq!([of(0, 0x840), of(0, 0x40)], [(0, true); 2]);
    assert_eq!([of(6, 0x840), of(6, 0x40)], [(0, true), (0, false)]);
}

/// By `-finstrument-functions`, the stack pointer at a hook is below the frame of its function.
#[test]
fn a_call_with_a_large_frame_is_as_close_as_its_frame_begins() {
    let of = |way: Way, facts: &str| {
        let told = told_of(facts, |thread, next| {
            let (sp, below) = (STACKS[1].end - 0x80, STACKS[1].end - 0x1_20c0);
            thread.entry(next(), BODY, FIRST + 0x20, sp);
            match way {
                Way::Instrumented => thread.enter(next(), STEP, SITE, below),
                Way::Entry => thread.entry(next(), STEP, SITE, below),
            };
        });
        let fibers = told.iter().filter(|told| is_fiber(told));
        (fibers.count(), last(&told).1)
    };
    let large = "500 12000 frame -\n108 0 enter-call 100\n508 0 enter-call 500\n";
    assert_eq!(of(Way::Instrumented, large), (1, 1));
    assert_eq!(of(Way::Entry, large), (2, 0));
    assert_eq!(of(Way::Instrumented, ""), (2, 0));
    // It is larger than what lies between them: so they are on different stacks.
    let larger = large.replace("12000", "20000");
    assert_eq!(of(Way::Instrumented, &larger), (2, 0));
}

/// By `-mfentry`, the stack pointer at a hook is above the frame of its function.
#[test]
fn a_call_in_the_frame_of_an_open_one_is_a_fibers_on_an_array_there() {
    let of = |below: u64, facts: &str| {
        let told = told_of(facts, |thread, next| {
            let sp = STACKS[1].end - 0x80;
            thread
                .entry(next(), BODY, FIRST + 0x20, sp)
                .entry(next(), STEP, SITE, sp - below);
        });
        let fibers = told.iter().filter(|told| is_fiber(told));
        (fibers.count(), last(&told).1)
    };
    let large = "100 4000 frame -\n108 0 entry-call -\n";
    assert_eq!(of(0x100, large), (2, 0));
    assert_eq!(of(0x4008, large), (1, 1));
    assert_eq!(of(0x100, ""), (1, 1));
    // What it calls is so far below at least.
    let larger = large.replace("4000", "12000");
    assert_eq!(of(0x1_2008, &larger), (1, 1));
    assert_eq!(of(0x1_2008, ""), (2, 0));
}

/// What lies between a call and the frame that it is below is on an array there.
#[test]
fn a_call_below_a_frame_with_a_fibers_stack_is_made_by_what_has_the_frame() {
    let strands = |size: u64, before: Option<(u64, u64)>| {
        let facts = format!("100 {size:x} frame -\n108 0 entry-call -\n");
        let sp = base(1);
        let told = told_of(&facts, |thread, next| {
            thread.entry(next(), BODY, FIRST + 0x20, sp).entry(
                next(),
                STEP,
                FIRST + 0x20,
                sp - 0x100,
            );
            if let Some((site, sp)) = before {
                thread.entry(next(), STEP, site, sp).leave(next(), sp);
            }
            thread.entry(next(), STEP, SITE, sp - size - 0x200);
        });
        (
            last(&told).0,
            told.iter().filter(|told| is_fiber(told)).count(),
        )
    };
    for size in [0x4000, 0x1_2000] {
        let goes_on = (BODY + 0x40, base(1) - size - 0x100);
        assert_eq!(strands(size, Some(goes_on)), (2, 2));
        // A thread has gone back to the fiber unseen: from its array, or from elsewhere.
        assert_eq!(strands(size, None), (2, 2));
        assert_eq!(strands(size, Some((MAIN + 0x40, OWN - 0x100))), (2, 2));
    }
    assert_eq!(strands(0x80, None), (3, 2), "on another stack");
}

/// Where a fiber was left, another begins with a function whose frame begins above that one's call.
#[test]
fn a_call_whose_frame_begins_above_an_open_one_is_on_a_stack_that_is_used_again() {
    let of = |facts: &str| {
        let told = told_of(facts, |thread, next| {
            let sp = STACKS[1].end - 0x80;
            thread
                .enter(next(), BODY, FIRST + 0x20, sp)
                .enter(next(), STEP, SITE, sp - 0x7c0);
        });
        let fibers = told.iter().filter(|told| is_fiber(told));
        (fibers.count(), last(&told).1)
    };
    let hooks = "108 0 enter-call 100\n508 0 enter-call 500\n";
    assert_eq!(of(&format!("500 7d0 frame -\n{hooks}")), (2, 0));
    assert_eq!(of(&format!("500 700 frame -\n{hooks}")), (1, 1));
}

/// The fiber that rests next above a call has not made it, if none of its calls can have: another
/// has, on whose stack its maker's call is nearer than on the one that ran before.
#[test]
fn a_call_is_that_of_the_nearest_call_of_its_function_on_any_stack() {
    let told = told_of("", |thread, next| {
        begin(thread, next, 10);
        let sp = STACKS[0].end - 0x80;
        thread
            .entry(next(), BODY, FIRST + 0x20, sp)
            .entry(next(), STEP, SITE, sp - 0x100)
            .entry(next(), BODY, FIRST + 0x20, sp + 0xfe00)
            .entry(next(), STEP, BODY + 0x40, sp - 0x110);
    });
    let strand = |function: u64, nth: usize| {
        let mut enters = told.iter().filter_map(|told| match told {
            Told::Enter(id, _, _, entered, ..) if entered.0 == function => Some(*id),
            _ => None,
        });
        enters.nth(nth).unwrap()
    };
    assert_ne!(strand(STEP, 10), strand(BODY, 0));
    assert_eq!(strand(STEP, 11), strand(BODY, 0));
}

/// A fiber's calls were taken for gone, as another one seemed to begin in their place: what is made
/// there next may be theirs rather than that of the fiber on the stack above.
#[test]
fn a_call_may_be_that_of_a_nearer_call_of_its_function_that_was_taken_for_gone() {
    let of = |above: u64, is_taken: bool| {
        let told = told_of("", |thread, next| {
            begin(thread, next, 10);
            let sp = base(20);
            thread.entry(next(), BODY, FIRST + 0x20, sp + above).entry(
                next(),
                BODY,
                FIRST + 0x20,
                sp,
            );
            if is_taken {
                thread
                    .entry(next(), STEP, SITE, sp)
                    .leave(next(), sp)
                    .entry(next(), STEP, BODY + 0x40, sp - 0x40);
            }
        });
        last(&told)
    };
    assert_eq!(of(0x4000, false), (13, 0, true));
    assert_eq!(of(0x4000, true), (12, 1, false));
}

/// One that is much further below than others from its place may be another call's, which was taken
/// for gone.
#[test]
fn a_call_is_its_makers_for_sure_if_it_is_as_close_as_others() {
    let of = |below: u64| {
        let told = told_of("", |thread, next| {
            let sp = base(1);
            thread.enter(next(), BODY, FIRST + 0x20, sp);
            for below in [0x40, below] {
                thread.enter(next(), STEP, BODY + 0x40, sp - below).exit(
                    next(),
                    STEP,
                    0,
                    sp - below,
                );
            }
        });
        last(&told)
    };
    assert_eq!(of(0x40), (2, 1, true));
    assert_eq!(of(0x2000), (2, 1, false));
}

/// The same of a call that code without hooks makes, below the frame of the open one.
#[test]
fn a_callback_is_one_for_sure_if_it_is_as_close_as_others() {
    let of = |below: u64, facts: &str| {
        let told = told_of(facts, |thread, next| {
            let sp = base(1);
            thread.entry(next(), STEP, FIRST + 0x20, sp);
            for _ in 0..4 {
                thread
                    .entry(next(), STEP, SITE, sp - 0x40)
                    .leave(next(), sp - 0x40);
            }
            let sp = base(2);
            thread
                .entry(next(), BODY, FIRST + 0x20, sp)
                .entry(next(), STEP, SITE, sp - below);
        });
        last(&told)
    };
    let large = "100 2000 frame -\n108 0 entry-call -\n";
    assert_eq!(of(0x40, ""), (3, 1, true));
    assert_eq!(of(0x2040, ""), (3, 1, false));
    assert_eq!(of(0x2040, large), (3, 1, true));
}

/// Where a fiber rests, another may have begun, which goes deeper before its first call.
#[test]
fn what_a_resting_fiber_has_called_back_is_its_for_sure_if_it_returns() {
    let of = |returns: bool| {
        let told = told_of("", |thread, next| {
            let sp = base(1);
            thread
                .entry(next(), BODY, FIRST + 0x20, sp)
                .entry(next(), STEP, MAIN + 0x40, OWN - 0x100)
                .leave(next(), OWN - 0x100)
                .entry(next(), STEP, SITE, sp - 0x400)
                .leave(next(), sp - 0x400);
            if returns {
                thread.leave(next(), sp);
            }
        });
        last(&told)
    };
    assert_eq!(of(true), (2, 1, true));
    assert_eq!(of(false), (2, 1, false));
}

/// A thread's own stack may hold a fiber's: an array of the function that was taken for left.
#[test]
fn a_thread_is_not_sure_where_calls_and_exits_on_its_stack_belong_to_none() {
    let is_sure = |by_open: bool, by_gone: bool, exit: Option<u64>| {
        let told = told_of("", |thread, next| {
            if by_open {
                thread.enter(next(), BODY, MAIN + 0x20, OWN - 0x2000);
            }
            thread.enter(next(), STEP, FIRST + 0x20, OWN - 0x1000);
            if by_gone {
                thread.enter(next(), STEP, BODY + 0x40, OWN - 0x2040).exit(
                    next(),
                    STEP,
                    0,
                    OWN - 0x2040,
                );
            }
            if let Some(below) = exit {
                thread.exit(next(), BODY, 0, OWN - below);
            }
        });
        !told.iter().any(|told| matches!(told, Told::Unsure(_)))
    };
    assert!(is_sure(true, false, None) && is_sure(false, false, None));
    assert!(!is_sure(true, true, None), "by a call that was left");
    assert!(!is_sure(false, false, Some(0x1040)), "without an enter");
    assert!(is_sure(false, false, Some(0x5000)), "of nothing near");
}

/// While recording was paused, calls may have ended that seem to be around others.
#[test]
fn a_thread_is_not_sure_whose_calls_may_have_ended_while_it_was_paused() {
    let of = |site: u64, exit: u64| {
        let told = told_of("", |thread, next| {
            thread
                .enter(next(), BODY, MAIN + 0x20, OWN - 0x100)
                .gap(next(), Why::Paused, None)
                .enter(next(), STEP, site, OWN - 0x200)
                .exit(next(), STEP, 0, OWN - 0x200)
                .exit(next(), BODY, 0, exit);
        });
        told.iter().any(|told| matches!(told, Told::Unsure(_)))
    };
    assert!(!of(BODY + 0x40, OWN - 0x100));
    assert!(of(STEP + 0x40, OWN - 0x100), "by a call that was not seen");
    assert!(of(BODY + 0x40, OWN - 0x180), "as by another call of it");
}

/// An exit where a call was, which an exception has left before, is that of another one then.
#[test]
fn no_fiber_has_begun_where_a_call_was_left_before_a_pause() {
    let told = told_of("", |thread, next| {
        let sp = OWN - 0x100;
        thread
            .entry(next(), STEP, FIRST + 0x40, sp)
            .entry(next(), BODY, FIRST + 0x60, sp)
            .leave(next(), sp)
            .gap(next(), Why::Paused, None)
            .leave(next(), sp);
    });
    assert!(!told.iter().any(is_fiber));
}

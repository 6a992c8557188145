//! Stacks on which fibers begin where others were, as far as the code of the function tells that
//! makes their outermost calls.

use crate::log::Told;
use crate::made_stacks::{BODY, FIRST, MAIN, OWN, RUN, STACKS, STEP, told_with, written};
use heddle_strands::Kind;
use heddle_trace_file::Addr;
use heddle_trace_file::write::ThreadWriter;

/// How many fibers there are, and how many of them are not sure, with these facts of the code: a
/// fiber's outermost call returns if it `ends`, or rests; then there is another call, so far below.
fn fibers(ends: bool, below: u64, facts: &str) -> (usize, usize) {
    let directory = tempfile::tempdir().unwrap();
    let trace = written(directory.path(), |thread, next| {
        let sp = STACKS[0].end - 0x80;
        thread.entry(next(), BODY, FIRST + 0x20, sp);
        if ends {
            thread.leave(next(), sp);
        }
        thread
            .entry(next(), STEP, FIRST + 0x40, sp - below)
            .leave(next(), sp - below);
    });
    let told = told_with(&trace, facts);
    (born(&told), unsure(&told).len())
}

/// The numbers of the strands that are not sure.
fn unsure(told: &[Told]) -> Vec<u64> {
    let unsure = told.iter().filter_map(|told| match told {
        Told::Unsure(id) => Some(id.number()),
        _ => None,
    });
    unsure.collect()
}

/// The fibers that there are.
fn born(told: &[Told]) -> usize {
    let is_born = |told: &&Told| matches!(told, Told::Strand("born", _, Kind::Fiber, ..));
    told.iter().filter(is_born).count()
}

#[test]
fn a_call_where_another_has_its_frame_is_not_called_back_from_that() {
    let of = |frame: &str| fibers(false, 0x40, &format!("240 {frame} call-frame -\n")).0;
    assert_eq!([of("38"), of("40"), of("60")], [1, 2, 2]);
    // A frame that may vary takes what the code at its function's beginning makes, and 8 more.
    let of = |made: &str| {
        let facts = format!("240 0 call-frame -\n200 {made} frame -\n");
        fibers(false, 0x40, &facts).0
    };
    assert_eq!([of("30"), of("38")], [1, 2]);
    // What is inlined into the function that makes the call lies in its frame.
    let facts = "240 60 call-frame -\n208 0 enter-call 100\n";
    assert_eq!(fibers(false, 0x40, facts).0, 1);
    // In the same place, there is not even a frame between them.
    assert_eq!(fibers(false, 0, "").0, 2);
}

#[test]
fn the_code_tells_whether_a_fiber_goes_on_or_another_begins() {
    let of = |begins: u8, follows: bool| {
        let follows = if follows { "220 0 next-call 240\n" } else { "" };
        let facts = format!("220 1 first-call -\n240 {begins} first-call -\n{follows}");
        fibers(true, 0, &facts)
    };
    assert_eq!(of(0, true), (1, 0));
    assert_eq!(of(1, false), (2, 0));
    // It may be either: whatever it is taken for is not sure.
    assert!(of(1, true).1 > 0 && fibers(true, 0, "").1 > 0);
}

/// Though a fiber has begun with its second call on a new stack.
#[test]
fn a_function_that_makes_several_calls_may_make_each_of_them_behind_another() {
    let of = |facts: &str| {
        let directory = tempfile::tempdir().unwrap();
        let trace = written(directory.path(), |thread, next| {
            let [new, again] = [STACKS[1].end - 0x80, STACKS[0].end - 0x80];
            for (function, site, sp) in
                [(STEP, 0x40, new), (BODY, 0x20, again), (STEP, 0x40, again)]
            {
                thread
                    .entry(next(), function, FIRST + site, sp)
                    .leave(next(), sp);
            }
        });
        let told = told_with(&trace, facts);
        (born(&told), unsure(&told).len())
    };
    assert_eq!(of(""), (3, 2));
    let both = "220 1 first-call -\n240 1 first-call -\n";
    assert_eq!(of(&format!("{both}220 0 next-call 240\n")), (3, 2));
    assert_eq!(of(both), (3, 0));
}

/// All fibers that were seen to begin on new stacks did with that call.
#[test]
fn a_call_is_a_fibers_first_if_no_fiber_begins_with_another() {
    let directory = tempfile::tempdir().unwrap();
    let trace = written(directory.path(), |thread, next| {
        let base = |number: u64| STACKS[1].end + (number << 20);
        for number in 1..=4 {
            thread
                .entry(next(), STEP, FIRST + 0x40, base(number))
                .leave(next(), base(number));
        }
        for (function, site) in [(BODY, 0x20), (STEP, 0x40)] {
            thread
                .entry(next(), function, FIRST + site, base(1))
                .leave(next(), base(1));
        }
    });
    let told = told_with(&trace, "");
    let last = told.iter().rev().find_map(|told| match told {
        Told::Enter(id, _, _, Addr(STEP), ..) => Some(*id),
        _ => None,
    });
    assert!(!told.contains(&Told::Unsure(last.unwrap())));
}

#[test]
fn a_call_is_inlined_only_into_code_that_calls_the_hook_in_its_name() {
    let of = |entered: u64, facts: &str| {
        let directory = tempfile::tempdir().unwrap();
        let trace = written(directory.path(), |thread, next| {
            let sp = STACKS[0].end - 0x80;
            thread
                .enter(next(), BODY, FIRST + 0x20, sp)
                .enter(next(), entered, FIRST + 0x20, sp);
        });
        born(&told_with(&trace, facts))
    };
    let (body, step) = ("108 0 enter-call 100\n", "118 0 enter-call 500\n");
    assert_eq!(of(BODY, &format!("{body}{step}")), 2);
    assert_eq!(of(BODY, &format!("{body}118 0 enter-call 100\n")), 1);
    assert_eq!(of(STEP, &format!("{body}{step}")), 1);
    assert_eq!(of(STEP, &format!("{body}118 0 enter-call 400\n")), 2);
    // Where the code does not tell, it may be.
    assert_eq!(of(STEP, &format!("{body}118 0 enter-call -\n")), 1);
    assert_eq!(of(STEP, body), 2);
}

#[test]
fn a_tail_called_exit_is_the_innermost_calls_though_its_caller_has_that_stack_pointer() {
    let directory = tempfile::tempdir().unwrap();
    let trace = written(directory.path(), |thread, next| {
        let sp = STACKS[0].end - 0x80;
        thread
            .enter(next(), BODY, FIRST + 0x20, sp)
            .enter(next(), STEP, BODY + 0x20, sp - 0x20)
            .enter(next(), STEP, STEP + 0x20, sp - 0x40)
            .exit(next(), STEP, 0, sp - 0x20)
            .exit(next(), STEP, 0, sp);
    });
    let told = told_with(&trace, "");
    let unmatched = told
        .iter()
        .filter(|told| matches!(told, Told::Unmatched(..) | Told::Unsure(_)));
    assert_eq!(unmatched.count(), 0);
}

#[test]
fn what_uninstrumented_code_calls_is_not_in_a_call_that_has_its_frame_there() {
    let of = |frame: &str| {
        let directory = tempfile::tempdir().unwrap();
        let trace = written(directory.path(), |thread, next| {
            // It has ended without an exit, as by `pthread_exit`; and a destructor calls.
            thread
                .entry(next(), BODY, FIRST + 0x20, OWN - 0x100)
                .entry(next(), STEP, FIRST + 0x40, OWN - 0x140)
                .leave(next(), OWN - 0x140);
        });
        let told = told_with(&trace, &format!("240 {frame} call-frame -\n"));
        let depth = told.iter().find_map(|told| match told {
            Told::Enter(_, _, _, Addr(STEP), _, depth, _) => Some(*depth),
            _ => None,
        });
        depth.unwrap()
    };
    assert_eq!([of("38"), of("40")], [2, 1]);
}

#[test]
fn fibers_that_were_left_lie_below_each_other_where_the_next_one_begins() {
    let directory = tempfile::tempdir().unwrap();
    let trace = written(directory.path(), |thread, next| {
        let (first, back) = (FIRST + 0x20, FIRST + 0x60);
        let (sp, mut other) = (STACKS[0].end - 0x80, STACKS[1].end);
        for _ in 0..6 {
            other += 1 << 20;
            thread.entry(next(), BODY, first, other);
        }
        let goes_on = |thread: &mut ThreadWriter, next: &mut dyn FnMut() -> u64, sp: u64| {
            thread.entry(next(), STEP, back, sp).leave(next(), sp);
        };
        for _ in 0..4 {
            goes_on(thread, next, other - 0x330);
        }
        // The second begins lower than the first, and the third where that did.
        thread
            .entry(next(), BODY, first, sp)
            .entry(next(), STEP, BODY + 0x20, sp - 0x40);
        goes_on(thread, next, other - 0x330);
        thread.entry(next(), BODY, first, sp - 0x2d0);
        goes_on(thread, next, other - 0x330);
        thread.entry(next(), BODY, first, sp);
        // Close below the second, and not as far from its own call as others.
        goes_on(thread, next, sp - 0x310);
    });
    let told = told_with(&trace, "");
    let calls = told.iter().filter_map(|told| match told {
        Told::Enter(id, _, _, function, _, depth, _) => Some((id.number(), function.0, *depth)),
        _ => None,
    });
    let calls: Vec<_> = calls.collect();
    // After the thread, the six, and the two that were left.
    assert_eq!(calls[calls.len() - 2..], [(10, BODY, 0), (10, STEP, 1)]);
}

#[test]
fn what_is_left_with_its_fiber_was_a_callback_nevertheless() {
    const FIBERS: usize = 20;
    let directory = tempfile::tempdir().unwrap();
    let trace = written(directory.path(), |thread, next| {
        let sp = STACKS[0].end - 0x80;
        for _ in 0..FIBERS {
            thread.entry(next(), BODY, FIRST + 0x20, sp).entry(
                next(),
                STEP,
                FIRST + 0x60,
                sp - 0x330,
            );
        }
    });
    let told = told_with(&trace, "");
    let calls = told.iter().filter_map(|told| match told {
        Told::Enter(_, _, _, Addr(STEP), _, depth, _) => Some(*depth),
        _ => None,
    });
    assert_eq!(calls.collect::<Vec<_>>(), [1; FIBERS]);
    assert_eq!(born(&told), FIBERS);
}

/// On many stacks, a fiber's call has ended before one comes from elsewhere. None has begun so on a
/// new stack: but another function may make the first calls of fibers that begin later.
#[test]
fn a_later_call_is_a_fibers_next_for_sure_by_the_same_function_alone() {
    let of = |site: u64| {
        let directory = tempfile::tempdir().unwrap();
        let trace = written(directory.path(), |thread, next| {
            for (function, site) in [(BODY, FIRST + 0x20), (STEP, site)] {
                for number in 1..=20 {
                    let base = STACKS[1].end + (number << 20);
                    thread
                        .entry(next(), function, site, base)
                        .leave(next(), base);
                }
            }
        });
        let told = told_with(&trace, "");
        (born(&told), unsure(&told).len())
    };
    assert_eq!(of(FIRST + 0x40), (20, 0));
    assert_eq!(of(RUN + 0x40), (20, 20));
}

/// The code jumps to what the compiler has made of the function for this caller.
#[test]
fn a_fiber_goes_on_with_a_jump_to_a_clone_of_the_function() {
    let fibers = |symbol: &str| {
        let directory = tempfile::tempdir().unwrap();
        let trace = written(directory.path(), |thread, next| {
            let base = STACKS[1].end;
            for (function, site) in [(BODY, FIRST + 0x20), (STEP, RUN + 0x40)] {
                thread
                    .enter(next(), function, site, base)
                    .exit(next(), function, 0, base);
            }
        });
        let facts = format!("600 100 local {symbol}\n608 0 enter-call 500\n220 0 next-jump 600\n");
        born(&told_with(&trace, &facts))
    };
    assert_eq!(fibers("step.constprop.0"), 1);
    assert_eq!(fibers("other"), 2);
}

/// So many fibers begin and rest on stacks far from each other, each with a callback; then another
/// on `STACKS[0]`, which is within a call of `RUN`; and what `does` does, told where that began.
fn left_on_a_stack(
    fibers: u64,
    does: impl FnOnce(&mut ThreadWriter, &mut dyn FnMut() -> u64, u64),
) -> Vec<Told> {
    let directory = tempfile::tempdir().unwrap();
    let trace = written(directory.path(), |thread, next| {
        for number in 1..=fibers {
            let base = STACKS[1].end + (number << 20);
            thread
                .entry(next(), BODY, FIRST + 0x20, base)
                .entry(next(), STEP, FIRST + 0x60, base - 0x330)
                .leave(next(), base - 0x330);
        }
        let sp = STACKS[0].end - 0x1000;
        thread
            .entry(next(), BODY, FIRST + 0x20, sp)
            .entry(next(), RUN, BODY + 0x20, sp - 0x40);
        does(thread, next, sp);
    });
    told_with(&trace, "")
}

/// The number of the strand of each call of this function, and its depth there.
fn calls_of(told: &[Told], function: u64) -> Vec<(u64, usize)> {
    let calls = told.iter().filter_map(|told| match told {
        Told::Enter(id, _, _, called, _, depth, _) if called.0 == function => {
            Some((id.number(), *depth))
        }
        _ => None,
    });
    calls.collect()
}

/// The last fiber that was resumed is left for good, as each of the others may be.
#[test]
fn a_fiber_that_ran_last_is_gone_where_another_begins_close_above() {
    let told = left_on_a_stack(20, |thread, next, sp| {
        thread
            .entry(next(), BODY, FIRST + 0x20, sp + 0x300)
            .entry(next(), STEP, FIRST + 0x60, sp - 0x50)
            .leave(next(), sp - 0x50);
    });
    // After the thread, the 20, and the one that was left.
    assert_eq!(calls_of(&told, STEP).last(), Some(&(23, 1)));
    assert!(unsure(&told).is_empty());
}

/// The memory of a fiber that was left may lie within the stack of the one that runs.
#[test]
fn a_callback_below_a_fiber_that_rests_may_be_of_the_one_that_runs() {
    let called_back = |above: u64, below: u64| {
        let told = left_on_a_stack(20, |thread, next, sp| {
            thread
                .entry(next(), BODY, FIRST + 0x20, sp + above)
                .entry(next(), STEP, FIRST + 0x60, sp - below)
                .leave(next(), sp - below);
        });
        (*calls_of(&told, STEP).last().unwrap(), unsure(&told))
    };
    assert_eq!(called_back(0xa00, 0x300), ((23, 1), vec![22, 23]));
    // So much is left of the stack of the one that runs that the other lives.
    assert_eq!(called_back(0x1000, 0x300), ((22, 2), vec![]));
}

/// So may what seems to be another fiber's first call.
#[test]
fn a_call_between_the_two_is_no_fibers_first_for_sure() {
    let begun = |above: u64| {
        let told = left_on_a_stack(8, |thread, next, sp| {
            thread.entry(next(), BODY, FIRST + 0x20, sp + above).entry(
                next(),
                BODY,
                FIRST + 0x20,
                sp - 0x4c0,
            );
        });
        (*calls_of(&told, BODY).last().unwrap(), unsure(&told))
    };
    assert_eq!(begun(0xa00), ((12, 0), vec![12]));
    assert_eq!(begun(0x1000), ((12, 0), vec![]));
}

/// A call within the frame of the thread's innermost call is that of a fiber on an array, or the
/// function is gone. Where fibers begin elsewhere, one begins there.
#[test]
fn a_fiber_begins_within_a_frame_from_where_others_do() {
    let begun = |site: u64, frame: &str| {
        let directory = tempfile::tempdir().unwrap();
        let trace = written(directory.path(), |thread, next| {
            for number in 1..=20 {
                let base = STACKS[1].end + (number << 20);
                thread.entry(next(), BODY, FIRST + 0x20, base);
            }
            thread.entry(next(), RUN, MAIN + 0x40, OWN - 0x100).entry(
                next(),
                BODY,
                site,
                OWN - 0x800,
            );
        });
        let told = told_with(
            &trace,
            &format!("400 {frame} frame -\n108 0 entry-call -\n"),
        );
        (*calls_of(&told, BODY).last().unwrap(), unsure(&told))
    };
    assert_eq!(begun(FIRST + 0x20, "2000"), ((22, 0), vec![]));
    assert_eq!(begun(FIRST + 0x40, "2000"), ((1, 2), vec![1]));
    // Below the frame, it is called back.
    assert_eq!(begun(FIRST + 0x20, "400"), ((1, 2), vec![]));
}

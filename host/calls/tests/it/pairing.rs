//! Enters and exits of shapes that real programs make.

use heddle_calls::{Growing, Loose, Node, Profile, Stack, Stats, Step};
use heddle_trace_file::write::{ThreadWriter, TraceWriter};
use heddle_trace_file::{Nanos, Trace, Why};
use proptest::prelude::*;

const MAIN: u64 = 0x1000;
const F: u64 = 0x2000;
const G: u64 = 0x3000;

fn trace(write: impl FnOnce(&mut ThreadWriter)) -> (tempfile::TempDir, Trace) {
    let directory = tempfile::tempdir().unwrap();
    let writer = TraceWriter::create(directory.path()).unwrap();
    let mut process = writer.process(1, 0, "/x").unwrap();
    let mut thread = process.thread(1, "x");
    write(&mut thread);
    thread.finish().unwrap();
    process.finish().unwrap();
    let trace = Trace::open(directory.path()).unwrap();
    (directory, trace)
}

/// Calls, total, own, min, max per function address; and what did not pair.
fn profile(write: impl FnOnce(&mut ThreadWriter)) -> (Vec<(u64, Stats)>, Loose) {
    let (_directory, trace) = trace(write);
    let process = &trace.processes()[0];
    let profile = Profile::of(&process.threads()[0], process.modules()).unwrap();
    (
        profile
            .functions
            .into_iter()
            .map(|(key, stats)| (key.address.0, stats))
            .collect(),
        profile.loose,
    )
}

fn times(stats: &Stats) -> [u64; 6] {
    [
        stats.calls,
        stats.total.0,
        stats.own.0,
        stats.min().unwrap().0,
        stats.avg().unwrap().0,
        stats.max().unwrap().0,
    ]
}

/// The tree as text: `1000 x1 (2000 x2)`.
fn tree(write: impl FnOnce(&mut ThreadWriter)) -> (String, Loose) {
    fn print(nodes: &[Node]) -> String {
        let one = |node: &Node| match node.children.as_slice() {
            [] => format!("{:x} x{}", node.label, node.calls),
            children => format!("{:x} x{} ({})", node.label, node.calls, print(children)),
        };
        nodes.iter().map(one).collect::<Vec<_>>().join(" ")
    }
    let (roots, loose) = roots(write);
    (print(&roots), loose)
}

/// The tree, each call labelled with its function's address.
fn roots(write: impl FnOnce(&mut ThreadWriter)) -> (Vec<Node>, Loose) {
    let (_directory, trace) = trace(write);
    let thread = &trace.processes()[0].threads()[0];
    let mut stack = Stack::of(thread);
    let mut growing = Growing::default();
    for event in thread.events() {
        let step = stack.feed(event.unwrap(), |span, _| growing.leave(&span));
        if step == Step::Entered {
            let entered = stack.open().last().unwrap();
            growing.enter(entered.function.0 as u32).unwrap();
        }
    }
    stack.finish(|span, _| growing.leave(&span));
    (growing.roots(), stack.loose())
}

#[test]
fn self_time_leaves_callees_out() {
    let (functions, loose) = profile(|t| {
        t.enter(0, MAIN, 0, 900)
            .enter(10, F, MAIN, 800)
            .exit(30, F, MAIN, 800)
            .enter(40, F, MAIN, 800)
            .exit(50, F, MAIN, 800)
            .exit(100, MAIN, 0, 900);
    });
    assert_eq!(times(&functions[0].1), [1, 100, 70, 100, 100, 100]);
    assert_eq!(times(&functions[1].1), [2, 30, 30, 10, 15, 20]);
    assert_eq!(loose, Loose::default());
}

#[test]
fn recursion_counts_total_time_once_through_another_function_too() {
    let (functions, _) = profile(|t| {
        t.enter(0, F, 0, 900)
            .enter(10, G, F, 800)
            .enter(20, F, G, 700);
        t.exit(30, F, G, 700)
            .exit(40, G, F, 800)
            .exit(50, F, 0, 900);
    });
    assert_eq!(functions[0].0, F);
    assert_eq!(times(&functions[0].1), [2, 50, 30, 10, 30, 50]);
}

#[test]
fn longjmp_ends_what_it_leaves_at_the_next_enter_or_exit() {
    let jump = |t: &mut ThreadWriter| {
        t.enter(0, MAIN, 0, 900)
            .enter(10, F, MAIN, 800)
            .enter(20, G, F, 700);
    };
    let unwound = Loose {
        unwound: 2,
        ..Loose::default()
    };
    let next_enter = tree(|t| {
        jump(t);
        t.enter(30, G, MAIN, 850)
            .exit(40, G, MAIN, 850)
            .exit(50, MAIN, 0, 900);
    });
    assert_eq!(
        next_enter,
        ("1000 x1 (2000 x1 (3000 x1) 3000 x1)".into(), unwound)
    );
    let same_frame_size = tree(|t| {
        jump(t);
        t.enter(30, G, MAIN + 1, 800)
            .exit(40, G, MAIN, 800)
            .exit(50, MAIN, 0, 900);
    });
    assert_eq!(same_frame_size, next_enter);
    let next_exit = tree(|t| {
        jump(t);
        t.exit(50, MAIN, 0, 900);
    });
    assert_eq!(next_exit, ("1000 x1 (2000 x1 (3000 x1))".into(), unwound));
}

#[test]
fn longjmp_to_the_outermost_call_of_a_recursion_ends_that_one() {
    let (tree, loose) = tree(|t| {
        t.enter(0, MAIN, 0, 900)
            .enter(1, F, MAIN, 800)
            .enter(2, F, F, 700)
            .enter(3, F, F, 600);
        // The outermost F leaves by a tail-called hook, so above its own stack pointer.
        t.exit(9, F, MAIN, 880).exit(10, MAIN, 0, 900);
    });
    assert_eq!(tree, "1000 x1 (2000 x1 (2000 x1 (2000 x1)))");
    assert_eq!(
        loose,
        Loose {
            unwound: 2,
            ..Loose::default()
        }
    );
}

#[test]
fn inlined_calls_alloca_and_tail_called_hooks_pair() {
    let (tree, loose) = tree(|t| {
        t.enter(0, MAIN, 0, 900)
            .enter(1, F, 0, 900)
            .enter(2, G, 0, 900)
            .exit(3, G, 0, 900)
            .exit(4, F, 0, 900);
        t.enter(5, F, MAIN, 800)
            .enter(6, G, F, 400)
            .exit(7, G, F, 480)
            .exit(8, F, MAIN, 500);
        t.exit(9, MAIN, 0, 908);
    });
    assert_eq!(tree, "1000 x1 (2000 x2 (3000 x1))");
    assert_eq!(loose, Loose::default());
}

#[test]
fn a_signal_handler_on_a_stack_above_does_not_end_what_it_interrupts() {
    let (tree, loose) = tree(|t| {
        t.stack(0, 0x1000).stack(1, 0x1000);
        t.enter(0, MAIN, 0, 900)
            .enter(1, F, MAIN, 800)
            .enter(2, G, 0x9999, 0x8000)
            .exit(3, G, 0x9999, 0x8000);
        t.exit(4, F, MAIN, 800).exit(5, MAIN, 0, 900);
    });
    assert_eq!(tree, "1000 x1 (2000 x1 (3000 x1))");
    assert_eq!(loose, Loose::default());
}

#[test]
fn what_does_not_nest_beyond_the_threads_own_stack_may_be_fibers() {
    let may_be = |write: fn(&mut ThreadWriter)| {
        let (_directory, trace) = trace(write);
        let process = &trace.processes()[0];
        Profile::of(&process.threads()[0], process.modules())
            .unwrap()
            .may_have_fibers
    };
    // A fiber below the thread's stack gives way to the thread, in its middle or behind a call of
    // its own.
    assert!(may_be(|t| {
        t.stack(1000, 2000)
            .enter(0, MAIN, 0, 1900)
            .enter(10, F, 0, 500)
            .enter(20, G, MAIN, 1800)
            .exit(30, G, MAIN, 1800)
            .exit(40, F, 0, 500)
            .exit(50, MAIN, 0, 1900);
    }));
    assert!(may_be(|t| {
        t.stack(1000, 2000)
            .enter(0, MAIN, 0, 1900)
            .enter(10, F, 0, 500)
            .exit(50, MAIN, 0, 1900);
    }));
    // Two of one function, one after the other: each exit fits the other's call.
    assert!(may_be(|t| {
        t.stack(1000, 2000)
            .enter(0, F, 0, 500)
            .enter(10, F, 0, 400)
            .exit(20, F, 0, 500)
            .exit(30, F, 0, 400);
    }));
    // What leaves its calls by a jump, or a frame that grew, does so on its own stack.
    assert!(!may_be(|t| {
        t.stack(1000, 2000)
            .enter(0, MAIN, 0, 1900)
            .enter(10, F, MAIN, 1800)
            .enter(20, G, MAIN, 1850)
            .exit(30, G, MAIN, 1840)
            .exit(50, MAIN, 0, 1900);
    }));
    // Nor does it matter where calls are that nest.
    assert!(!may_be(|t| {
        t.stack(1000, 2000)
            .enter(0, MAIN, 0, 1900)
            .enter(10, F, 0, 500)
            .exit(20, F, 0, 500)
            .exit(30, MAIN, 0, 1900);
    }));
    // Where the stack is not known, calls that did not pair say it.
    assert!(may_be(|t| {
        t.enter(0, MAIN, 0, 1900)
            .enter(10, F, 0, 500)
            .enter(20, G, MAIN, 1800);
    }));
}

#[test]
fn a_call_that_was_cut_off_has_no_duration_of_its_own() {
    // F returns after 30, is left by a jump after 5, and is open for 1000 at the end; MAIN never
    // returns.
    let events = |t: &mut ThreadWriter| {
        t.enter(0, MAIN, 0, 900)
            .enter(10, F, MAIN, 800)
            .exit(40, F, MAIN, 800)
            .enter(50, F, MAIN, 800)
            .enter(55, G, MAIN, 850)
            .exit(60, G, MAIN, 850)
            .enter(100, F, MAIN, 800)
            .enter(1100, G, F, 700);
    };
    let (functions, _) = profile(events);
    assert_eq!(times(&functions[1].1), [3, 1035, 1035, 30, 30, 30]);
    let main = functions[0].1;
    assert_eq!((main.calls, main.total.0, main.own.0), (1, 1100, 60));
    assert_eq!((main.min(), main.avg(), main.max()), (None, None, None));
    let (roots, _) = roots(events);
    let main = &roots[0];
    assert_eq!((main.min.0, main.max.0, main.open.0), (u64::MAX, 0, 1100));
    let f: Vec<_> = main
        .children
        .iter()
        .filter(|node| node.label == F as u32)
        .collect();
    let figures = |node: &Node| (node.calls, node.min.0, node.max.0, node.open.0);
    assert_eq!(figures(f[0]), (2, 30, 30, 0));
    assert_eq!(figures(f[1]), (1, u64::MAX, 0, 1000));
}

#[test]
fn what_does_not_pair_is_counted() {
    let (functions, loose) = profile(|t| {
        t.exit(5, G, 0, 950)
            .enter(10, MAIN, 0, 900)
            .enter(20, F, MAIN, 800)
            .exit(30, G, F, 800);
    });
    assert_eq!(
        loose,
        Loose {
            unmatched: 2,
            unwound: 0,
            open: 2
        }
    );
    assert_eq!(
        functions
            .iter()
            .map(|(f, stats)| (*f, stats.total))
            .collect::<Vec<_>>(),
        [(MAIN, Nanos(20)), (F, Nanos(10))]
    );
}

#[test]
fn equal_neighbours_merge_and_others_do_not() {
    let (tree, _) = tree(|t| {
        t.enter(0, MAIN, 0, 900);
        for (time, callee) in [(10, true), (20, true), (30, false), (40, true)] {
            t.enter(time, F, MAIN, 800);
            if callee {
                t.enter(time + 1, G, F, 700).exit(time + 2, G, F, 700);
            }
            t.exit(time + 5, F, MAIN, 800);
        }
        t.exit(90, MAIN, 0, 900);
    });
    assert_eq!(
        tree,
        "1000 x1 (2000 x2 (3000 x1) 2000 x1 2000 x1 (3000 x1))"
    );
}

#[test]
fn entry_hooks_pair_by_stack_pointer_and_a_tail_call_is_a_sibling() {
    let (tree, loose) = tree(|t| {
        t.entry(0, MAIN, 0, 900)
            .entry(1, F, MAIN, 800)
            .leave(2, 800)
            .entry(2, G, MAIN, 800)
            .entry(3, F, G, 700)
            .entry(4, F, F, 600)
            .leave(5, 600)
            .leave(6, 700)
            .leave(7, 800)
            .leave(8, 900);
    });
    assert_eq!(tree, "1000 x1 (2000 x1 3000 x1 (2000 x1 (2000 x1)))");
    assert_eq!(loose, Loose::default());
}

#[test]
fn entry_hooks_that_an_unwinding_left_out_end_at_the_same_place_again() {
    // From one call site in a loop: with the other hooks that would be an inlined call.
    let (tree, loose) = tree(|t| {
        t.entry(0, MAIN, 0, 900);
        for time in [10, 20, 30] {
            t.entry(time, F, MAIN, 800).entry(time + 1, G, F, 700);
        }
        t.leave(90, 900);
    });
    assert_eq!(tree, "1000 x1 (2000 x3 (3000 x1))");
    assert_eq!(
        loose,
        Loose {
            unwound: 6,
            ..Loose::default()
        }
    );
}

#[test]
fn the_exit_of_a_thunk_is_no_calls() {
    // What adjusts `this` has the stack pointer of the function that it jumps to.
    let thunk = |t: &mut ThreadWriter| {
        t.entry(1, F, MAIN, 800).leave(2, 700).entry(3, G, F, 700);
        t.leave(4, 700).leave(5, 800);
    };
    let (tree, loose) = tree(|t| {
        thunk(t.stack(1, 0x1000).entry(0, MAIN, 0, 900));
        t.leave(6, 900);
    });
    assert_eq!(tree, "1000 x1 (2000 x1 (3000 x1))");
    assert_eq!(loose, Loose::default());
    // A call that began in a gap, or before the recording, has an exit alone, too; and so does one
    // of another stack.
    let unmatched = |write: fn(&mut ThreadWriter)| profile(write).1.unmatched;
    assert_eq!(
        unmatched(|t| {
            t.stack(1, 0x1000).entry(0, MAIN, 0, 900);
            t.gap(1, Why::Paused, None).leave(2, 800).leave(3, 900);
        }),
        1
    );
    assert_eq!(unmatched(|t| _ = t.stack(1, 0x1000).leave(0, 900)), 1);
    assert_eq!(
        unmatched(|t| _ = t.stack(850, 0x1000).entry(0, MAIN, 0, 900).leave(1, 800)),
        1
    );
}

#[test]
fn hooks_of_both_kinds_nest_in_each_other() {
    // An instrumented function's stack pointer is that of its frame; the callee's return address
    // lies just below.
    let (tree, loose) = tree(|t| {
        t.entry(0, MAIN, 0, 904)
            .enter(1, F, MAIN, 800)
            .entry(2, G, F, 792)
            .enter(3, F, G, 700)
            .exit(4, F, G, 708)
            .leave(5, 792)
            .exit(6, F, MAIN, 808)
            .leave(7, 904);
    });
    assert_eq!(tree, "1000 x1 (2000 x1 (3000 x1 (2000 x1)))");
    assert_eq!(loose, Loose::default());
    // An exit whose enter was not recorded ends no call of the other kind.
    let (_, loose) = profile(|t| {
        t.enter(0, F, 0, 900).leave(1, 900).exit(2, F, 0, 900);
    });
    assert_eq!(loose.unmatched, 1);
}

#[test]
fn calls_that_a_pause_may_have_ended_stay_open_until_an_event_shows_it() {
    let pause = |t: &mut ThreadWriter| {
        t.enter(0, MAIN, 0, 900)
            .enter(10, F, MAIN, 800)
            .gap(20, Why::Paused, None);
    };
    // It goes on inside F, which returns.
    let (inside, loose) = tree(|t| {
        pause(t);
        t.enter(30, G, F, 700)
            .exit(40, G, F, 700)
            .exit(50, F, MAIN, 800)
            .exit(60, MAIN, 0, 900);
    });
    assert_eq!(inside, "1000 x1 (2000 x1 (3000 x1))");
    assert_eq!(loose, Loose::default());
    // F had ended: the next call from the same place is one of its own, not inlined in it.
    let (again, loose) = tree(|t| {
        pause(t);
        t.enter(30, F, MAIN, 800)
            .exit(40, F, MAIN, 800)
            .exit(60, MAIN, 0, 900);
    });
    assert_eq!(again, "1000 x1 (2000 x2)");
    let unwound = Loose {
        unwound: 1,
        ..Loose::default()
    };
    assert_eq!(loose, unwound);
    // What is inlined into a call that the pause did not end still is.
    let (inlined, loose) = tree(|t| {
        pause(t);
        t.enter(30, G, MAIN, 800)
            .exit(40, G, MAIN, 800)
            .exit(50, F, MAIN, 800)
            .exit(60, MAIN, 0, 900);
    });
    assert_eq!(inlined, "1000 x1 (2000 x1 (3000 x1))");
    assert_eq!(loose, Loose::default());
    // It goes on outside: exits of calls that were entered meanwhile have no enter.
    let (outside, loose) = tree(|t| {
        pause(t);
        t.exit(30, G, F, 700).exit(60, MAIN, 0, 900);
    });
    assert_eq!(outside, "1000 x1 (2000 x1)");
    let both = Loose {
        unmatched: 1,
        unwound: 1,
        open: 0,
    };
    assert_eq!(loose, both);
}

#[test]
fn an_exit_is_told_apart_by_what_bits_it_has() {
    // G's frame was left by longjmp; F's exit, by a tail-called hook, comes at its stack pointer.
    let (tree, loose) = tree(|t| {
        t.enter(0, MAIN, 0, 904)
            .enter(1, F, MAIN, 800)
            .enter(2, G, F, 704)
            .exit(3, F, MAIN, 704)
            .exit(4, MAIN, 0, 904);
    });
    assert_eq!(tree, "1000 x1 (2000 x1 (3000 x1))");
    assert_eq!(loose.unwound, 1);
}

proptest! {
    /// Whatever the events are: every enter is one call, and no time is counted twice.
    #[test]
    fn every_enter_is_one_call(
        events in prop::collection::vec((any::<bool>(), 0u64..4, any::<bool>(), 0u64..6), 0..200),
    ) {
        let enters = events.iter().filter(|(enter, ..)| *enter).count() as u64;
        let exits = events.len() as u64 - enters;
        let (functions, loose) = profile(|t| {
            for (time, &(enter, function, within, sp)) in events.iter().enumerate() {
                let (time, function) = (time as u64, function << 4);
                t.wide(time % 3 == 0);
                match (enter, within) {
                    (true, false) => t.enter(time, function, 7, sp),
                    (false, false) => t.exit(time, function, 7, sp),
                    (true, true) => t.entry(time, function, 7, sp),
                    (false, true) => t.leave(time, sp),
                };
            }
        });
        prop_assert_eq!(functions.iter().map(|(_, stats)| stats.calls).sum::<u64>(), enters);
        prop_assert_eq!(enters - loose.unwound - loose.open, exits - loose.unmatched);
        let own: u64 = functions.iter().map(|(_, stats)| stats.own.0).sum();
        prop_assert!(own <= events.len() as u64);
    }

    /// Properly nested calls all pair, and the roots' durations add up to all self times.
    #[test]
    fn nested_calls_pair_exactly(shape in prop::collection::vec((any::<bool>(), 0u64..4), 0..200)) {
        let (functions, loose) = profile(|t| {
            let mut open: Vec<u64> = Vec::new();
            let mut time = 0;
            for (enter, function) in shape {
                time += 1;
                let sp = |depth: usize| 10_000 - depth as u64 * 16;
                match (enter, open.last().copied()) {
                    (false, Some(top)) => { t.exit(time, top, 7, sp(open.len())); open.pop(); }
                    _ => { open.push(function); t.enter(time, function, 7, sp(open.len())); }
                }
            }
            while let Some(top) = open.last().copied() {
                time += 1;
                t.exit(time, top, 7, 10_000 - open.len() as u64 * 16);
                open.pop();
            }
        });
        prop_assert_eq!(loose, Loose::default());
        for (_, stats) in &functions {
            prop_assert!(stats.own <= stats.total && stats.returned <= stats.calls);
            prop_assert!(stats.min() <= stats.avg() && stats.avg() <= stats.max());
            prop_assert_eq!(stats.avg().is_some(), stats.returned > 0);
            // The average is rounded down.
            let sum = stats.avg().map_or(0, |avg| (avg.0 + 1) * stats.returned);
            prop_assert!(stats.returned < stats.calls || stats.total.0 <= sum);
        }
    }
}

#[test]
fn a_jump_ends_what_lies_below_the_call_that_it_goes_to() {
    // The last G has a larger frame than all that is gone, and might be the inner F's.
    let (tree, loose) = tree(|thread| {
        thread
            .enter(1, MAIN, 7, 900)
            .enter(2, F, MAIN, 800)
            .enter(3, F, F, 700)
            .enter(4, G, F, 600)
            .jump(5, 800, false)
            .enter(6, G, F, 500)
            .exit(7, G, F, 500)
            .exit(8, F, MAIN, 800)
            .exit(9, MAIN, 7, 900);
    });
    assert_eq!(tree, "1000 x1 (2000 x1 (2000 x1 (3000 x1) 3000 x1))");
    assert_eq!((loose.unwound, loose.unmatched, loose.open), (2, 0, 0));
}

#[test]
fn a_jump_ends_what_is_inlined_into_the_call_that_it_goes_to_and_no_other_stack() {
    let (tree, loose) = tree(|thread| {
        thread
            .enter(1, MAIN, 7, 900)
            .enter(2, F, MAIN, 800)
            .enter(3, G, MAIN, 800)
            .jump(4, 850, true)
            .enter(5, MAIN, G, 700)
            .jump(6, 800, false)
            .enter(7, G, MAIN, 800)
            .exit(8, G, MAIN, 800)
            .exit(9, F, MAIN, 800)
            .exit(10, MAIN, 7, 900);
    });
    assert_eq!(tree, "1000 x1 (2000 x1 (3000 x1 (1000 x1) 3000 x1))");
    assert_eq!((loose.unwound, loose.unmatched, loose.open), (2, 0, 0));
}

//! Stacks on which fibers begin where others were, as far as the code of the function tells that
//! makes their outermost calls.

use crate::log::Told;
use crate::made_stacks::{BODY, FIRST, STACKS, STEP, told_with, written};
use heddle_strands::Kind;

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
    let is_born = |told: &&Told| matches!(told, Told::Strand("born", _, Kind::Fiber, ..));
    let unsure = told.iter().filter(|told| matches!(told, Told::Unsure(_)));
    (told.iter().filter(is_born).count(), unsure.count())
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

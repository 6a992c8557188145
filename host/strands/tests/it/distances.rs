//! Stacks often lie at equal distances: where calls are missing, a call of another stack must not
//! be put below one that happens to be as far above.

use crate::log::{Log, Told};
use crate::marks::{decoded, strand_of};
use heddle_strands::{Decoded, StrandId};
use heddle_trace_file::write::ThreadWriter;

const CODE: u64 = 0x40_0000;
const BODY: u64 = CODE;
const WORK: u64 = CODE + 0x100;
/// The function that is not traced, and makes each fiber's outermost call.
const FIRST: u64 = CODE + 0x200;
const LEAF: u64 = CODE + 0x300;
/// Is inlined into `leaf`.
const INNER: u64 = CODE + 0x400;
/// In a library that is not traced, and calls back.
const LIBRARY: u64 = 0x7000_0000;
const OWN: u64 = 0x7fff_0000;
/// Where the outermost call of the fiber is that is seen to begin.
const SEEN: u64 = 0x6002_0f80;
/// So far below lies the stack of another.
const APART: u64 = 0x1_0000;

/// What is written of a thread whose recording lacks calls, behind forty fibers that begin and end
/// elsewhere, and call back from `body`.
fn part(write: impl FnOnce(&mut ThreadWriter)) -> Decoded<Log> {
    decoded(|process| {
        process.mode(1 << 20, 0);
        let mut thread = process.thread(4711, "app");
        thread.stack(OWN, OWN + 0x8000);
        for time in (100..2100).step_by(50) {
            let base = 0x6100_0f80 + 0x1000 * (time / 50);
            thread
                .enter(time, BODY, FIRST + 0x20, base)
                .enter(time + 10, LEAF, LIBRARY, base - 0x180)
                .exit(time + 20, LEAF, 0, base - 0x180)
                .exit(time + 30, BODY, 0, base);
        }
        write(&mut thread);
        thread.finish().unwrap();
    })
}

/// `body` and `work` are entered on a fiber.
fn begins(thread: &mut ThreadWriter, time: u64, base: u64) {
    thread.enter(time, BODY, FIRST + 0x20, base);
    thread.enter(time + 10, WORK, BODY + 0x20, base - 0x80);
}

fn is_sure(decoded: &Decoded<Log>, strand: StrandId) -> bool {
    let mut log = decoded.sinks.iter().flat_map(|(_, log)| &log.0);
    !log.any(|told| *told == Told::Unsure(strand))
}

#[test]
fn a_frame_does_not_grow_as_far_as_another_stack() {
    let decoded = part(|thread| {
        begins(thread, 3000, SEEN);
        thread.enter(3020, LEAF, BODY + 0x20, SEEN - 0x80);
        // Inlined into `work`, which was not seen to begin there.
        thread.enter(3100, LEAF, BODY + 0x20, SEEN - 0x80 - APART);
        thread.exit(3110, LEAF, 0, SEEN - 0x80 - APART);
        thread.exit(3200, LEAF, 0, SEEN - 0x80);
    });
    let seen = strand_of(&decoded, 3000);
    assert_ne!(strand_of(&decoded, 3100), seen);
    assert!(is_sure(&decoded, seen));
}

#[test]
fn a_distance_that_was_doubted_does_not_place_other_calls() {
    let (above, below) = (SEEN + 4 * APART, SEEN + 3 * APART);
    let decoded = part(|thread| {
        begins(thread, 3000, SEEN);
        // On another stack, where `leaf` was not seen to begin.
        let sp = SEEN - 0x80 - APART - 0x40;
        thread.enter(3100, INNER, WORK + 0x20, sp);
        thread.exit(3110, INNER, 0, sp);
        let sp = below - 0x80 - 0x40;
        begins(thread, 3200, below);
        thread.enter(3220, LEAF, WORK + 0x20, sp);
        begins(thread, 3300, above);
        thread.enter(3400, INNER, WORK + 0x20, sp);
        thread.exit(3410, INNER, 0, sp);
    });
    assert!(!is_sure(&decoded, strand_of(&decoded, 3000)));
    assert_eq!(strand_of(&decoded, 3400), strand_of(&decoded, 3200));
    assert!(is_sure(&decoded, strand_of(&decoded, 3300)));
}

#[test]
fn callbacks_much_further_below_than_others_are_doubted() {
    let decoded = part(|thread| {
        begins(thread, 3000, SEEN);
        for time in (3100..3900).step_by(50) {
            let sp = SEEN - 0x80 - APART / 2 - time % 200;
            thread.enter(time, LEAF, LIBRARY, sp);
            thread.exit(time + 10, LEAF, 0, sp);
        }
    });
    let (seen, called) = (strand_of(&decoded, 3000), strand_of(&decoded, 3850));
    assert!(seen != called || !is_sure(&decoded, seen));
}

#[test]
fn a_stack_that_lacks_calls_ends_none_that_seem_to_lie_within() {
    let within = SEEN - APART / 2;
    let decoded = part(|thread| {
        begins(thread, 3000, SEEN);
        thread.enter(3100, BODY, FIRST + 0x20, within);
        // On a stack below both, where `work` was not seen to begin.
        thread.enter(3200, LEAF, WORK + 0x20, SEEN - 0x80 - APART);
        // The thread goes to its own stack, and from there to the one between.
        thread.enter(3300, LEAF, LIBRARY, OWN + 0x7000);
        thread.exit(3310, LEAF, 0, OWN + 0x7000);
        thread.enter(3400, WORK, BODY + 0x20, within - 0x80);
        thread.exit(3410, WORK, 0, within - 0x80);
        thread.exit(3420, BODY, 0, within);
    });
    assert_eq!(strand_of(&decoded, 3400), strand_of(&decoded, 3100));
    assert!(!is_sure(&decoded, strand_of(&decoded, 3100)));
}

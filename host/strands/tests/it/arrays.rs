//! Fibers whose stacks are parts of an array of `inner`, on its thread's own stack, and that nobody
//! was seen to make or to switch.

use crate::log::Told;
use crate::marks::decoded_by;
use crate::ways;
use heddle_strands::Kind;
use heddle_trace_file::Way;
use heddle_trace_file::write::ThreadWriter;

const BODY: u64 = 0x40_0000;
const WORK: u64 = BODY + 0x100;
/// The function that is not traced, and makes the fibers' outermost calls.
const FIRST: u64 = BODY + 0x200;
const LEAF: u64 = BODY + 0x300;
const INNER: u64 = BODY + 0x400;
const OWN: u64 = 0x7fff_0000;
/// Where the thread's stack pointer is in `inner`.
const BELOW: u64 = OWN + 0x1000;
const FIBERS: u64 = 3;
const TURNS: u64 = 5;
/// The facts of `body`'s frame at the site that `work` is called from, and how large that of
/// `inner` is.
const FRAMES: &str = "48 10 call-frame -\n4 38 frame -\n404 7000 frame -\n";

/// What the program does.
#[derive(Clone, Copy, Debug)]
struct Program {
    way: Way,
    /// The fibers that begin later are at lower addresses.
    downwards: bool,
    /// A fiber gives way in `body` itself, and not in `work`.
    in_body: bool,
    /// The thread calls `leaf` after each turn.
    calls: bool,
}

impl Program {
    fn enter(self, thread: &mut ThreadWriter, time: u64, call: (u64, u64, u64)) {
        ways::enter(self.way, thread, time, call);
    }

    fn exit(self, thread: &mut ThreadWriter, time: u64, function: u64, sp: u64) {
        ways::exit(self.way, thread, time, function, sp);
    }

    /// The calls of each strand, and whether it is sure.
    fn ended(self) -> Vec<(u64, bool)> {
        self.ended_apart(0x2000, FRAMES)
    }

    /// The same, where the fibers' stacks have so many bytes, and with these facts of the code.
    fn ended_apart(self, bytes: u64, facts: &str) -> Vec<(u64, bool)> {
        let mut time = 0;
        let mut next = || {
            time += 10;
            time
        };
        let decoded = decoded_by(false, facts, |process| {
            let mut thread = process.thread(4711, "thread");
            thread.stack(OWN, OWN + 0x8000);
            self.enter(&mut thread, next(), (INNER, FIRST + 0x80, OWN + 0x7f00));
            for turn in 0..=TURNS {
                for fiber in 0..FIBERS {
                    let at = match self.downwards {
                        true => FIBERS - fiber,
                        false => fiber + 1,
                    };
                    let base = BELOW + bytes * at;
                    let work = base - 0x10;
                    match turn {
                        0 => self.enter(&mut thread, next(), (BODY, FIRST + 0x20, base)),
                        _ if self.in_body => {}
                        _ => self.exit(&mut thread, next(), WORK, work),
                    }
                    if turn < TURNS {
                        self.enter(&mut thread, next(), (WORK, BODY + 0x48, work));
                        if self.in_body {
                            self.exit(&mut thread, next(), WORK, work);
                        }
                    }
                    if self.calls {
                        self.enter(&mut thread, next(), (LEAF, INNER + 0x20, BELOW));
                        self.exit(&mut thread, next(), LEAF, BELOW);
                    }
                }
            }
            thread.finish().unwrap();
        });
        let told: Vec<&Told> = decoded.sinks.iter().flat_map(|(_, log)| &log.0).collect();
        let mut strands: Vec<(u64, u64, bool)> = told
            .iter()
            .filter_map(|one| match one {
                &&Told::Strand("ended", id, .., calls, _) => {
                    let is_sure = !told.contains(&&Told::Unsure(id));
                    Some((id.number(), calls, is_sure))
                }
                _ => None,
            })
            .collect();
        strands.sort_unstable();
        let ended = strands.into_iter();
        ended.map(|(_, calls, is_sure)| (calls, is_sure)).collect()
    }
}

/// All kinds of programs that are compiled in this way.
fn programs(way: Way) -> impl Iterator<Item = Program> {
    (0..8).map(move |case| Program {
        way,
        downwards: case & 1 != 0,
        in_body: case & 2 != 0,
        calls: case & 4 != 0,
    })
}

impl Program {
    /// What [`Program::ended`] is to be, where all is known.
    fn expected(self) -> Vec<(u64, bool)> {
        let of_thread = 1 + u64::from(self.calls) * FIBERS * (TURNS + 1);
        let of_fibers = (0..FIBERS).map(|_| (1 + TURNS, true));
        std::iter::once((of_thread, true))
            .chain(of_fibers)
            .collect()
    }
}

/// What a call that was taken for gone does later tells that it is a fiber's: it ends, or calls.
#[test]
fn fibers_on_arrays_are_told_by_what_they_do_when_they_go_on() {
    for program in programs(Way::Entry) {
        assert_eq!(program.ended(), program.expected(), "{program:?}");
    }
}

/// Code without hooks that a fiber calls could have made what seems to be another's first call.
#[test]
fn fibers_close_below_open_calls_are_doubted() {
    for program in programs(Way::Entry) {
        let expected = program.expected();
        let doubted = expected.iter().map(|&(calls, _)| (calls, false)).collect();
        let close = if program.downwards {
            &doubted
        } else {
            &expected
        };
        assert_eq!(&program.ended_apart(0x800, FRAMES), close, "{program:?}");
        let (frame, _) = FRAMES.split_once("404").unwrap();
        let (_, is_thread_sure) = program.ended_apart(0x2000, frame)[0];
        assert!(!is_thread_sure, "{program:?}: may `inner` have an array?");
    }
}

/// By `-finstrument-functions`, the frame of `inner` may have grown by the array, and so may that
/// of each function whose call seems to end, or to call, at an unusual place.
#[test]
fn fibers_that_cannot_be_told_from_calls_of_the_thread_are_doubted() {
    let mut doubted = 0;
    for program in programs(Way::Instrumented) {
        let (ended, expected) = (program.ended(), program.expected());
        let is_thread_sure = ended[0].1;
        assert!(
            ended == expected || !is_thread_sure,
            "{program:?}: {ended:?}"
        );
        doubted += u64::from(!is_thread_sure);
    }
    assert!(doubted > 0);
}

/// The thread has no other fiber, so that it might be decoded by itself.
#[test]
fn a_fiber_begins_on_an_array_from_where_another_threads_do() {
    let decoded = decoded_by(false, FRAMES, |process| {
        let mut times = (0..).map(|time| time * 10);
        let mut next = || times.next().unwrap();
        let mut other = process.thread(4711, "other");
        other.stack(0x7ffe_0000, 0x7ffe_8000);
        for number in 1..=20 {
            let base = 0x6000_0000 + (number << 20);
            ways::enter(Way::Entry, &mut other, next(), (BODY, FIRST + 0x20, base));
        }
        other.finish().unwrap();
        let mut thread = process.thread(4712, "thread");
        thread.stack(OWN, OWN + 0x8000);
        for call in [
            (INNER, FIRST + 0x80, OWN + 0x7f00),
            (BODY, FIRST + 0x20, OWN + 0x2000),
        ] {
            ways::enter(Way::Entry, &mut thread, next(), call);
        }
        thread.finish().unwrap();
    });
    let told: Vec<&Told> = decoded.sinks.iter().flat_map(|(_, log)| &log.0).collect();
    let born = |told: &&&Told| matches!(told, Told::Strand("born", _, Kind::Fiber, ..));
    assert_eq!(told.iter().filter(born).count(), 21);
    assert!(!told.iter().any(|told| matches!(told, Told::Unsure(_))));
}

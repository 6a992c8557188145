//! Signals' handlers: where an alternate stack is an array of `inner`, which another thread runs;
//! and whose they are on a thread that has gone to another stack unseen.

use crate::log::{Log, Told};
use crate::marks::{decoded_by, strand_of};
use crate::ways;
use heddle_strands::{Decoded, Kind};
use heddle_trace_file::Way;
use heddle_trace_file::write::ThreadWriter;

const BODY: u64 = 0x40_0000;
const WORK: u64 = BODY + 0x100;
/// The function that is not traced.
const FIRST: u64 = BODY + 0x200;
/// Where a signal's handler returns to.
const HANDLED: u64 = BODY + 0x250;
const LEAF: u64 = BODY + 0x300;
const INNER: u64 = BODY + 0x400;
const OWN: [u64; 2] = [0x7fff_0000, 0x7ffe_0000];
const FIBER: u64 = 0x6000_0000;
/// The array is above `inner`'s stack pointer by `-finstrument-functions`, and below it by
/// `-mfentry`.
const ARRAY: u64 = OWN[0] + 0x2000;

#[derive(Clone, Copy, Debug)]
struct Program {
    way: Way,
    /// Exits have the stack pointers of the calls' callers.
    tail_called: bool,
    /// The first handler is interrupted by a second one.
    nested: bool,
    /// `inner` calls `work` before the handlers end.
    calls_meanwhile: bool,
}

impl Program {
    fn enter(self, thread: &mut ThreadWriter, time: u64, call: (u64, u64, u64)) {
        ways::enter(self.way, thread, time, call);
    }

    fn exit(self, thread: &mut ThreadWriter, time: u64, function: u64, sp: u64) {
        let moved = self.tail_called && self.way == Way::Instrumented;
        ways::exit(
            self.way,
            thread,
            time,
            function,
            sp + if moved { 0x40 } else { 0 },
        );
    }

    /// A call that ends before it makes another one.
    fn leaf(self, thread: &mut ThreadWriter, time: u64, call: (u64, u64, u64)) {
        self.enter(thread, time, call);
        self.exit(thread, time + 5, call.0, call.2);
    }

    /// A handler with the stack pointer `sp` calls `work`, and a library's function, which has no
    /// hooks, that calls `leaf`.
    fn handle(
        self,
        thread: &mut ThreadWriter,
        time: u64,
        sp: u64,
        between: impl Fn(&mut ThreadWriter),
    ) {
        self.enter(thread, time, (BODY, HANDLED, sp));
        self.leaf(thread, time + 10, (LEAF, FIRST + 0x60, sp - 0x200));
        self.enter(thread, time + 20, (WORK, BODY + 0x20, sp - 0x100));
        between(thread);
        self.leaf(thread, time + 80, (LEAF, FIRST + 0x60, sp - 0x200));
        self.exit(thread, time + 90, WORK, sp - 0x100);
        self.exit(thread, time + 95, BODY, sp);
    }

    fn decoded(self) -> Decoded<Log> {
        let inner = match self.way {
            Way::Instrumented => ARRAY - 0x100,
            Way::Entry => ARRAY + 0x5000,
        };
        decoded_by(false, "", |process| {
            let mut first = process.thread(4711, "first");
            first.stack(OWN[0], OWN[0] + 0x8000);
            self.enter(&mut first, 10, (WORK, FIRST + 0x20, OWN[0] + 0x7f00));
            self.enter(&mut first, 20, (INNER, WORK + 0x20, inner));
            // Without this, each thread would be decoded by itself.
            self.leaf(&mut first, 30, (BODY, FIRST + 0x40, FIBER + 0x4000));
            self.leaf(&mut first, 40, (LEAF, INNER + 0x20, ARRAY - 0x200));
            if self.calls_meanwhile {
                self.enter(&mut first, 250, (WORK, INNER + 0x30, ARRAY - 0x200));
                self.leaf(&mut first, 260, (LEAF, WORK + 0x30, ARRAY - 0x300));
                self.exit(&mut first, 400, WORK, ARRAY - 0x200);
            }
            self.leaf(&mut first, 500, (LEAF, INNER + 0x20, ARRAY - 0x200));
            self.exit(&mut first, 600, INNER, inner);
            self.exit(&mut first, 610, WORK, OWN[0] + 0x7f00);
            first.finish().unwrap();
            let mut second = process.thread(4712, "second");
            second.stack(OWN[1], OWN[1] + 0x8000);
            self.enter(&mut second, 100, (WORK, FIRST + 0x20, OWN[1] + 0x7f00));
            self.handle(&mut second, 200, ARRAY + 0x4800, |second| {
                if self.nested {
                    self.handle(second, 225, ARRAY + 0x3800, |_| {});
                }
            });
            self.leaf(&mut second, 700, (LEAF, WORK + 0x30, OWN[1] + 0x7e00));
            self.exit(&mut second, 710, WORK, OWN[1] + 0x7f00);
            second.finish().unwrap();
        })
    }
}

/// The depths of the calls of each thread, and the number of calls of fibers.
fn depths(decoded: &Decoded<Log>) -> ([Vec<usize>; 2], usize) {
    let told: Vec<&Told> = decoded.sinks.iter().flat_map(|(_, log)| &log.0).collect();
    let mut found = <([Vec<usize>; 2], usize)>::default();
    let fibers: Vec<_> = told
        .iter()
        .filter_map(|one| match one {
            Told::Strand("born", id, Kind::Fiber, ..) => Some(id),
            _ => None,
        })
        .collect();
    for one in &told {
        if let Told::Enter(strand, .., depth, _) = one {
            match fibers.contains(&strand) {
                true => found.1 += 1,
                false => found.0[strand.number() as usize - 1].push(*depth),
            }
        }
    }
    found
}

#[test]
fn a_handler_is_its_own_threads_where_its_stack_is_an_array_of_another_thread() {
    for case in 0..16 {
        let program = Program {
            way: [Way::Instrumented, Way::Entry][case & 1],
            tail_called: case & 2 != 0,
            nested: case & 4 != 0,
            calls_meanwhile: case & 8 != 0,
        };
        let decoded = program.decoded();
        let first = match program.calls_meanwhile {
            true => vec![0, 1, 2, 2, 3, 2],
            false => vec![0, 1, 2, 2],
        };
        let second = match program.nested {
            true => vec![0, 1, 2, 2, 3, 4, 4, 5, 3, 1],
            false => vec![0, 1, 2, 2, 3, 1],
        };
        assert_eq!(depths(&decoded), ([first, second], 1), "{program:?}");
        let (loose, unresolved) = (decoded.loose, decoded.unresolved[0]);
        assert_eq!((loose.unwound, loose.unmatched), (0, 0), "{program:?}");
        assert_eq!(unresolved.unsure_threads, 0, "{program:?}");
    }
}

#[test]
fn a_handler_with_which_a_fibers_recording_begins_is_not_surely_the_threads() {
    let of = |announced: bool| {
        let decoded = decoded_by(false, "", |process| {
            process.mode(1 << 20, 0);
            let mut thread = process.thread(4711, "app");
            thread.stack(OWN[0], OWN[0] + 0x8000);
            if announced {
                thread.strand_switch(5, 7);
            }
            thread
                .enter(10, BODY, HANDLED, FIBER)
                .exit(20, BODY, 0, FIBER)
                .enter(30, BODY, FIRST + 0x20, FIBER + 0x8000)
                .exit(40, BODY, 0, FIBER + 0x8000);
            thread.finish().unwrap();
        });
        let unsure = decoded.unresolved[0].unsure_threads;
        (strand_of(&decoded, 10).number(), unsure)
    };
    assert_eq!(of(false), (1, 1));
    assert_eq!(of(true), (2, 0));
}

/// Where a handler has its frame that is called after the thread has gone to another stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Handled {
    OnFiber,
    OnOwn,
    /// On a stack of its own, far from both.
    OnItsOwn,
    /// The same, within a call in which no stack was ever left.
    InCall,
    /// The same, which is an array of the function that is open on the thread's own stack.
    InArray,
}

/// The strand of a handler that is called when the thread was heard of last on the other stack than
/// that which it runs, and the numbers of strands that are not sure: of threads and of fibers. The
/// thread's own call and the fiber's are open; the program was seen to make the fiber's stack, if
/// it `is_made`.
fn handled(way: Way, handled: Handled, is_made: bool) -> (u64, u64, u64) {
    let fiber = FIBER + 0x8000;
    let decoded = decoded_by(false, "", |process| {
        let mut thread = process.thread(4711, "app");
        thread.stack(OWN[0], OWN[0] + 0x8000);
        if is_made {
            thread.stack_made(1, FIBER..fiber, OWN[0] + 0x7000);
        }
        let own = OWN[0] + 0x6000;
        ways::enter(way, &mut thread, 10, (WORK, FIRST + 0x20, own));
        ways::enter(way, &mut thread, 20, (BODY, FIRST + 0x40, fiber - 0x80));
        let on_own = |thread: &mut ThreadWriter, time: u64| {
            ways::enter(way, thread, time, (LEAF, WORK + 0x30, own - 0x100));
            ways::exit(way, thread, time + 5, LEAF, own - 0x100);
        };
        let on_fiber = |thread: &mut ThreadWriter, time: u64| {
            ways::enter(way, thread, time, (LEAF, BODY + 0x20, fiber - 0x180));
            ways::exit(way, thread, time + 5, LEAF, fiber - 0x180);
        };
        on_fiber(&mut thread, 30);
        on_own(&mut thread, 40);
        if handled == Handled::OnOwn {
            on_fiber(&mut thread, 50);
        }
        let sp = match handled {
            Handled::OnFiber => fiber - 0xc00,
            Handled::OnOwn => own - 0xc00,
            Handled::OnItsOwn | Handled::InCall => 0x5000_0000,
            Handled::InArray => own + 0x100,
        };
        if handled == Handled::InCall {
            ways::enter(way, &mut thread, 55, (LEAF, WORK + 0x30, own - 0x100));
        }
        ways::enter(way, &mut thread, 60, (INNER, HANDLED, sp));
        ways::enter(way, &mut thread, 65, (LEAF, INNER + 0x20, sp - 0x100));
        ways::exit(way, &mut thread, 66, LEAF, sp - 0x100);
        ways::exit(way, &mut thread, 70, INNER, sp);
        if handled == Handled::InCall {
            ways::exit(way, &mut thread, 75, LEAF, own - 0x100);
        }
        on_fiber(&mut thread, 80);
        on_own(&mut thread, 90);
        ways::exit(way, &mut thread, 100, BODY, fiber - 0x80);
        ways::exit(way, &mut thread, 110, WORK, own);
        thread.finish().unwrap();
    });
    assert_eq!((decoded.loose.unwound, decoded.loose.unmatched), (0, 0));
    let strand = strand_of(&decoded, 60).number();
    assert_eq!(strand_of(&decoded, 65).number(), strand);
    for (time, strand) in [(30, 2), (40, 1), (80, 2), (90, 1)] {
        assert_eq!(strand_of(&decoded, time).number(), strand);
    }
    let unresolved = decoded.unresolved[0];
    let threads = unresolved.unsure_threads;
    (strand, threads, unresolved.unsure - threads)
}

#[test]
fn a_handler_is_on_top_of_what_it_has_its_frame_below() {
    use Way::{Entry, Instrumented};
    for way in [Instrumented, Entry] {
        assert_eq!(handled(way, Handled::OnFiber, true), (2, 0, 0), "{way:?}");
        // Its own stack, which nothing tells of, might lie below the fiber's.
        assert_eq!(handled(way, Handled::OnFiber, false), (2, 1, 1), "{way:?}");
        let known = (1, 0, 0);
        assert_eq!(handled(way, Handled::InCall, true), known, "{way:?}");
        // It does not tell what it interrupts.
        let unknown = (1, 1, 0);
        assert_eq!(handled(way, Handled::OnItsOwn, true), unknown, "{way:?}");
        assert_eq!(handled(way, Handled::InArray, true), unknown, "{way:?}");
    }
    assert_eq!(handled(Instrumented, Handled::OnOwn, true), (1, 0, 0));
    // Its own stack might be an array of the innermost call.
    assert_eq!(handled(Entry, Handled::OnOwn, true), (1, 1, 1));
}

//! However many workers read a thread, and wherever it is divided, what they find is what one walk
//! over it finds.

use heddle_calls::{Frame, Loose, Piece, Profile, SoFar, Source, Span, Take, Wanted, Workers};
use heddle_trace_file::write::{ThreadWriter, TraceWriter};
use heddle_trace_file::{Addr, Callee, Event, EventKind, Nanos, Thread, Trace, Way, Why};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Mutex;

/// What a thread does next. Stack pointers are small, so that calls often share them.
#[derive(Clone, Debug)]
enum Step {
    Enter {
        function: u64,
        sp: u64,
    },
    Exit {
        function: u64,
        sp: u64,
    },
    /// Exits the innermost call with the stack pointer that it was entered with.
    Return,
    /// Enters a call below the innermost one.
    Call {
        function: u64,
    },
    /// Leaves so many calls without exits.
    Jump(usize),
    /// Leaves so many calls by a jump that is recorded.
    Leap(usize),
    Gap,
    Capture(u64),
    Mark,
    /// The clock goes back.
    Back,
    /// The next event does not read the clock.
    Untimed,
    Run,
}

/// `odd`: of some 10 000 steps, how many are each of those that seldom happen.
fn steps(odd: u32) -> impl Strategy<Value = Vec<Step>> {
    let function = 0u64..4;
    let step = prop_oneof![
        4000 => function.clone().prop_map(|function| Step::Call { function }),
        4000 => Just(Step::Return),
        800 => Just(Step::Run),
        odd => (function.clone(), 0u64..12)
            .prop_map(|(function, sp)| Step::Enter { function, sp: 8 * sp }),
        odd => (function.clone(), 0u64..12)
            .prop_map(|(function, sp)| Step::Exit { function, sp: 8 * sp }),
        odd => (1usize..6).prop_map(Step::Jump),
        odd => (0usize..6).prop_map(Step::Leap),
        odd => Just(Step::Gap),
        odd => function.prop_map(Step::Capture),
        odd => Just(Step::Mark),
        odd.div_ceil(8) => Just(Step::Back),
        odd.div_ceil(8) => Just(Step::Untimed),
    ];
    prop::collection::vec(step, 0..400)
}

const CODE: u64 = 0x1000;
const TOP: u64 = 10_000;

fn write(thread: &mut ThreadWriter, steps: &[Step], entry: bool) {
    let mut open: Vec<(u64, u64)> = Vec::new();
    let mut time = 1_000;
    for step in steps {
        time += 1;
        let below = open.last().map_or(TOP, |&(_, sp)| sp);
        let address = |function: u64| CODE + (function << 6);
        let mut enter = |thread: &mut ThreadWriter, function: u64, sp: u64| {
            open.push((function, sp));
            match entry {
                true => thread.entry(time, address(function), 7, sp),
                false => thread.enter(time, address(function), 7 + sp % 16, sp),
            };
        };
        let exit = |thread: &mut ThreadWriter, function: u64, sp: u64| {
            match entry {
                true => thread.leave(time, sp),
                false => thread.exit(time, address(function), 7, sp),
            };
        };
        match *step {
            Step::Enter { function, sp } => enter(thread, function, sp),
            Step::Call { function } => enter(thread, function, below.saturating_sub(16)),
            Step::Exit { function, sp } => exit(thread, function, sp),
            Step::Return => {
                if let Some((function, sp)) = open.pop() {
                    exit(thread, function, sp);
                }
            }
            Step::Jump(calls) => open.truncate(open.len().saturating_sub(calls)),
            Step::Leap(calls) => {
                open.truncate(open.len().saturating_sub(calls));
                let to = open.last().map_or(TOP, |&(_, sp)| sp);
                thread.jump(time, to, to < below);
            }
            Step::Gap => _ = thread.gap(time, Why::Dropped, Some(3)),
            Step::Capture(function) => _ = thread.capture(address(function), 0x5000, Some(0)),
            Step::Mark => _ = thread.mark(time, 0, "here"),
            Step::Back => time = time.saturating_sub(20),
            Step::Untimed => _ = thread.untimed(),
            Step::Run => _ = thread.next_run(),
        }
    }
}

/// What a piece tells of.
#[derive(Clone, Debug, Default, PartialEq)]
struct Told {
    entered: Vec<Frame>,
    left: Vec<Span>,
    unmatched: Vec<(Nanos, usize)>,
    others: Vec<(Nanos, usize)>,
}

impl Take for Told {
    fn enter(&mut self, open: &[Frame]) {
        self.entered.push(*open.last().unwrap());
    }

    fn leave(&mut self, span: &Span) {
        self.left.push(*span);
    }

    fn unmatched(&mut self, _: Callee, time: Nanos, open: &[Frame]) {
        self.unmatched.push((time, open.len()));
    }

    fn other(&mut self, event: &Event<'_>, open: &[Frame]) {
        self.others.push((event.time, open.len()));
    }

    fn wants(&mut self, _: &Event<'_>) -> bool {
        false
    }
}

/// What these pieces of a thread tell of, read the last one first.
fn read_from(pieces: Vec<Piece>, thread: &Thread) -> Told {
    let mut told = Vec::new();
    for piece in pieces.into_iter().rev() {
        let mut part = Told::default();
        piece.read(thread, &mut part).unwrap();
        told.push(part);
    }
    let mut all = Told::default();
    for part in told.into_iter().rev() {
        all.entered.extend(part.entered);
        all.left.extend(part.left);
        all.unmatched.extend(part.unmatched);
        all.others.extend(part.others);
    }
    all
}

/// What threads' pieces tell of, divided wherever a first read comes by.
fn by_pieces(threads: &[Source<'_>], workers: Workers) -> Vec<Told> {
    let places: Mutex<BTreeMap<usize, Vec<Piece>>> = Mutex::default();
    let note = |index: usize, so_far: &SoFar<'_, '_>| {
        let mut places = places.lock().unwrap();
        places.entry(index).or_default().extend(so_far.place());
    };
    Profile::of_watched(threads, workers, Wanted::All, Some(&note)).unwrap();
    let mut places = places.into_inner().unwrap();
    let told = threads.iter().enumerate().map(|(index, source)| {
        let mut pieces = vec![Piece::whole(*source)];
        for next in places.remove(&index).unwrap_or_default() {
            pieces.last_mut().unwrap().ends_before(&next);
            pieces.push(next);
        }
        read_from(pieces, source.thread)
    });
    told.collect()
}

fn all_agree(threads: &[(Vec<Step>, bool)], stack: bool) {
    let directory = tempfile::tempdir().unwrap();
    let writer = TraceWriter::create(directory.path()).unwrap();
    let mut process = writer.process(1, 0, "/x").unwrap();
    for (index, (steps, entry)) in threads.iter().enumerate() {
        let mut thread = process.thread(1 + index as u32, "x");
        if stack {
            thread.stack(64, TOP + 1);
        }
        write(&mut thread, steps, *entry);
        thread.finish().unwrap();
    }
    process.finish().unwrap();
    let trace = Trace::open(directory.path()).unwrap();
    let process = &trace.processes()[0];
    let threads: Vec<_> = process
        .threads()
        .iter()
        .map(|thread| Source::new(thread, process.modules()))
        .collect();
    let alone: Vec<Profile> = threads
        .iter()
        .map(|source| Profile::of(source.thread, source.modules).unwrap())
        .collect();
    let walked: Vec<_> = threads
        .iter()
        .map(|source| read_from(vec![Piece::whole(*source)], source.thread))
        .collect();
    for count in [1, 2, 3, 8] {
        for bytes in [1, 600, 5_000] {
            let workers = Workers::new(NonZeroUsize::new(count).unwrap()).with_chunks_of(bytes);
            let divided = Profile::of_all(&threads, workers).unwrap();
            assert_eq!(divided, alone, "{count} workers, pieces of {bytes} bytes");
            assert_eq!(by_pieces(&threads, workers), walked);
            for wanted in [Wanted::OneStack, Wanted::OneStrand] {
                // A thread that is not wanted may be known for one by less than all its events.
                let found = Profile::of_wanted(&threads, workers, wanted).unwrap();
                for (found, alone) in found.iter().zip(&alone) {
                    let is_wanted = !alone.may_have_fibers && !alone.elsewhere;
                    assert!(found.is_none() || is_wanted && found.as_ref() == Some(alone));
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn calls_that_nest(steps in steps(1), entry: bool) {
        all_agree(&[(steps, entry)], true);
    }

    #[test]
    fn calls_that_are_left_otherwise(steps in steps(80), entry: bool, stack: bool) {
        all_agree(&[(steps, entry)], stack);
    }

    #[test]
    fn threads_of_all_lengths(threads in prop::collection::vec((steps(30), any::<bool>()), 1..5)) {
        all_agree(&threads, true);
    }

    #[test]
    fn nothing_but_oddities(steps in steps(2000), entry: bool, stack: bool) {
        all_agree(&[(steps, entry)], stack);
    }
}

/// A call on the thread's own stack, outside a call that is elsewhere, is where a thunk's exit
/// could be.
#[test]
fn an_exit_of_a_call_that_is_not_known_is_no_thunks() {
    let enter = |sp| Step::Enter { function: 0, sp };
    let exit = |sp| Step::Exit { function: 0, sp };
    let steps = vec![enter(64), enter(48), exit(0), enter(0), enter(72), exit(64)];
    for cut in 0..=steps.len() {
        let mut steps = steps.clone();
        steps.insert(cut, Step::Run);
        steps.push(Step::Run);
        all_agree(&[(steps, true)], true);
    }
}

/// In a forked child the calls that its parent made end.
#[test]
fn calls_that_were_open_before_end_in_pieces_too() {
    let directory = tempfile::tempdir().unwrap();
    let writer = TraceWriter::create(directory.path()).unwrap();
    let mut process = writer.process(1, 0, "/x").unwrap();
    let mut thread = process.thread(1, "x");
    thread.stack(64, TOP + 1);
    let place = |depth: u64| (0x1000 + (depth << 4), 7, TOP - 64 * depth);
    for depth in (0..20).rev() {
        let time = 100 + 10 * (20 - depth);
        let (function, site, sp) = place(depth + 1);
        thread.enter(time, function, site, sp);
        thread.exit(time + 1, function, site, sp).next_run();
        let (function, site, sp) = place(depth);
        thread.exit(time + 2, function, site, sp);
    }
    thread.finish().unwrap();
    process.finish().unwrap();
    let trace = Trace::open(directory.path()).unwrap();
    let process = &trace.processes()[0];
    let before = (0..20).map(|depth| {
        let (function, site, sp) = place(depth);
        Event {
            time: Nanos(100),
            way: Way::Instrumented,
            kind: EventKind::Enter {
                function: Addr(function),
                caller: Addr(site),
                sp: Addr(sp),
                frame: None,
            },
        }
    });
    let before: Vec<Event<'static>> = before.collect();
    let source = Source {
        before: &before,
        ..Source::new(&process.threads()[0], process.modules())
    };
    for count in [1, 3] {
        let workers = Workers::new(NonZeroUsize::new(count).unwrap()).with_chunks_of(1);
        let profile = Profile::of_all(&[source], workers).unwrap().remove(0);
        assert_eq!(profile.loose, Loose::default(), "{count} workers");
        assert_eq!(profile.events, 60);
        let outermost = profile.functions[0].1;
        assert_eq!((outermost.calls, outermost.total), (1, Nanos(202)));
    }
}

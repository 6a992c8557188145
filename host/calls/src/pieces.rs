//! Pieces of a thread that can be read each by itself, because it is known what was open before.
//!
//! A first read of a thread ([`Profile`](crate::Profile)) joins its chunks in order, and so comes
//! by the open calls at each place where two meet. A second one that wants single calls can begin
//! at all of these places at once.

use crate::joining::Joining;
use crate::stack::{Frame, Stack, Step};
use crate::{Key, Source, Span, Stats};
use heddle_trace_file::{Callee, Error, Event, EventKind, Nanos, Thread, Ticks};

/// How far a thread has been read.
#[derive(Clone, Copy)]
pub struct SoFar<'j, 'a>(pub(crate) &'j Joining<'a>);

impl SoFar<'_, '_> {
    /// The sums of its calls that have ended.
    pub fn functions(&self) -> Vec<(Key, Stats)> {
        self.0.functions()
    }

    /// A piece that begins where reading is, if it can begin there.
    pub fn place(&self) -> Option<Piece> {
        self.0.place()
    }
}

/// Events of a thread, from a run on, and what is known of those before.
#[derive(Clone, Debug)]
pub struct Piece {
    first: usize,
    end: usize,
    stack: Stack,
    after: Ticks,
}

/// Takes the calls of a piece, in order of time.
pub trait Take {
    /// A call began: it is the last of these, which are open, outermost first.
    fn enter(&mut self, open: &[Frame]);
    /// A call ended. Callees before their caller.
    fn leave(&mut self, span: &Span);
    /// An exit that belongs to none of these calls, which are open.
    fn unmatched(&mut self, function: Callee, time: Nanos, open: &[Frame]);
    /// An event that is neither an enter nor an exit, while these calls are open.
    fn other(&mut self, event: &Event<'_>, open: &[Frame]);
    /// The piece has ended, and these events of the thread follow: whether it is to be told of the
    /// next one, too, which is no more than what it waits for.
    fn wants(&mut self, event: &Event<'_>) -> bool;
}

impl Piece {
    pub(crate) fn new(first: usize, stack: Stack, after: Ticks) -> Self {
        Piece {
            first,
            end: usize::MAX,
            stack,
            after,
        }
    }

    /// All of a thread.
    pub fn whole(source: Source<'_>) -> Self {
        let mut stack = Stack::of(source.thread);
        for enter in source.before {
            stack.feed(*enter, |_, _| {});
        }
        Piece::new(0, stack, Ticks(0))
    }

    /// Divides it, which is the last piece of its thread, at where another begins: what is before
    /// that remains here.
    pub fn ends_before(&mut self, next: &Piece) {
        self.end = next.first;
    }

    /// The calls that are open before its first event, outermost first.
    pub fn open(&self) -> &[Frame] {
        self.stack.open()
    }

    /// The time of the event before its first one; 0 if there is none.
    pub fn begins(&self) -> Nanos {
        self.stack.latest()
    }

    /// Whether the thread has no more events behind it.
    pub fn is_last(&self) -> bool {
        self.end == usize::MAX
    }

    /// Bytes of its records.
    pub fn bytes(&self, thread: &Thread) -> u64 {
        let runs = thread.runs().skip(self.first);
        let mine = runs.take(self.end - self.first);
        mine.map(|run| run.bytes() as u64).sum()
    }

    /// Gives its calls, which are of this thread. The thread's last piece ends what is still open.
    ///
    /// # Errors
    /// What the thread's iterator gives.
    pub fn read(mut self, thread: &Thread, take: &mut impl Take) -> Result<(), Error> {
        let stack = &mut self.stack;
        let mut events = thread.stretch(self.first..self.end, self.after);
        for event in events.by_ref() {
            feed(stack, &event?, take);
        }
        if self.end == usize::MAX {
            stack.finish(|span, _| take.leave(&span));
            return Ok(());
        }
        for event in thread.stretch(self.end..usize::MAX, events.latest()) {
            let event = event?;
            if !take.wants(&event) {
                break;
            }
            take.other(&event, stack.open());
        }
        Ok(())
    }
}

#[inline]
fn feed(stack: &mut Stack, event: &Event<'_>, take: &mut impl Take) {
    match stack.feed(*event, |span, _| take.leave(&span)) {
        Step::Entered => take.enter(stack.open()),
        Step::Left(_) | Step::Thunk => {}
        Step::Unmatched(function) => take.unmatched(function, event.time, stack.open()),
        Step::Other => {
            if !matches!(event.kind, EventKind::Enter { .. }) {
                take.other(event, stack.open());
            }
        }
    }
}

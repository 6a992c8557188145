//! The program's own announcements of its strands (`include/heddle/trace.h`): names, and what they
//! wait for. Its numbers are bound to the strands that the events show.

use crate::running::Running;
use crate::sink::Sink;
use crate::stacks::BASE;
use crate::{Doubts, Kind, Strand, StrandId};
use heddle_trace_file::{Addr, Event, EventKind};
use rustc_hash::FxHashMap;

/// The program's numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Announced {
    /// The announcements, by thread.
    said: Vec<Said>,
    /// Whether the program announced anything. Most programs announce nothing, and this is read at
    /// every event.
    ever: bool,
    /// The announced strands, by number.
    bound: FxHashMap<u64, Bound>,
    /// The makers of those that have not run yet.
    makers: FxHashMap<u64, Maker>,
    /// Names of those that have not run yet.
    names: FxHashMap<u64, Box<str>>,
}

/// The announcements on a thread.
#[derive(Clone, Copy, Debug, Default)]
struct Said {
    /// The strand that was announced last.
    latest: Option<u64>,
    /// The same, if nothing has happened since.
    new: Option<u64>,
}

/// The maker of a strand.
#[derive(Clone, Copy, Debug)]
enum Maker {
    /// It had been met.
    Strand(StrandId),
    /// The strand with this number: no call of it had been seen.
    Number(u64),
}

/// The strand that a number means.
#[derive(Clone, Copy, Debug)]
struct Bound {
    slot: u32,
    /// The strand that was in the slot then.
    id: StrandId,
    /// The stack that it ran on then.
    stack: u32,
}

impl Announced {
    /// Nothing was announced yet on so many threads.
    pub fn new(threads: usize) -> Self {
        Announced {
            said: vec![Said::default(); threads],
            ..Announced::default()
        }
    }

    /// Takes an announcement, if it is one.
    pub fn take<S: Sink>(
        &mut self,
        running: &mut Running<'_, S>,
        context: usize,
        event: &Event<'_>,
    ) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned().into_boxed_str();
        match event.kind {
            EventKind::StrandSwitch { to } => {
                self.ever = true;
                self.said[context] = Said {
                    latest: to,
                    new: to,
                };
            }
            EventKind::StrandMade { strand } => {
                let maker = self.running(running, context);
                self.makers.insert(strand, maker);
            }
            EventKind::StrandName { strand, name } => match self.bound(running, strand) {
                Some(bound) => running.name(bound.slot, text(name)),
                None => drop(self.names.insert(strand, text(name))),
            },
            EventKind::StrandWaits { strand, reason } => {
                self.change(running, strand, |strand| strand.set_waits(text(reason)));
            }
            EventKind::StrandEnd { strand } => {
                self.change(running, strand, |strand| strand.dies(event.time));
                self.bound.remove(&strand);
                self.makers.remove(&strand);
                self.names.remove(&strand);
            }
            _ => {}
        }
    }

    /// Whether the program announces its strands.
    pub fn is_ever(&self) -> bool {
        self.ever
    }

    /// Whether a strand was announced on the thread, and nothing has happened since.
    #[inline]
    pub fn is_new(&self, context: usize) -> bool {
        self.ever && self.said[context].new.is_some()
    }

    /// The strand that runs now is the one that was announced last.
    #[cold]
    pub fn bind<S: Sink>(&mut self, running: &mut Running<'_, S>, context: usize) {
        let Some(number) = self.said[context].new.take() else {
            return;
        };
        let slot = running.map().innermost(context);
        let strand = running.strand(slot);
        let (id, kind) = (strand.id, strand.kind);
        if kind == Kind::Thread || self.bound(running, number).is_some() {
            return;
        }
        self.makers.remove(&number);
        if let Some(name) = self.names.remove(&number) {
            running.name(slot, name);
        }
        let thread = running.thread(context);
        let stack = thread.current.unwrap_or(thread.own);
        running.doubt(stack, Doubts::ANNOUNCED);
        self.bound.insert(number, Bound { slot, id, stack });
    }

    /// The strand that runs on the thread, as the program announced; or its own.
    fn running<S: Sink>(&self, running: &Running<'_, S>, context: usize) -> Maker {
        match self.said[context].latest {
            Some(number) => match self.bound(running, number) {
                Some(bound) => Maker::Strand(bound.id),
                None => Maker::Number(number),
            },
            None => {
                let own = running.thread(context).own;
                let slot = running.stack(own).innermost();
                Maker::Strand(running.id(slot))
            }
        }
    }

    /// The maker of the strand that has just been announced to run, and has not been heard of
    /// before; `None` if nothing tells.
    pub fn maker<S: Sink>(&self, running: &Running<'_, S>, context: usize) -> Option<StrandId> {
        let number = self.said[context].new?;
        match *self.makers.get(&number)? {
            Maker::Strand(strand) => Some(strand),
            Maker::Number(number) => self.bound(running, number).map(|bound| bound.id),
        }
    }

    /// Whether the strand that was announced has not been heard of before.
    pub fn starts(&self, context: usize) -> bool {
        let announced = self.said[context].new;
        announced.is_some_and(|number| !self.bound.contains_key(&number))
    }

    /// Has the thread run the strand that was announced: at `sp`, a call has ended of which nothing
    /// else tells whose it is.
    pub fn run<S: Sink>(&self, running: &mut Running<'_, S>, context: usize, sp: u64, time: u64) {
        let Some(number) = self.said[context].new else {
            return;
        };
        if running.map().own_stack_at(context, sp).is_some() {
            return;
        }
        let stack = match self.bound(running, number) {
            Some(bound) => bound.stack(running),
            None => {
                let maker = self.maker(running, context);
                let doubts = Doubts::BEGUN_BEFORE | Doubts::ANNOUNCED;
                let stack = running.new_stack(context, (Addr(0), maker), doubts, time);
                running.begin_outermost(stack, sp, 0, None);
                Some(stack)
            }
        };
        if let Some(stack) = stack {
            running.run(context, stack, time);
        }
    }

    /// Whether the strand whose stack this is has been announced to run on the thread.
    pub fn runs<S: Sink>(&self, running: &Running<'_, S>, context: usize, stack: u32) -> bool {
        let bound = self.latest(running, context);
        bound.is_some_and(|bound| bound.slot == running.stack(stack).slot)
    }

    /// The stack of the fiber that was announced to run on the thread, if recording began within
    /// its calls, or, as far as has been seen, `within` those of others: where those are that were
    /// not seen to begin, only this tells whose a call is.
    pub fn stack<S: Sink>(
        &self,
        running: &Running<'_, S>,
        context: usize,
        within: bool,
    ) -> Option<u32> {
        let stack = self.latest(running, context)?.stack(running)?;
        // What is first heard of it may be a call by uninstrumented code, in the middle of others.
        (running.stack(stack).begun_before || within).then_some(stack)
    }

    /// The stack of the fiber that was announced to run on the thread, if its latest outermost call
    /// has ended, and began near `sp`.
    pub fn empty<S: Sink>(&self, running: &Running<'_, S>, context: usize, sp: u64) -> Option<u32> {
        let stack = self.latest(running, context)?.stack(running)?;
        let state = running.stack(stack);
        (state.frames.is_empty() && state.base.abs_diff(sp) < BASE).then_some(stack)
    }

    /// The strand that was announced last, as long as it lives.
    fn latest<S: Sink>(&self, running: &Running<'_, S>, context: usize) -> Option<Bound> {
        self.bound(running, self.said[context].latest?)
    }

    /// The strand of this number, as long as it lives.
    fn bound<S: Sink>(&self, running: &Running<'_, S>, number: u64) -> Option<Bound> {
        let bound = self.bound.get(&number)?;
        running.holds(bound.slot, bound.id).then_some(*bound)
    }

    fn change<S: Sink>(
        &self,
        running: &mut Running<'_, S>,
        number: u64,
        change: impl FnOnce(&mut Strand),
    ) {
        if let Some(bound) = self.bound.get(&number) {
            running.change(bound.slot, bound.id, change);
        }
    }
}

impl Bound {
    /// The stack that it ran on then, if that is its own, and no thread's.
    fn stack<S: Sink>(self, running: &Running<'_, S>) -> Option<u32> {
        let state = running.stack(self.stack);
        (state.slot == self.slot && state.owner.is_none()).then_some(self.stack)
    }
}

//! Sinks receive the calls and strands that the decoder finds.

use crate::brief::Brief;
use crate::{Strand, StrandId};
use heddle_calls::{Key, Span, Stats};
use heddle_trace_file::{Addr, Callee, CoroutineFrame, Event, Nanos};

/// A call that began.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// The strand that it is on.
    pub strand: StrandId,
    /// That strand's [`Strand::slot`].
    pub slot: u32,
    /// Index of the thread that ran it.
    pub thread: usize,
    /// The function's address.
    pub function: Addr,
    /// The function's number. Within one sink, a function has one number, and a number one
    /// function.
    pub number: u32,
    /// The return address into the caller.
    pub caller: Addr,
    /// Whether it was inlined into the call around it.
    pub inlined: bool,
    /// The function of the call around it on its stack, whosever strand that is.
    pub around: Option<Addr>,
    /// Whether it runs or destroys the coroutine whose strand it is on.
    pub body: bool,
    /// Whether it destroys that coroutine.
    pub destroys: bool,
    /// Open calls of its strand around it, within this activation.
    pub depth: usize,
    /// When it was entered.
    pub enter: Nanos,
    /// The coroutine's frame that it goes on with or destroys, where it was captured.
    pub frame: Option<CoroutineFrame>,
}

/// A call that ended.
#[derive(Clone, Copy, Debug)]
pub struct StrandSpan {
    /// On which strand.
    pub strand: StrandId,
    /// That strand's [`Strand::slot`].
    pub slot: u32,
    /// Index of the thread that ran it last.
    pub thread: usize,
    /// The function's number, as in [`Call::number`].
    pub number: u32,
    /// The call; `depth` counts the open calls of its strand, and `callees` includes the time that
    /// its stack did not run.
    pub span: Span,
    /// The function of the call around it on its stack.
    pub around: Option<Addr>,
    /// Whether it ran or destroyed the coroutine whose strand it was on.
    pub body: bool,
}

/// Takes what the decoder finds, in order of time. Every method does nothing unless it is
/// overridden.
pub trait Sink {
    /// Whether it is told how strands live: of their births, runs and calls. Else it is told when
    /// they get names and end, and of events that are neither enters nor exits. To find out what
    /// nobody wants takes longer than all the rest.
    const LIVES: bool = true;

    /// A strand was met for the first time.
    fn born(&mut self, _strand: &Strand) {}
    /// A coroutine that was never resumed is suspended, since its ramp returned, as far as that is
    /// known: told once that is so for certain, which may be later. One that its ramp goes on to
    /// run begins without that.
    fn rests(&mut self, _strand: StrandId, _since: Nanos) {}
    /// The program has given a strand a name.
    fn named(&mut self, _strand: &Strand) {}
    /// A strand runs from `time` on; `by` has resumed it, or of a stack of its own ran before it,
    /// where that is known.
    fn resumed(&mut self, _strand: StrandId, _by: Option<StrandId>, _thread: usize, _time: Nanos) {}
    /// A strand does not run from `time` on.
    fn suspended(&mut self, _strand: StrandId, _thread: usize, _time: Nanos) {}
    /// While a strand was suspended, the fiber that its thread ran had no call open from `from` to
    /// `to`: that time is its innermost call's own.
    fn idled(&mut self, _strand: StrandId, _from: Nanos, _to: Nanos) {}
    /// A call began.
    fn enter(&mut self, _call: &Call) {}
    /// A call ended. Callees before their caller.
    fn leave(&mut self, _span: &StrandSpan) {}
    /// An exit that belongs to no open call.
    fn unmatched(&mut self, _strand: StrandId, _thread: usize, _function: Callee, _time: Nanos) {}
    /// An event that is neither an enter nor an exit, on the strand that its thread runs.
    fn other(&mut self, _strand: StrandId, _thread: usize, _event: &Event<'_>) {}
    /// A strand that will not be heard of again; its calls have ended.
    fn ended(&mut self, _strand: &Strand) {}
    /// A strand has ended, as for [`Sink::ended`], but is given in few bytes. A sink that overrides
    /// this gets most strands here; those with names or very large numbers come to `ended`.
    fn ended_brief(&mut self, strand: &Brief<'_>) {
        self.ended(&strand.strand());
    }
}

/// Adds calls up by function. A thread that runs nothing but its own stack gives sums instead of
/// single calls: its events are read in pieces, by all workers at once.
pub trait Summing: Sink {
    /// The sums of all calls of such a thread; comes between its birth and its end.
    fn called(&mut self, thread: &Strand, functions: &[(Key, Stats)]);
}

/// Ignores them, for callers that need only the counts of the decoder itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ignore;

impl Sink for Ignore {
    const LIVES: bool = false;
}

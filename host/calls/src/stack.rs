//! Pairs enters and exits of one thread, as calls on one stack.
//!
//! The stack grows downwards, so of two open calls the inner one has the lower stack pointer, or
//! the same one if it was inlined.
//!
//! - *Enter*: open calls whose stack pointer is below the new one's are gone (`longjmp` left them
//!   without an exit): they end here, unwound. So are those with the same one and another call
//!   site: only an inlined call leaves the stack pointer as it is, and has its container's call
//!   site. That holds only within one stack: a signal handler's alternate stack may be anywhere.
//! - *Exit*: it ends the nearest open call of the same function, as far as the exit's bits of the
//!   function's address tell ([`Callee`]). Calls above that one had no exit of their own and end
//!   unwound. At its exit, a function's stack pointer may be lower than at its enter (`alloca`) or
//!   higher (the exit hook is tail-called after the frame is gone), but not above the frame it was
//!   called from: an open call of which that would be true is skipped, so that after a `longjmp`
//!   out of a recursion the right one ends.
//! - Events of [`Way::Entry`] say it more plainly: the stack pointer is where the return address
//!   lies, so no two open calls share it (an enter at the same one ends what had it), and the exit
//!   with the same one ends the call. The function is not asked: an exit has another address within
//!   it than the enter. A tail call is an exit, then an enter with the same stack pointer and call
//!   site.
//! - *Jump* (`longjmp`): open calls whose stack pointer is below the one that it goes to are gone,
//!   and so are those with the same one that were inlined: a function that calls `setjmp` never is.
//!   So larger frames of what is called then, and recursion, hide nothing. A jump downwards goes to
//!   another stack.
//! - An exit that finds no open call is counted and changes nothing. One of a *thunk* is not even
//!   counted ([`Stack::is_thunk`]).
//! - *Gap*: calls that were open before it may have ended in it, and nothing says which. They stay
//!   open, and end like others: by an exit that fits, or unwound where an event shows them gone;
//!   the time of the gap is theirs. Only one rule is turned: an enter of the same function at the
//!   same place is a call of its own, made after the one before the gap had ended, and not inlined
//!   into that.

mod above;

pub(crate) use above::Above;

use crate::{End, Loose, Span};
use heddle_trace_file::{Addr, Callee, Event, EventKind, Nanos, Thread, Way};
use std::ops::Range;

/// An open call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The function's address; [`Way::Entry`]: the one within it at its enter, the same for every
    /// call.
    pub function: Addr,
    /// Which hooks told of it.
    pub way: Way,
    /// The return address into the caller; for an inlined function, that of its container.
    pub caller: Addr,
    /// Whether the function was inlined into the frame below it, which then is its real caller.
    pub inlined: bool,
    /// The stack pointer at its enter.
    pub sp: Addr,
    /// When it was entered.
    pub enter: Nanos,
    callees: Nanos,
    /// Gaps that its thread had had by then.
    pub gaps: u32,
}

impl Frame {
    /// Whether a function that calls `setjmp` with the stack pointer `sp` has made this call, or
    /// one of those that it has made has.
    pub fn is_below(&self, sp: Addr) -> bool {
        self.sp < sp || (self.sp == sp && self.inlined)
    }
}

/// The open calls of a thread.
#[derive(Clone, Debug)]
pub struct Stack {
    frames: Vec<Frame>,
    bounds: Option<Range<Addr>>,
    loose: Loose,
    latest: Nanos,
    gaps: u32,
    strayed: bool,
    /// A call was entered on another stack than the thread's own.
    elsewhere: bool,
    /// Where the thread's own stack is: from here on, so many bytes.
    home: Addr,
    home_bytes: u64,
    /// The highest stack pointer of a call that began with no other around it.
    reach: Addr,
    /// The time of calls that ended with no other around them.
    outermost: Nanos,
    /// See [`Above`].
    thunks: Range<Addr>,
    /// See [`Stack::latest_site`]; or [`NOT_ENDED`], or [`NOTHING`] before the first call.
    ended: Addr,
}

/// The latest call has not ended.
const NOT_ENDED: Addr = Addr(0);
/// No call has begun or ended.
const NOTHING: Addr = Addr(u64::MAX);
/// No thunk has recorded an exit.
const NO_THUNKS: Range<Addr> = Addr(u64::MAX)..Addr(0);

/// What an event did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A call began; it is the last of [`Stack::open`].
    Entered,
    /// This call ended by its exit.
    Left(Span),
    /// An exit of this function that belongs to no open call.
    Unmatched(Callee),
    /// An exit that a thunk recorded before it jumped to the function that was called.
    Thunk,
    /// It was neither an enter nor an exit, and no call ended by it.
    Other,
}

impl Stack {
    /// No open call; `bounds` is where the thread's stack is, if known.
    pub fn new(bounds: Option<Range<Addr>>) -> Self {
        let home = bounds.clone().unwrap_or(Addr(0)..Addr(u64::MAX));
        Stack {
            frames: Vec::new(),
            home: home.start,
            home_bytes: home.end.0 - home.start.0,
            bounds,
            loose: Loose::default(),
            latest: Nanos(0),
            gaps: 0,
            strayed: false,
            elsewhere: false,
            reach: Addr(0),
            outermost: Nanos(0),
            thunks: NO_THUNKS,
            ended: NOTHING,
        }
    }

    /// No open call of `thread`. Where it is not known where its stack is, it is taken to be around
    /// its first call.
    pub fn of(thread: &Thread) -> Self {
        const EVENTS: usize = 1 << 10;
        const BELOW: u64 = 8 << 20;
        const ABOVE: u64 = 64 << 10;
        let mut stack = Stack::new(thread.stack());
        if thread.stack().is_none() {
            let first = thread.events().take(EVENTS).flatten();
            let mut enters = first.filter_map(|event| match event.kind {
                EventKind::Enter { sp, .. } => Some(sp.0),
                _ => None,
            });
            if let Some(sp) = enters.next() {
                stack.home = Addr(sp.saturating_sub(BELOW));
                stack.home_bytes = sp.saturating_add(ABOVE) - stack.home.0;
            }
        }
        stack
    }

    /// Takes the next event, and calls `ended` for every call that it ends, innermost first, with
    /// the call around it.
    #[inline]
    pub fn feed(&mut self, event: Event, mut ended: impl FnMut(Span, Option<&Frame>)) -> Step {
        self.latest = event.time;
        match event.kind {
            EventKind::Enter {
                function,
                caller,
                sp,
                ..
            } => {
                let inlined = loop {
                    let Some(top) = self.frames.last() else {
                        self.reach = self.reach.max(sp);
                        break false;
                    };
                    // Nearly always: it was called from above.
                    if top.sp > sp {
                        break false;
                    }
                    if !self.gone(top, event.way, function, caller, sp) {
                        let (same_place, same_site) = (top.sp == sp, top.caller == caller);
                        // Not gone, so on another stack.
                        self.strayed |= !same_place;
                        break same_place && same_site;
                    }
                    self.close(End::Unwound, &mut ended);
                };
                if sp.0.wrapping_sub(self.home.0) >= self.home_bytes {
                    self.elsewhere = true;
                }
                self.push(&event, (function, caller, sp), inlined);
                Step::Entered
            }
            EventKind::Exit { function, sp } => {
                // Nearly always: the innermost call returns as it was entered.
                let as_entered = self
                    .frames
                    .last()
                    .is_some_and(|top| top.sp == sp && fits(top, function, event.way));
                if !as_entered {
                    let found = match event.way {
                        Way::Instrumented => self.matching(function, sp),
                        Way::Entry => self.entered_at(sp),
                    };
                    self.strayed |= self.is_elsewhere(sp);
                    let Some(index) = found else {
                        if self.is_thunk(event.way, sp) {
                            return Step::Thunk;
                        }
                        self.loose.unmatched += 1;
                        return Step::Unmatched(function);
                    };
                    while self.frames.len() > index + 1 {
                        self.close(End::Unwound, &mut ended);
                    }
                }
                match self.close(End::Returned, &mut ended) {
                    Some(span) => Step::Left(span),
                    None => Step::Unmatched(function),
                }
            }
            EventKind::Gap { .. } => {
                self.gaps += 1;
                Step::Other
            }
            // An array of a function is a fiber's stack.
            EventKind::StackMade { low, .. } if self.owns(low) => {
                self.strayed = true;
                Step::Other
            }
            EventKind::Jump {
                to,
                lowest,
                downwards: false,
            } => {
                while self
                    .frames
                    .last()
                    .is_some_and(|top| self.jumps_over(top, lowest, to))
                {
                    self.close(End::Unwound, &mut ended);
                }
                Step::Other
            }
            _ => Step::Other,
        }
    }

    /// Whether a jump leaves this call when it goes to where the stack pointer is `to`, as far as
    /// both are known to be on one stack, which no call is that lies lower than `lowest`.
    fn jumps_over(&self, frame: &Frame, lowest: Addr, to: Addr) -> bool {
        lowest <= frame.sp && frame.is_below(to) && self.same_stack(frame.sp, to)
    }

    /// Takes the enter of a signal's handler: no open call is gone, wherever the handler's stack
    /// is.
    pub fn interrupt(&mut self, event: Event) -> Step {
        let EventKind::Enter {
            function,
            caller,
            sp,
            ..
        } = event.kind
        else {
            return Step::Other;
        };
        self.latest = event.time;
        self.push(&event, (function, caller, sp), false);
        Step::Entered
    }

    /// Begins a call.
    #[inline]
    fn push(&mut self, event: &Event, (function, caller, sp): (Addr, Addr, Addr), inlined: bool) {
        self.frames.push(Frame {
            function,
            way: event.way,
            caller,
            inlined,
            sp,
            enter: event.time,
            callees: Nanos(0),
            gaps: self.gaps,
        });
        self.ended = NOT_ENDED;
    }

    /// Ends the calls above the first `count` of those that are open: an event at this time shows
    /// that they are gone.
    pub fn unwind(
        &mut self,
        count: usize,
        time: Nanos,
        mut ended: impl FnMut(Span, Option<&Frame>),
    ) {
        self.latest = time;
        while self.frames.len() > count {
            self.close(End::Unwound, &mut ended);
        }
    }

    /// Ends what is still open: the thread has no more events.
    pub fn finish(&mut self, mut ended: impl FnMut(Span, Option<&Frame>)) {
        while self.close(End::Open, &mut ended).is_some() {}
    }

    /// The open calls, outermost first.
    pub fn open(&self) -> &[Frame] {
        &self.frames
    }

    /// When the latest event was.
    pub fn latest(&self) -> Nanos {
        self.latest
    }

    /// The call site of the call that the latest event ended; `None` if that was an enter. It is
    /// the innermost open call's own where the call was inlined into that; else it is within the
    /// innermost open call, unless that is gone.
    pub fn latest_site(&self) -> Option<Addr> {
        (self.ended != NOT_ENDED && self.ended != NOTHING).then_some(self.ended)
    }

    /// The number of gaps that the thread has had.
    pub fn gaps(&self) -> u32 {
        self.gaps
    }

    /// What did not pair up so far.
    pub fn loose(&self) -> Loose {
        self.loose
    }

    /// Whether the thread may run fibers: an event did not nest with the one before, and not both
    /// were on its own stack, as far as it is known where that is. As long as this is false, its
    /// calls are those of one stack, paired as they were made. Signals on a stack of their own look
    /// the same.
    pub fn may_have_fibers(&self) -> bool {
        let unpaired = self.loose.unmatched + self.loose.unwound > 0;
        self.strayed || (self.bounds.is_none() && unpaired)
    }

    /// Whether a call was entered on another stack than the thread's own, as far as it is known
    /// where that is: a fiber's, which another thread may run, too.
    pub fn was_elsewhere(&self) -> bool {
        self.elsewhere
    }

    /// Whether an exit with this stack pointer, or the innermost open call, is known not to be on
    /// the thread's own stack.
    fn is_elsewhere(&self, sp: Addr) -> bool {
        let top = self.frames.last().map_or(sp, |top| top.sp);
        let outside = |bounds: &Range<Addr>| !bounds.contains(&sp) || !bounds.contains(&top);
        self.bounds.as_ref().is_some_and(outside)
    }

    /// The open call of [`Way::Entry`] with this stack pointer.
    #[inline]
    fn entered_at(&self, sp: Addr) -> Option<usize> {
        self.frames
            .iter()
            .rposition(|frame| frame.sp == sp && frame.way == Way::Entry)
    }

    /// Whether an exit that belongs to no open call is a thunk's. GCC writes the code that adjusts
    /// `this` for a virtual function of a second base with a call of `__return__` in front of its
    /// jump, and without one of `__fentry__`. A call that began before the recording is around all
    /// those that were seen to begin: so below one of these, and with no gap since, every other
    /// exit has its enter.
    #[inline]
    fn is_thunk(&self, way: Way, sp: Addr) -> bool {
        way == Way::Entry
            && self.frames.last().is_some_and(|top| {
                sp < top.sp && top.gaps == self.gaps && self.owns(sp) && self.owns(top.sp)
            })
    }

    #[inline]
    fn matching(&self, function: Callee, sp: Addr) -> Option<usize> {
        let same = |index: &usize| fits(&self.frames[*index], function, Way::Instrumented);
        let mut candidates = (0..self.frames.len()).rev().filter(same);
        candidates
            .clone()
            .find(|&index| self.plausible(index, sp))
            .or_else(|| candidates.next())
    }

    /// Whether the call at `index` can have been left with this stack pointer: not above the frame
    /// that it was called from.
    fn plausible(&self, index: usize, sp: Addr) -> bool {
        let inner = self.frames[index].sp;
        let outer = self.frames[..index]
            .iter()
            .rev()
            .find(|frame| frame.sp != inner);
        outer.is_none_or(|outer| sp <= outer.sp || !self.same_stack(outer.sp, sp))
    }

    /// Whether `top` cannot be open any more when a call from `caller` is entered at `sp`.
    #[inline]
    fn gone(&self, top: &Frame, way: Way, function: Addr, caller: Addr, sp: Addr) -> bool {
        let again = top.gaps != self.gaps && top.function == function;
        let may_share = way == Way::Instrumented && top.way == Way::Instrumented && !again;
        (top.sp < sp && self.same_stack(top.sp, sp))
            || (top.sp == sp && !(may_share && top.caller == caller))
    }

    /// Whether this is known to be on the thread's own stack.
    fn owns(&self, address: Addr) -> bool {
        let bounds = self.bounds.as_ref();
        bounds.is_some_and(|bounds| bounds.contains(&address))
    }

    /// Whether both stack pointers are on the thread's own stack, as far as it is known where that
    /// is.
    pub fn same_stack(&self, a: Addr, b: Addr) -> bool {
        self.bounds
            .as_ref()
            .is_none_or(|bounds| bounds.contains(&a) && bounds.contains(&b))
    }

    #[inline]
    fn close(&mut self, end: End, ended: &mut impl FnMut(Span, Option<&Frame>)) -> Option<Span> {
        let Frame {
            function,
            caller,
            inlined,
            enter,
            callees,
            ..
        } = self.frames.pop()?;
        let span = Span {
            function,
            caller,
            inlined,
            depth: self.frames.len(),
            enter,
            exit: self.latest,
            callees,
            end,
        };
        match end {
            End::Returned => {}
            End::Unwound => self.loose.unwound += 1,
            End::Open => self.loose.open += 1,
        }
        let callees = match self.frames.last_mut() {
            Some(parent) => &mut parent.callees,
            None => &mut self.outermost,
        };
        callees.0 = callees.0.saturating_add(span.duration().0);
        self.ended = caller;
        ended(span, self.frames.last());
        Some(span)
    }
}

/// Whether an exit by these hooks, as far as it says of what function it is, may be this call's.
#[inline]
fn fits(frame: &Frame, function: Callee, way: Way) -> bool {
    frame.way == way && (way == Way::Entry || function.may_be(frame.function))
}

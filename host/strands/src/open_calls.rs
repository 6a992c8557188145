//! The calls that are open on the stacks of a group: they begin and end here. The sink is told of
//! each.

use crate::Doubts;
use crate::code::Role;
use crate::entered::Entered;
use crate::instances::{Around, ramp_call};
use crate::live::GoesOn;
use crate::sink::{Call, Sink, StrandSpan};
use crate::stack_map::StackMap;
use crate::stacks::{Frame, REACH, Stack};
use crate::strands::Strands;
use crate::threads::{Left, Unseen};
use heddle_calls::{End, Loose, Span};
use heddle_trace_file::{Addr, Callee, Nanos};

/// Calls around one of a ramp that are looked at for another ramp: its coroutine may have made it.
const AROUND: usize = 64;

/// The open calls of a group of threads.
pub(crate) struct OpenCalls<'a, S> {
    pub strands: Strands<'a, S>,
    pub map: StackMap<'a>,
    /// Call sites of calls that were taken for callbacks, and how those ended, since
    /// [`Self::take_callbacks`] was last called.
    callbacks: Vec<(u64, End)>,
    pub loose: Loose,
    /// The time of the event that is taken.
    pub latest: u64,
}

impl<'a, S: Sink> OpenCalls<'a, S> {
    /// No call is open yet on these stacks.
    pub fn new(strands: Strands<'a, S>, map: StackMap<'a>) -> Self {
        OpenCalls {
            strands,
            map,
            callbacks: Vec::new(),
            loose: Loose::default(),
            latest: 0,
        }
    }

    /// How calls have ended that were taken for callbacks, by call site, since this was asked last.
    #[inline]
    pub fn take_callbacks(&mut self) -> Option<Vec<(u64, End)>> {
        (!self.callbacks.is_empty()).then(|| std::mem::take(&mut self.callbacks))
    }

    /// An exit that belongs to no open call.
    pub fn unmatched(&mut self, context: usize, function: Callee, time: Nanos) {
        self.loose.unmatched += 1;
        let thread = self.map.threads[context].thread;
        let slot = self.map.innermost(context);
        self.strands.unmatched(slot, thread, function, time);
    }

    /// Opens a call on `stack`, which the thread runs. `body`: whose machine code it is.
    #[inline(always)]
    pub fn push(
        &mut self,
        context: usize,
        stack: u32,
        new: &Entered,
        (callee, body): (u32, u32),
        flags: u16,
    ) {
        if self.map.threads[context].idle_since.is_some() {
            self.end_idle(context, None, new.time);
        }
        let state = &self.map.stacks[stack];
        let (outer, depth, below) = match state.frames.last() {
            Some(below) => (below.slot, below.depth + 1, below.flags),
            None => (state.slot, 0, 0),
        };
        let (mut slot, mut depth, mut flags) = (outer, depth, flags);
        if let Some(frame) = new.frame {
            let around = Around {
                thread: self.map.threads[context].thread,
                strand: outer,
                jumped: self.map.left_here(context, new).map(|left| left.strand),
                event: self.map.threads[context].events,
                top: self.map.stacks[stack].frames.last_mut(),
            };
            // An inlined function has its container's body, but its own role.
            let called = (frame, callee);
            if let Some(instance) = self.strands.instance(around, new, called) {
                flags |= instance.flags;
                if instance.slot != outer {
                    flags |= Frame::ACTIVATION;
                    depth = 0;
                    self.doubt_begun_within(context, stack, new.sp);
                    self.activate(context, (instance.slot, instance.goes_on), outer, new);
                }
                slot = instance.slot;
            }
        } else {
            match self.strands.role(callee) {
                Role::Plain => {}
                Role::Ramp(_) => flags |= Frame::RAMP,
                // The recorder tells the frame right before the enter, so that event is missing,
                // and which instance's call this is is not known.
                Role::Part(..) => self.strands.doubt(outer, Doubts::BEGUN_BEFORE),
            }
        }
        if is_told(below) && flags & (Frame::INLINED | Frame::COROUTINE) == 0 {
            self.strands.leaves_at(outer, Addr(new.caller));
        }
        let gaps = self.map.threads[context].gaps;
        let state = &mut self.map.stacks[stack];
        let around = match S::LIVES {
            true => state.frames.last().map(|outer| Addr(outer.function)),
            false => None,
        };
        if flags & Frame::ACTIVATION != 0 {
            state.activations.get_or_insert_default().begin();
        }
        state.frames.push(Frame {
            function: new.function,
            caller: new.caller,
            sp: new.sp,
            enter: new.time,
            callees: 0,
            suspended: state.suspended.saturating_sub(state.idle),
            body,
            callee,
            slot,
            depth,
            gaps,
            flags,
        });
        self.strands.enters(slot, Addr(new.function));
        if !S::LIVES {
            return;
        }
        let call = Call {
            strand: self.strands.id(slot),
            slot,
            thread: self.map.threads[context].thread,
            function: Addr(new.function),
            number: callee,
            caller: Addr(new.caller),
            inlined: flags & Frame::INLINED != 0,
            around,
            body: flags & Frame::COROUTINE != 0,
            destroys: flags & Frame::DESTROYS != 0,
            depth: depth as usize,
            enter: Nanos(new.time),
            frame: new.frame,
        };
        self.strands.sink().enter(&call);
    }

    /// Takes a call of the function with this number on `stack`, which the thread runs, that calls
    /// nothing and ends at `exit`: the sink is told that it began and ended, and it need not be
    /// opened. Whether that is all it is: else nothing is done.
    #[inline(always)]
    pub fn leaf(
        &mut self,
        context: usize,
        stack: u32,
        new: &Entered,
        (number, is_inlined): (u32, bool),
        exit: u64,
    ) -> bool {
        if self.strands.role(number) != Role::Plain {
            return false;
        }
        let state = &mut self.map.stacks[stack];
        let Some(outer) = state.frames.last_mut() else {
            return false;
        };
        state.ended_site = new.caller;
        let took = exit.saturating_sub(new.time);
        outer.callees += took;
        let (slot, depth) = (outer.slot, outer.depth as usize + 1);
        let around = Some(Addr(outer.function));
        if !is_inlined && is_told(outer.flags) {
            self.strands.leaves_at(slot, Addr(new.caller));
        }
        let (function, caller) = (Addr(new.function), Addr(new.caller));
        self.strands.enters(slot, function);
        if S::LIVES {
            let (strand, thread) = (self.strands.id(slot), self.map.threads[context].thread);
            let sink = self.strands.sink();
            sink.enter(&Call {
                strand,
                slot,
                thread,
                function,
                number,
                caller,
                inlined: is_inlined,
                around,
                body: false,
                destroys: false,
                depth,
                enter: Nanos(new.time),
                frame: None,
            });
            sink.leave(&StrandSpan {
                strand,
                slot,
                thread,
                number,
                span: Span {
                    function,
                    caller,
                    inlined: is_inlined,
                    depth,
                    enter: Nanos(new.time),
                    exit: Nanos(exit),
                    callees: Nanos(0),
                    end: End::Returned,
                },
                around,
                body: false,
            });
        }
        true
    }

    /// An activation begins on `stack` at `sp`. If that is where the thread had an exit without a
    /// call before, recording began within an activation, too: calls that seem to be the thread's
    /// were that coroutine's.
    #[inline]
    fn doubt_begun_within(&mut self, context: usize, stack: u32, sp: u64) {
        let thread = &self.map.threads[context];
        if stack == thread.own && thread.has_left_at(sp) {
            let slot = self.map.stacks[stack].slot;
            self.strands.doubt(slot, Doubts::BEGUN_BEFORE);
        }
    }

    /// The code of a coroutine makes a call on the own stack of this thread, where nothing is open:
    /// recording began within its activation, or leaves that out. What is called there is that
    /// coroutine's, until [`OpenCalls::end_unseen`].
    pub fn begin_unseen(&mut self, context: usize, coroutine: (u32, u32, Addr), time: u64) {
        let (function, number, entry) = coroutine;
        let thread = self.map.threads[context].thread;
        let slot = self.strands.unseen((number, entry), thread, time);
        let state = &mut self.map.stacks[self.map.threads[context].own];
        state.activations.get_or_insert_default().begin();
        let outer = std::mem::replace(&mut state.slot, slot);
        self.map.threads[context].unseen = Some(Unseen {
            slot,
            thread: outer,
            function,
            since: time,
        });
        let which = (slot, GoesOn::Begins);
        self.strands
            .begin_activation(which, (outer, None), thread, time);
    }

    /// The activation that was not seen to begin is over, if there is one on this thread, or, by
    /// [`End::Open`], the trace is. What it has called may be open where events are missing.
    pub fn end_unseen(&mut self, context: usize, end: End, time: u64) {
        let Some(unseen) = self.map.threads[context].unseen.take() else {
            return;
        };
        let state = &mut self.map.stacks[self.map.threads[context].own];
        state.slot = unseen.thread;
        let ran = time.saturating_sub(unseen.since);
        let nested = state.activations.get_or_insert_default().end_outermost(ran);
        let spent = (ran, nested);
        let when = (self.map.threads[context].thread, time);
        self.strands
            .end_activation((unseen.slot, false), spent, end, when);
    }

    /// Begins an activation of the coroutine in `slot`.
    fn activate(&mut self, context: usize, which: (u32, GoesOn), outer: u32, new: &Entered) {
        let thread = self.map.threads[context].thread;
        let from = (outer, self.map.left_here(context, new));
        self.strands.begin_activation(which, from, thread, new.time);
    }

    /// Ends the innermost call on `stack`.
    #[inline]
    pub fn close(&mut self, stack: u32, end: End) -> Option<()> {
        let time = self.latest;
        let state = &mut self.map.stacks[stack];
        // Field by field: mostly it was written just now, and a copy of the whole would wait for
        // that.
        let (frame, below) = state.frames.split_last()?;
        let around = below.last().map(|outer| Addr(outer.function));
        let (function, caller, sp) = (frame.function, frame.caller, frame.sp);
        let (enter, callees, slot) = (frame.enter, frame.callees, frame.slot);
        let (depth, flags, number) = (frame.depth, frame.flags, frame.callee);
        // A suspended stack has not run since it was suspended.
        let suspended = if state.running {
            state.suspended
        } else {
            state.suspended + time.saturating_sub(state.since)
        };
        let suspended = suspended.saturating_sub(state.idle + frame.suspended);
        let noted = match flags & Frame::NOTED_AT_END {
            0 => None,
            _ => Some(*frame),
        };
        state.frames.pop();
        state.ended_site = caller;
        let whole = time.saturating_sub(enter);
        let ran = whole.saturating_sub(suspended);
        match state.frames.last_mut() {
            Some(outer) => outer.callees += ran,
            None => {
                state.base = sp;
                let ended = &mut self.map.threads[state.thread as usize];
                ended.emptied = Some((ended.events, stack, number));
                if state.owner.is_none() && state.running {
                    ended.idle_since = Some(time);
                }
            }
        }
        match end {
            End::Returned => {}
            End::Unwound => self.loose.unwound += 1,
            End::Open => self.loose.open += 1,
        }
        if S::LIVES {
            let strand = self.strands.id(slot);
            let thread = state.thread as usize;
            let span = StrandSpan {
                strand,
                slot,
                thread: self.map.threads[thread].thread,
                number,
                span: Span {
                    function: Addr(function),
                    caller: Addr(caller),
                    inlined: flags & Frame::INLINED != 0,
                    depth: depth as usize,
                    enter: Nanos(enter),
                    exit: Nanos(time),
                    callees: Nanos((callees + suspended).min(whole)),
                    end,
                },
                around,
                body: flags & Frame::COROUTINE != 0,
            };
            self.strands.sink().leave(&span);
        }
        if let Some(frame) = noted {
            self.note_end(stack, &frame, ran, end);
        }
        Some(())
    }

    /// Closes all calls of `stack`: the trace has ended.
    pub fn close_all(&mut self, stack: u32) {
        let frames = &mut self.map.stacks[stack].frames;
        let is_noted = |frame: &Frame| frame.is(Frame::NOTED_AT_END);
        if !S::LIVES && !frames.iter().any(is_noted) {
            // The sink is not told of calls, and no event follows: it is enough to count them.
            self.loose.open += frames.len() as u64;
            frames.clear();
        }
        while self.close(stack, End::Open).is_some() {}
    }

    /// The fiber that the thread runs has no call open, up to `time`: another call begins on its
    /// stack, or the thread runs `next`. A function of no recorded call has that time, as one
    /// that was compiled without hooks, so it is Self of the call that goes on: on `next`, or,
    /// where that has none, on the stack that ran before. A stack that another thread ran since
    /// has none of it, so no time is counted to it twice.
    #[cold]
    #[inline(never)]
    pub fn end_idle(&mut self, context: usize, next: Option<u32>, time: u64) {
        let thread = &mut self.map.threads[context];
        let Some(since) = thread.idle_since.take() else {
            return;
        };
        let before = thread.ran_before.filter(|&(stack, id)| {
            let slot = self.map.stacks[stack].slot;
            slot != Stack::SPENT && self.strands.holds(slot, id)
        });
        let waits = |&stack: &u32| {
            let state = &self.map.stacks[stack];
            let ran_here = state.thread as usize == context;
            !state.running && ran_here && !state.frames.is_empty()
        };
        let next = next.filter(waits);
        if let Some(stack) = next.or(before.map(|(stack, _)| stack).filter(waits)) {
            let state = &mut self.map.stacks[stack];
            let since = since.max(state.since).min(time);
            state.idle += time - since;
            let slot = state.innermost();
            if S::LIVES {
                let id = self.strands.id(slot);
                self.strands.sink().idled(id, Nanos(since), Nanos(time));
            }
        }
    }

    /// The coroutine's call that ended with the thread's event of this number.
    fn left(&self, event: u64, frame: &Frame) -> Left {
        Left {
            event,
            strand: self.strands.id(frame.slot),
            maker: self.strands.maker(frame.slot),
            callee: frame.callee,
            sp: frame.sp,
            caller: frame.caller,
        }
    }

    /// Notes the end of a call that is more than a call: a callback, or one of a coroutine's.
    #[cold]
    #[inline(never)]
    fn note_end(&mut self, stack: u32, frame: &Frame, ran: u64, end: End) {
        let time = self.latest;
        if frame.is(Frame::CALLBACK) {
            self.callbacks.push((frame.caller, end));
        }
        if frame.is(Frame::PERHAPS_GONE) && end != End::Returned {
            let slot = self.map.stacks[stack].slot;
            self.strands.doubt(slot, Doubts::CALLER);
            self.strands.doubt(frame.slot, Doubts::CALLER);
        }
        let context = self.map.stacks[stack].thread as usize;
        let (thread, events) = (
            self.map.threads[context].thread,
            self.map.threads[context].events,
        );
        if frame.is(Frame::RAMP) {
            let returned = end == End::Returned;
            let around = self.map.stacks[stack].frames.iter().rev().take(AROUND);
            let mut around = around.take_while(|around| around.slot == frame.slot);
            let within = around.any(|around| around.is(Frame::RAMP));
            let left = (thread, events);
            self.strands
                .ramp_left(frame, left, (returned, time), within);
        }
        if frame.is(Frame::DESTROYS) {
            self.strands.is_destroyed(frame.slot);
            // A coroutine that destroys itself: what it jumps to is no activation either.
            if end == End::Returned {
                self.map.threads[context].left = Some(self.left(events, frame));
            }
        }
        if !frame.is(Frame::ACTIVATION) {
            return;
        }
        let state = &mut self.map.stacks[stack];
        let nested = state.activations.get_or_insert_default().end(ran);
        let spent = (ran, nested);
        let ended = (frame.slot, frame.is(Frame::DESTROYS));
        let destroyed = self
            .strands
            .end_activation(ended, spent, end, (thread, time));
        if end == End::Returned {
            self.map.threads[context].left = Some(self.left(events, frame));
        }
        if destroyed {
            self.strands.destroyed(frame.slot, thread, time);
        }
    }

    /// The thread got memory that may be a coroutine's frame, with the stack pointer's low half
    /// `sp`.
    pub fn frame_made(&mut self, context: usize, frame: Addr, sp: u32) {
        let thread = &self.map.threads[context];
        let when = (thread.thread, self.latest);
        let frames = thread.current.map(|stack| &self.map.stacks[stack].frames);
        let top = frames.and_then(|frames| frames.last());
        // What the thread has gone to since its last event is not known.
        let top = top.filter(|top| u64::from((top.sp as u32).wrapping_sub(sp)) < REACH);
        let (Some(frames), Some(top)) = (frames, top) else {
            self.strands.frame_made(frame, when, (None, None), None);
            return;
        };
        let call = ramp_call(top);
        let own = top.is(Frame::RAMP) && self.strands.frame_in(call).is_none();
        let around = frames.iter().rev().skip(usize::from(own)).take(AROUND);
        let within = around
            .take_while(|around| around.slot == top.slot)
            .filter(|around| around.is(Frame::RAMP))
            .find_map(|around| self.strands.frame_in(ramp_call(around)));
        let in_ramp = own.then_some((call, top.callee, Addr(top.function)));
        let by = (Some(top.slot), within);
        self.strands.frame_made(frame, when, by, in_ramp);
    }

    /// A frame is freed, which `destroyer`, the function with this number, destroys. The
    /// activation in which that is done is the instance's last, though another one, which handed
    /// over, may end later.
    pub fn frame_freed(&mut self, context: usize, frame: Addr, destroyer: (Addr, u32)) {
        let thread = &self.map.threads[context];
        let left = thread.left.as_ref();
        let left = left.filter(|left| left.event + 1 == thread.events);
        let left = left.map(|left| left.strand);
        let when = (thread.thread, self.latest);
        let freed = self.strands.frame_freed(frame, destroyer, left, when);
        let (Some(slot), Some(stack)) = (freed, self.map.threads[context].current) else {
            return;
        };
        let frames = self.map.stacks[stack].frames.iter_mut().rev().take(AROUND);
        let mut own = frames.filter(|frame| frame.slot == slot && frame.is(Frame::ACTIVATION));
        if let Some(activation) = own.next() {
            activation.flags |= Frame::DESTROYS;
        }
    }

    /// A call was taken for one that the innermost call of `stack` made, if that was not gone by
    /// then: if it does not return, the stack is doubted.
    pub fn has_to_return(&mut self, stack: u32) {
        if let Some(innermost) = self.map.stacks[stack].frames.last_mut() {
            innermost.flags |= Frame::PERHAPS_GONE;
        }
    }

    /// The calls of `stack` above the first `count` were open up to now, and a jump leaves them. By
    /// `-mfentry`, an exception may have left them before; not if the jump is an exception's, for
    /// then all exceptions are recorded.
    pub fn were_open(&mut self, stack: u32, count: usize, by_exception: bool) {
        for frame in &mut self.map.stacks[stack].frames[count..] {
            if by_exception || !frame.is(Frame::ENTRY) {
                frame.flags &= !Frame::PERHAPS_GONE;
            }
        }
    }

    /// Closes all calls of `stack` above the first `count`.
    pub fn unwind(&mut self, stack: u32, count: usize) {
        while self.map.stacks[stack].frames.len() > count {
            self.close(stack, End::Unwound);
        }
    }
}

/// Whether a call that is made by one with these flags tells where a coroutine is: its own code
/// makes it, which runs the coroutine and does not destroy it.
fn is_told(flags: u16) -> bool {
    flags & (Frame::COROUTINE | Frame::DESTROYS) == Frame::COROUTINE
}

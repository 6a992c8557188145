//! Threads run stacks, on which calls of strands are open. The sink is told of each change.

use crate::code::Code;
use crate::entered::Entered;
use crate::instances::{Around, Instances};
use crate::live::{Live, Slots};
use crate::sink::{Call, Sink, StrandSpan};
use crate::stacks::{Frame, Stack, Stacks};
use crate::threads::{Context, Threads};
use crate::{Kind, StrandId};
use heddle_calls::{End, Loose, Span};
use heddle_trace_file::{Addr, Callee, Event, Nanos, Process};

/// The open calls of a group of threads.
pub(crate) struct Running<'a, S> {
    sink: S,
    threads: Threads,
    stacks: Stacks,
    slots: Slots,
    instances: Instances<'a>,
    /// Call sites of calls that were taken for callbacks, and how those ended, since
    /// [`Self::take_callbacks`] was last called.
    callbacks: Vec<(u64, End)>,
    loose: Loose,
    /// The time of the event that is taken.
    latest: u64,
}

/// The results when all events have been read.
pub(crate) struct Told<S> {
    pub sink: S,
    pub loose: Loose,
    /// Coroutines of which nothing says who made them.
    pub orphans: u64,
}

impl<'a, S: Sink> Running<'a, S> {
    /// These threads of `process`, which has the index `number` in the trace, each on its own
    /// stack. `capturing`: frames of coroutines are captured.
    pub fn new(
        process: &Process,
        number: usize,
        threads: &[usize],
        (code, capturing): (&'a Code, bool),
        mut sink: S,
    ) -> Self {
        let mut slots = Slots::new(StrandId::new(number, process.threads().len()));
        let (mut stacks, mut group) = (Stacks::default(), Threads::default());
        for (context, &index) in threads.iter().enumerate() {
            let id = StrandId::new(number, index);
            let slot = slots.add_thread(id, index, &process.threads()[index]);
            sink.born(&slots[slot].strand);
            let own = stacks.add(Stack {
                slot,
                owner: Some(context),
                thread: context,
                running: true,
                ..Stack::default()
            });
            group.add(process, index, own);
        }
        Running {
            sink,
            threads: group,
            stacks,
            slots,
            instances: Instances::new(code, capturing),
            callbacks: Vec::new(),
            loose: Loose::default(),
            latest: 0,
        }
    }

    /// An event of the thread with this index in its process is taken; gives its index in the
    /// group.
    #[inline]
    pub fn begin_event(&mut self, thread: usize, time: u64) -> usize {
        let context = self.threads.context(thread);
        self.latest = time;
        let thread_state = &mut self.threads[context];
        thread_state.latest = time;
        thread_state.events += 1;
        context
    }

    /// The state of a thread.
    #[inline]
    pub fn thread(&self, context: usize) -> &Context {
        &self.threads[context]
    }

    /// A stack.
    #[inline]
    pub fn stack(&self, stack: u32) -> &Stack {
        &self.stacks[stack]
    }

    /// All stacks.
    #[inline]
    pub fn stacks(&self) -> &Stacks {
        &self.stacks
    }

    /// The stacks that threads run as far as was heard.
    pub fn current(&self) -> impl Iterator<Item = u32> + '_ {
        self.threads.running()
    }

    /// The sink, to be told more.
    #[inline]
    pub fn sink(&mut self) -> &mut S {
        &mut self.sink
    }

    /// How calls have ended that were taken for callbacks, by call site, since this was asked last.
    #[inline]
    pub fn take_callbacks(&mut self) -> Option<Vec<(u64, End)>> {
        (!self.callbacks.is_empty()).then(|| std::mem::take(&mut self.callbacks))
    }

    /// Whether this strand is in this slot.
    pub fn holds(&self, slot: u32, id: StrandId) -> bool {
        self.slots.holds(slot, id)
    }

    /// The strand in this slot, if it is still this one.
    pub fn live(&mut self, slot: u32, id: StrandId) -> Option<&mut Live> {
        self.slots.holds(slot, id).then(|| &mut self.slots[slot])
    }

    /// The strand in this slot has been given a name.
    pub fn name(&mut self, slot: u32, name: Box<str>) {
        let strand = &mut self.slots[slot].strand;
        strand.set_name(name);
        self.sink.named(strand);
    }

    /// The slot of the strand that the thread runs: its own where no other is known.
    pub fn innermost(&self, context: usize) -> u32 {
        let thread = &self.threads[context];
        self.stacks[thread.current.unwrap_or(thread.own)].innermost()
    }

    /// The strand in this slot.
    pub fn strand(&self, slot: u32) -> &crate::Strand {
        &self.slots[slot].strand
    }

    /// An event that is neither an enter nor an exit; `gap`: events of the thread are missing
    /// before it.
    pub fn other(&mut self, context: usize, event: &Event<'_>, gap: bool) {
        self.threads[context].gaps += u32::from(gap);
        let strand = self.slots[self.innermost(context)].strand.id;
        self.sink.other(strand, self.threads[context].thread, event);
    }

    /// An exit that belongs to no open call.
    pub fn unmatched(&mut self, context: usize, function: Callee, time: Nanos) {
        self.loose.unmatched += 1;
        let strand = self.slots[self.innermost(context)].strand.id;
        let thread = self.threads[context].thread;
        self.sink.unmatched(strand, thread, function, time);
    }

    /// The thread's own stack that holds `sp`: this thread's if it is one of several that had
    /// theirs there.
    pub fn own_stack_at(&self, context: usize, sp: u64) -> Option<u32> {
        let mut latest = None;
        for owner in self.threads.owners_at(sp) {
            let own = self.threads[owner].own;
            if owner == context {
                return Some(own);
            }
            // Several threads may have had their stacks here. The one with open calls is in use.
            if latest.is_none() || self.stacks[own].top().is_some() {
                latest = Some(own);
            }
        }
        latest
    }

    /// A thread whose stack's bounds were not recorded has it around its first call.
    pub fn settle(&mut self, context: usize, sp: u64) {
        self.threads.settle(context, sp);
    }

    /// The stack whose innermost call is next above `sp`, of those that rest, and of those that
    /// other threads run as far as was heard: they may have left them meanwhile.
    pub fn next_above(&self, context: usize, sp: u64) -> Option<(u64, u32)> {
        let current = self.threads[context].current;
        let left = self.threads.running().filter_map(|stack| {
            let top = self.stacks[stack].top()?.sp;
            (Some(stack) != current && top >= sp).then_some((top, stack))
        });
        self.stacks.above(sp).into_iter().chain(left).min()
    }

    /// Whether `sp` is right below what is open on this stack, with nothing between.
    pub fn is_next_on(&self, context: usize, stack: u32, sp: u64) -> bool {
        let Some(top) = self.stacks[stack].top() else {
            return false;
        };
        let above = self.next_above(context, sp);
        let between = above.is_some_and(|(other, _)| other < top.sp);
        sp < top.sp && !between
    }

    /// Opens a call on `stack`, which the thread runs. `body`: whose machine code it is.
    #[inline(always)]
    pub fn push(
        &mut self,
        context: usize,
        stack: u32,
        new: &Entered,
        (callee, body): (u32, u32),
        flags: u8,
    ) {
        let state = &self.stacks[stack];
        let (outer, depth) = match state.frames.last() {
            Some(below) => {
                if below.is(Frame::COROUTINE) && flags & Frame::INLINED == 0 {
                    self.slots[below.slot].strand.leaves_at(Addr(new.caller));
                }
                (below.slot, below.depth + 1)
            }
            None => (state.slot, 0),
        };
        let (mut slot, mut depth, mut flags) = (outer, depth, flags);
        if let Some(frame) = new.frame {
            let around = Around {
                thread: self.threads[context].thread,
                strand: self.slots[outer].strand.id,
                jumped: self.jumped_from(context, new),
                top: self.stacks[stack].frames.last_mut(),
            };
            // An inlined function has its container's body, but its own role.
            let called = (frame, callee);
            let (slots, sink) = (&mut self.slots, &mut self.sink);
            let instance = self.instances.entered(slots, sink, around, new, called);
            if let Some(instance) = instance {
                flags |= instance.flags;
                if instance.slot != outer {
                    flags |= Frame::ACTIVATION;
                    depth = 0;
                    self.activate(context, instance.slot, outer, new);
                }
                slot = instance.slot;
            }
        } else if self.instances.makes(callee) {
            flags |= Frame::RAMP;
        }
        let gaps = self.threads[context].gaps;
        let state = &mut self.stacks[stack];
        let around = state.frames.last().map(|outer| Addr(outer.function));
        if flags & Frame::ACTIVATION != 0 {
            state.activations.push(0);
        }
        state.frames.push(Frame {
            function: new.function,
            caller: new.caller,
            sp: new.sp,
            enter: new.time,
            callees: 0,
            suspended: state.suspended,
            body,
            callee,
            slot,
            depth,
            gaps,
            flags,
        });
        let live = &mut self.slots[slot];
        live.strand.calls += 1;
        live.strand.begins_with(Addr(new.function));
        let call = Call {
            strand: live.strand.id,
            slot,
            thread: self.threads[context].thread,
            function: Addr(new.function),
            number: callee,
            caller: Addr(new.caller),
            inlined: flags & Frame::INLINED != 0,
            around,
            body: flags & Frame::COROUTINE != 0,
            depth: depth as usize,
            enter: Nanos(new.time),
            frame: new.frame,
        };
        self.sink.enter(&call);
    }

    /// Begins an activation of the coroutine in `slot`.
    fn activate(&mut self, context: usize, slot: u32, outer: u32, new: &Entered) {
        let thread = self.threads[context].thread;
        let transferred = self.jumped_from(context, new);
        let by = transferred.unwrap_or(self.slots[outer].strand.id);
        let live = &mut self.slots[slot];
        live.open += 1;
        live.run_on(thread);
        live.strand.suspended.0 += new.time.saturating_sub(live.strand.last.0);
        let strand = &mut live.strand;
        strand.resumer = strand.resumer.or(Some(by));
        self.sink
            .resumed(strand.id, Some(by), thread, Nanos(new.time));
    }

    /// The strand whose activation ended with the event before, as if it had called this in its
    /// place: by a tail call.
    fn jumped_from(&self, context: usize, new: &Entered) -> Option<StrandId> {
        let thread = &self.threads[context];
        let left = thread.left.filter(|&(event, _, sp, caller)| {
            event + 1 == thread.events && sp == new.sp && caller == new.caller
        });
        left.map(|(_, by, ..)| by)
    }

    /// Ends the innermost call on `stack`.
    #[inline]
    pub fn close(&mut self, stack: u32, end: End) -> Option<()> {
        let time = self.latest;
        let state = &mut self.stacks[stack];
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
        } - frame.suspended;
        let noted = match flags & Frame::NOTED_AT_END {
            0 => None,
            _ => Some(*frame),
        };
        state.frames.truncate(state.frames.len() - 1);
        let whole = time.saturating_sub(enter);
        let ran = whole.saturating_sub(suspended);
        match state.frames.last_mut() {
            Some(outer) => outer.callees += ran,
            None => state.base = sp,
        }
        match end {
            End::Returned => {}
            End::Unwound => self.loose.unwound += 1,
            End::Open => self.loose.open += 1,
        }
        let strand = self.slots[slot].strand.id;
        let thread = state.thread;
        let span = StrandSpan {
            strand,
            slot,
            thread: self.threads[thread].thread,
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
        self.sink.leave(&span);
        if let Some(frame) = noted {
            self.note_end(stack, &frame, ran, end);
        }
        Some(())
    }

    /// Notes the end of a call that is more than a call: a callback, or one of a coroutine's.
    #[cold]
    #[inline(never)]
    fn note_end(&mut self, stack: u32, frame: &Frame, ran: u64, end: End) {
        let time = self.latest;
        if frame.is(Frame::CALLBACK) {
            self.callbacks.push((frame.caller, end));
        }
        if frame.is(Frame::RAMP) && end == End::Returned {
            let maker = self.slots[frame.slot].strand.id;
            self.instances.unseen(frame.callee, maker, frame.enter);
        }
        if frame.is(Frame::DESTROYS) {
            self.slots[frame.slot].dying = true;
        }
        if !frame.is(Frame::ACTIVATION) {
            return;
        }
        let state = &mut self.stacks[stack];
        let nested = state.activations.pop().unwrap_or(0);
        match state.activations.last_mut() {
            Some(outer) => *outer += ran,
            None => state.nested += ran,
        }
        let context = state.thread;
        let live = &mut self.slots[frame.slot];
        live.strand.running.0 += ran.saturating_sub(nested);
        live.strand.children.0 += nested;
        live.strand.last = Nanos(time);
        live.open = live.open.saturating_sub(1);
        let (id, gone) = (live.strand.id, live.dying && live.open == 0);
        let thread = self.threads[context].thread;
        self.sink.suspended(id, thread, Nanos(time));
        if end == End::Returned {
            let events = self.threads[context].events;
            self.threads[context].left = Some((events, id, frame.sp, frame.caller));
        }
        if gone {
            let (slots, sink) = (&mut self.slots, &mut self.sink);
            self.instances.destroyed(slots, sink, frame.slot, time);
        }
    }

    /// Closes all calls of `stack` above the first `count`.
    pub fn unwind(&mut self, stack: u32, count: usize) {
        while self.stacks[stack].frames.len() > count {
            self.close(stack, End::Unwound);
        }
    }

    /// Has the thread run `stack` from `time` on.
    pub fn run(&mut self, context: usize, stack: u32, time: u64) {
        let previous = self.threads[context].current;
        if previous == Some(stack) {
            return;
        }
        let by = previous.map(|previous| {
            let slot = self.stacks[previous].innermost();
            self.slots[slot].strand.id
        });
        // Before the other rests, which ends what is in its place and does not run.
        let ran = std::mem::replace(&mut self.stacks[stack].running, true);
        if let Some(previous) = previous {
            self.rest(previous, time);
        }
        let state = &mut self.stacks[stack];
        if ran {
            // It went away from a thread that has not been heard of since.
            self.threads[state.thread].current = None;
        } else {
            state.suspended += time.saturating_sub(state.since);
            self.stacks.forget_empty(stack);
        }
        let state = &mut self.stacks[stack];
        state.thread = context;
        self.threads[context].current = Some(stack);
        let (slot, own) = (state.innermost(), state.slot);
        let thread = self.threads[context].thread;
        self.slots[own].run_on(thread);
        let strand = &mut self.slots[slot].strand;
        strand.resumer = strand.resumer.or(by);
        self.sink.resumed(strand.id, by, thread, Nanos(time));
    }

    /// Suspends `stack` from `time` on. Another stack that was kept as suspended at the same place
    /// is gone.
    fn rest(&mut self, stack: u32, time: u64) {
        let state = &mut self.stacks[stack];
        state.running = false;
        state.since = time;
        let (slot, thread) = (state.innermost(), state.thread);
        let (base, owner) = (state.base, state.owner);
        let top = state.top().map(|top| (top.sp, top.function));
        let outermost = state.frames.first().map_or(base, |frame| frame.sp);
        let id = self.slots[slot].strand.id;
        if let Some((sp, function)) = top {
            let own = self.stacks[stack].slot;
            self.slots[own].strand.leaves_at(Addr(function));
            if self.stacks.moves_to(stack, sp) {
                self.clear(sp, outermost, stack);
                self.stacks.keep(stack, sp);
            }
        } else {
            self.stacks.forget(stack);
            if owner.is_none()
                && let Some(other) = self.stacks.keep_empty(stack)
            {
                self.discard(other);
            }
        }
        let thread = self.threads[thread].thread;
        self.sink.suspended(id, thread, Nanos(time));
    }

    /// Ends stacks that have open calls from `low` to `high`, where `stack` has its own.
    fn clear(&mut self, low: u64, high: u64, stack: u32) {
        let there = self.stacks.resting().above(low);
        let there = there.take_while(|&(top, _)| top <= high);
        let others: Vec<u32> = there
            .map(|(_, other)| other)
            .filter(|&other| other != stack && !self.stacks[other].running)
            .collect();
        for other in others {
            self.discard(other);
        }
        if let Some((_, other)) = self.stacks.below(low)
            && other != stack
            && self.stacks[other].owner.is_none()
            && self.stacks[other]
                .frames
                .first()
                .is_some_and(|outermost| outermost.sp >= low && !outermost.is(Frame::HANDLER))
        {
            self.discard(other);
        }
    }

    /// Ends a stack that does not run: its memory is another's now.
    pub fn discard(&mut self, stack: u32) {
        self.stacks.forget(stack);
        self.stacks.forget_empty(stack);
        while self.close(stack, End::Unwound).is_some() {}
        let state = &self.stacks[stack];
        if state.owner.is_some() {
            // A thread's stack: its calls are gone, itself is not.
            return;
        }
        let (slot, last) = (state.slot, state.since);
        self.slots[slot].account(last, state.suspended, state.nested);
        self.slots.end(slot, last, &mut self.sink);
        self.stacks.remove(stack);
    }

    /// Ends a stack that a thread runs as far as was heard: it was left since, and its memory is
    /// another's now.
    pub fn discard_current(&mut self, context: usize, time: u64) {
        if let Some(stack) = self.threads[context].current {
            self.leave_current(context, time);
            self.discard(stack);
        }
    }

    /// The thread has left the stack that it ran for one that is not known.
    pub fn leave_current(&mut self, context: usize, time: u64) {
        if let Some(stack) = self.threads[context].current {
            self.rest(stack, time);
            self.threads[context].current = None;
        }
    }

    /// How many threads there are.
    pub fn threads(&self) -> usize {
        self.threads.len()
    }

    /// An outermost call begins on `stack`: at `sp`, from `site` in the function `holder`.
    pub fn begin_outermost(&mut self, stack: u32, sp: u64, site: u64, holder: Option<u32>) {
        let state = &mut self.stacks[stack];
        if state.frames.is_empty() {
            state.base = sp;
            // Only the first call's site is in the strand's own function for sure: by inlining or
            // a tail call later ones may be in another function.
            state.root = state.root.or(holder);
            state.root_site = site;
        }
    }

    /// A stack for a new fiber that begins with a call of `function`; 0: with one that was not
    /// seen. `within`: calls were open on it before. Its parent is who ran before it; or if that is
    /// a fiber that began in the same function, who made that: an uninstrumented scheduler runs
    /// them one after another. Where that fiber was made on another thread and has moved, it is
    /// this thread, whose scheduler it is.
    pub fn new_stack(&mut self, context: usize, function: Addr, within: bool, time: u64) -> u32 {
        let thread = self.threads[context].thread;
        let slot = self.slots.add(Kind::Fiber, thread, Nanos(time));
        let own = &self.slots[self.stacks[self.threads[context].own].innermost()].strand;
        let before = &self.slots[self.innermost(context)].strand;
        let begun = before.entry().map(|(function, _)| function);
        let sibling = before.kind == Kind::Fiber && begun == Some(function);
        let parent = match before.parent {
            Some(maker) if sibling && before.thread() == thread => maker,
            Some(_) if sibling => own.id,
            _ => before.id,
        };
        let strand = &mut self.slots[slot].strand;
        strand.parent = Some(parent);
        strand.begins_with(function);
        self.sink.born(strand);
        self.stacks.add(Stack {
            slot,
            thread: context,
            since: time,
            begun_before: within,
            ..Stack::default()
        })
    }

    /// Ends all that is open: there are no more events.
    pub fn finish(mut self) -> Told<S> {
        for stack in 0..self.stacks.len() {
            let state = &self.stacks[stack];
            if state.owner.is_none() && state.slot != Stack::SPENT && state.frames.is_empty() {
                // Its outermost call has returned, and nothing was heard of it since.
                let (slot, since) = (state.slot, state.since);
                let last = if state.running { self.latest } else { since };
                self.slots[slot].strand.is_gone(Nanos(last));
            }
            while self.close(stack, End::Open).is_some() {}
        }
        for stack in 0..self.stacks.len() {
            let stack = &self.stacks[stack];
            if stack.slot == Stack::SPENT {
                continue;
            }
            let until = match stack.owner {
                Some(context) => {
                    let thread = &self.threads[context];
                    if thread.ended {
                        self.slots[stack.slot].strand.dies(Nanos(thread.latest));
                    }
                    thread.latest
                }
                None if stack.running => self.latest,
                None => stack.since,
            };
            self.slots[stack.slot].account(until, stack.suspended, stack.nested);
        }
        self.instances.clear();
        self.slots.finish(&mut self.sink);
        Told {
            sink: self.sink,
            loose: self.loose,
            orphans: self.instances.orphans(),
        }
    }
}

//! Puts the events of a group of threads on strands, one after the other in order of time.
//!
//! A group is the threads of a process that may run each other's strands; a thread that never
//! leaves its own stack is one by itself. Open calls are kept by *stack*: stack pointer, caller and
//! nesting tell which stack an event belongs to (`enter`, `leave`). A call that runs a coroutine
//! begins an *activation* of its instance, and calls inside it are that strand's
//! ([`crate::instances`]).

mod enter;
mod jump;
mod leave;
mod uninstrumented;
mod used_again;
mod within;

use crate::Doubts;
use crate::Unresolved;
use crate::announced::Announced;
use crate::code::Code;
use crate::entered::Entered;
use crate::evidence::Evidence;
use crate::inherited::Inherited;
use crate::jump::Jump;
use crate::made_stacks::{MadeStacks, Runs};
use crate::running::{Running, Told};
use crate::sink::Sink;
use crate::sites::Sites;
use crate::stacks::{DOUBTFUL, Frame};
use crate::survey::Survey;
use heddle_calls::{End, Loose};
use heddle_trace_file::{Addr, CoroutineFrame, Event, EventKind, Nanos, Process, Way, Why};

/// The group's threads cannot be decoded one by one: they run on other stacks than their own, or
/// resume coroutines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotAlone;

/// The decoder of one group.
pub(crate) struct Decoder<'a, S> {
    running: Running<'a, S>,
    sites: Sites<'a>,
    announced: Announced,
    made_stacks: MadeStacks,
    evidence: Evidence<'a>,
    unresolved: Unresolved,
    /// Only the thread's own stack and no coroutine is allowed.
    alone: bool,
    /// The recording is a part of what the program did: calls may have been open before it.
    part: bool,
    /// The recording was filtered, and calls may be missing around those that it has.
    is_filtered: bool,
    /// The time from which on events of all threads were recorded.
    complete_from: u64,
    /// The time of the latest gap of one of the threads; 0 if there was none.
    latest_gap: u64,
    /// The time of the first gap because recording was paused.
    first_pause: Option<u64>,
}

/// The result for a group of threads.
pub(crate) struct Found<S> {
    pub sink: S,
    pub survey: Survey,
    pub unresolved: Unresolved,
    pub loose: Loose,
}

impl<'a, S: Sink> Decoder<'a, S> {
    /// A decoder for these threads of `process`, which has the index `number` in the trace.
    pub fn new(
        (process, number): (&'a Process, usize),
        code: &'a Code,
        threads: &[usize],
        alone: bool,
        known: Option<&'a Survey>,
        sink: S,
    ) -> Self {
        let capturing = known.is_some_and(|known| known.captures);
        let mut running = Running::new(process, number, threads, (code, capturing), sink);
        let is_filtered = known.is_some_and(|known| known.is_filtered);
        if is_filtered {
            running.doubt_all(Doubts::FILTERED);
        }
        let threads_of = threads.iter().map(|&thread| &process.threads()[thread]);
        let complete_from = threads_of.filter_map(|thread| thread.complete_from());
        let complete_from = complete_from.max().map_or(0, |time| time.0);
        running.lacks_until(complete_from);
        if let Some(known) = known {
            running.expect_to_go_on(&known.went_on);
        }
        Decoder {
            running,
            sites: Sites::new(code, process.modules()),
            announced: Announced::new(threads.len()),
            made_stacks: MadeStacks::default(),
            evidence: Evidence::new(known),
            unresolved: Unresolved::default(),
            alone,
            is_filtered,
            complete_from,
            latest_gap: 0,
            first_pause: None,
            part: process.flight().is_some() || known.is_some_and(|known| known.is_part),
        }
    }

    /// The recording was filtered, and calls may be missing around those that it has.
    pub fn is_filtered(&mut self) {
        self.is_filtered = true;
    }

    /// Coroutines' frames are captured: this is known before all events.
    pub fn expect_captures(&mut self) {
        self.evidence.expect_captures();
        self.running.expect_captures();
    }

    /// Whether [`Decoder::has_settled`] may be, as far as is known.
    #[inline]
    pub fn may_settle(&self) -> bool {
        !self.part && self.evidence.may_settle()
    }

    /// The first look has seen enough. Whether the second one can go on from here, because it would
    /// have done the same with all events so far; else it has to take these anew.
    pub fn has_settled(&mut self) -> bool {
        self.note_callbacks();
        !self.part && self.evidence.has_settled()
    }

    /// The sink, with the calls found so far.
    #[inline]
    pub fn sink(&mut self) -> &mut S {
        self.running.sink()
    }

    /// Whether there was a call outside every thread's own stack, or of a coroutine.
    #[inline]
    pub fn has_begun(&self) -> bool {
        self.evidence.survey().begun
    }

    /// The facts that this look has found so far.
    #[inline]
    pub fn survey(&mut self) -> &Survey {
        self.note_callbacks();
        self.evidence.survey()
    }

    /// Counts how calls have ended that were taken for callbacks.
    #[inline]
    fn note_callbacks(&mut self) {
        if let Some(ended) = self.running.calls.take_callbacks() {
            self.note_ends(ended);
        }
    }

    #[inline(never)]
    fn note_ends(&mut self, callbacks: Vec<(u64, End)>) {
        for (site, end) in callbacks {
            self.evidence.note_callback(site, end);
        }
    }

    /// The thread with this index in its process begins inside these calls, if it is the one that
    /// has them.
    ///
    /// # Errors
    /// [`NotAlone`], if it may not be.
    pub fn begin_within(&mut self, thread: usize, before: &Inherited) -> Result<(), NotAlone> {
        let enters = before.of(thread);
        let events = self.unresolved.events;
        // Fibers that did not run begin within calls, too, but those are not known.
        self.part |= !enters.is_empty();
        for enter in enters {
            self.feed(thread, enter)?;
        }
        self.unresolved.events = events;
        if before.sure && !enters.is_empty() {
            let context = self.running.map().threads.context(thread);
            self.running.trust_current(context);
        }
        Ok(())
    }

    /// The enters of the calls that are open on the own stack of the thread with this index, and
    /// on the stack that it runs; and whether that is sure to be one strand's, with all its calls.
    pub fn open(&self, thread: usize) -> (Vec<Event<'static>>, bool) {
        let map = self.running.map();
        let context = &map.threads[map.threads.context(thread)];
        let elsewhere = context.current.filter(|&stack| stack != context.own);
        let stacks = std::iter::once(context.own).chain(elsewhere);
        let frames = stacks.flat_map(|stack| &map.stacks[stack].frames);
        let enters = frames.map(|frame| self.enter_of(frame)).collect();
        let sure = elsewhere.is_none_or(|stack| {
            let slot = map.stacks[stack].slot;
            self.running.strand(slot).is_sure()
        });
        (enters, sure)
    }

    /// The enter of an open call.
    fn enter_of(&self, frame: &Frame) -> Event<'static> {
        let coroutine = frame.is(Frame::COROUTINE);
        let captured = coroutine.then(|| {
            let strand = self.running.strand(frame.slot);
            let frame = CoroutineFrame::at(strand.frame?)?;
            Some(frame.with_resume_index(strand.resume_index()))
        });
        Event {
            time: Nanos(frame.enter),
            way: match frame.is(Frame::ENTRY) {
                true => Way::Entry,
                false => Way::Instrumented,
            },
            kind: EventKind::Enter {
                function: Addr(frame.function),
                caller: Addr(frame.caller),
                sp: Addr(frame.sp),
                frame: captured.flatten(),
            },
        }
    }

    /// Takes the next event of the thread with this index in its process.
    ///
    /// # Errors
    /// [`NotAlone`], if it may not be.
    pub fn feed(&mut self, thread: usize, event: &Event) -> Result<(), NotAlone> {
        self.take(thread, event)
    }

    /// [`Decoder::feed`], for where most events are taken.
    #[inline(always)]
    fn take(&mut self, thread: usize, event: &Event) -> Result<(), NotAlone> {
        let context = self.running.begin_event(thread, event.time.0);
        if self.running.thread(context).events == 1 {
            self.running.begins(context, event.time.0);
        }
        if let Some(entered) = Entered::of(event) {
            self.sites.advance(event.time);
            self.unresolved.events += 1;
            self.unresolved.calls += 1;
            let entered = self.sites.corrected(entered);
            self.enter(context, &entered)?;
        } else if let EventKind::Exit { function, sp } = event.kind {
            self.unresolved.events += 1;
            self.exit(context, function, sp.0, event.way, event.time)?;
        } else {
            self.memory(context, event)?;
            if let Some(jump) = Jump::of(event) {
                self.jump(context, jump, event.time.0);
            }
            self.announced.take(&mut self.running, context, event);
            let gap = matches!(event.kind, EventKind::Gap { .. });
            if gap {
                self.made_stacks.forget();
                self.part = true;
                self.latest_gap = event.time.0;
                self.running.doubt_living(Doubts::GAP);
                let until = self.lacks_until(context, event);
                self.running.lacks_until(until);
                let own = self.running.thread(context).own;
                if self.running.stack(own).frames.is_empty() {
                    let end = End::Unwound;
                    self.running.end_unseen(context, end, event.time.0);
                }
            }
            match event.kind {
                EventKind::Making { by: Some(by), .. } => self.making(context, event, by.0),
                EventKind::Wait(wait) => self.library_call(context, event, wait.by(), event.time),
                EventKind::Wake { by, .. } => self.library_call(context, event, by, event.time),
                EventKind::LongCall { by, since, .. } => {
                    self.library_call(context, event, by, since);
                }
                EventKind::Mark { .. } | EventKind::Making { .. }
                    if self.part && !self.announced.is_ever() =>
                {
                    if self.alone && self.running.thread(context).astray.is_some() {
                        return Err(NotAlone);
                    }
                    self.running.other_of_part(context, event);
                }
                _ => self.running.other(context, event, gap),
            }
            return Ok(());
        }
        if self.announced.is_new(context) {
            self.announced.bind(&mut self.running, context);
        }
        Ok(())
    }

    /// Takes these events, each with the index of its thread in the process.
    ///
    /// # Errors
    /// [`NotAlone`], if one of them may not be; those behind it are not taken.
    pub fn feed_all(&mut self, events: &[(usize, Event<'_>)]) -> Result<(), NotAlone> {
        let mut rest = events;
        while let [(thread, event), behind @ ..] = rest {
            if let [(same, exit), after @ ..] = behind
                && thread == same
                && self.is_leaf(*thread, event, exit)
            {
                rest = after;
                continue;
            }
            self.take(*thread, event)?;
            rest = behind;
        }
        Ok(())
    }

    /// Takes a call that calls nothing, if its caller is known at once.
    #[inline(always)]
    fn is_leaf(&mut self, thread: usize, enter: &Event<'_>, exit: &Event<'_>) -> bool {
        let (
            EventKind::Enter {
                function,
                caller,
                sp,
                frame: None,
            },
            EventKind::Exit {
                function: left,
                sp: left_at,
            },
        ) = (enter.kind, exit.kind)
        else {
            return false;
        };
        if left_at != sp
            || exit.way != enter.way
            || !(enter.way == Way::Entry || left.may_be(function))
            || Sites::may_have_chain(enter.way, caller.0, sp.0)
        {
            return false;
        }
        let context = self.running.map().threads.context(thread);
        if self.announced.is_new(context) {
            return false;
        }
        self.sites.advance(enter.time);
        let new = Entered {
            function: function.0,
            caller: caller.0,
            sp: sp.0,
            time: enter.time.0,
            way: enter.way,
            frame: None,
        };
        let Some((stack, callee, is_inlined)) = self.known_caller(context, &new) else {
            return false;
        };
        let calls = &mut self.running.calls;
        if !calls.leaf(context, stack, &new, (callee, is_inlined), exit.time.0) {
            return false;
        }
        self.unresolved.events += 2;
        self.unresolved.calls += 1;
        self.running.note_events(context, 2, exit.time.0);
        true
    }

    /// Until when events are missing, as this gap of the thread says. One that is the thread's
    /// first event may come long after recording was paused, when that was over for the others.
    fn lacks_until(&mut self, context: usize, gap: &Event) -> u64 {
        let time = gap.time.0;
        if let EventKind::Gap {
            why: Why::Paused, ..
        } = gap.kind
        {
            let first = *self.first_pause.get_or_insert(time);
            if self.running.thread(context).events == 1 {
                return first;
            }
        }
        time
    }

    /// Takes an event that tells of the memory of a coroutine's frame or of a fiber's stack, if it
    /// is one.
    #[inline(never)]
    fn memory(&mut self, context: usize, event: &Event) -> Result<(), NotAlone> {
        match event.kind {
            EventKind::FrameMade { .. }
            | EventKind::FrameFreed { .. }
            | EventKind::FrameLeft { .. }
            | EventKind::StackMade { .. }
                if self.alone =>
            {
                return Err(NotAlone);
            }
            EventKind::StackMade { low, high, by } => {
                let made = &mut self.made_stacks;
                made.make(&self.running, context, (low, high), by);
            }
            EventKind::FrameMade { frame, sp } => {
                self.evidence.note_capture();
                self.running.frame_made(context, frame, sp);
            }
            EventKind::FrameFreed { frame, destroyer } => {
                if let Some(destroyer) = self.destroyer(destroyer, event) {
                    self.running.frame_freed(context, frame, destroyer);
                }
            }
            EventKind::FrameLeft { frame, destroyer } => {
                if let Some(destroyer) = self.destroyer(destroyer, event) {
                    self.running.frame_left(frame, destroyer);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The thread makes a process or a thread, with the stack pointer `by`: the strand that does is
    /// the one that has its stack there. That need not be the strand of the thread's latest call,
    /// as what went on since may have no hooks.
    #[inline(never)]
    fn making(&mut self, context: usize, event: &Event, by: u64) {
        if let Some(stack) = self.made_stacks.stack_at(&self.running, context, by) {
            self.running.other_on(context, stack, event);
            return;
        }
        let mut event = *event;
        if let EventKind::Making { number, .. } = &mut event.kind {
            // Whatever refers to the making finds no maker.
            *number = 0;
        }
        self.running.other(context, &event, false);
    }

    /// The thread has been in a function of the C library's since a time, called with the stack
    /// pointer `by`: it runs the strand that has its stack there. That need not be the strand of
    /// its latest call, as what went on since may have no hooks.
    #[inline(never)]
    fn library_call(&mut self, context: usize, event: &Event, by: Option<Addr>, since: Nanos) {
        let found = by.and_then(|by| self.stack_in_use(context, by.0, since.0));
        if let Some(stack) = found {
            self.running.run(context, stack, since.0);
        }
        self.running.other(context, event, false);
    }

    /// The stack that the thread uses where its stack pointer is `sp`; its own for a fiber's of
    /// which no call has been seen: there is no strand to tell of.
    fn stack_in_use(&mut self, context: usize, sp: u64, since: u64) -> Option<u32> {
        let own = self.running.thread(context).own;
        match self.made_stacks.runs_at(&self.running, context, sp) {
            Runs::Stack(stack) => Some(stack),
            Runs::Unmet => Some(own),
            Runs::Unknown if self.alone => None,
            Runs::Unknown if self.announced.is_ever() => {
                let before = self.running.thread(context).current;
                self.announced.run(&mut self.running, context, sp, since);
                if self.running.thread(context).current != before {
                    self.announced.bind(&mut self.running, context);
                }
                None
            }
            Runs::Unknown => {
                let (top, stack) = self.running.map().next_above(context, sp)?;
                let is_fiber = self.running.stack(stack).owner.is_none();
                (is_fiber && top - sp < DOUBTFUL).then_some(stack)
            }
        }
    }

    /// Whether `sp` can lie on this stack: not where the program has made one for another fiber.
    /// What other threads' events are missing, or are not in their order, does not matter there.
    fn may_lie_on(&self, context: usize, stack: u32, sp: u64) -> bool {
        let Some(made) = self.made_stacks.at(sp) else {
            return true;
        };
        let own = self.running.map().own_stack_around(context, sp);
        own.is_some() || made.is_on(&self.running, stack)
    }

    /// Whether the program has made a stack where `stack`, a fiber's, had calls: for another one.
    fn is_made_for_another(&self, stack: u32, sp: u64) -> bool {
        let made = self.made_stacks.at(sp);
        made.is_some_and(|made| !made.is_on(&self.running, stack))
            && self.running.stack(stack).owner.is_none()
    }

    /// A function that destroys a coroutine, with its number.
    fn destroyer(&mut self, address: Addr, event: &Event) -> Option<(Addr, u32)> {
        self.evidence.note_capture();
        self.sites.advance(event.time);
        let function = self.sites.holder(address.0 + 1, event.time.0)?;
        Some((address, function))
    }

    /// Whether calls were open when the recording began, as far as has been seen.
    fn begins_within(&self) -> bool {
        self.unresolved.exits + self.unresolved.enters > 0
    }

    /// Whether fibers may be in the middle of calls of which nothing is recorded: then a call that
    /// was found for an event has to fit it well, because the right one may be one of those.
    fn is_part(&self) -> bool {
        self.part
    }

    /// See [`Announced::stack`].
    fn announced_stack(&self, context: usize) -> Option<u32> {
        let within = self.begins_within();
        self.announced.stack(&self.running, context, within)
    }

    /// Ends all that is open: there are no more events.
    pub fn finish(mut self) -> Found<S> {
        self.note_callbacks();
        self.made_stacks.forget();
        let Told {
            sink,
            loose,
            mut unresolved,
        } = self.running.finish();
        unresolved += self.unresolved;
        Found {
            sink,
            survey: self.evidence.conclude(self.part),
            unresolved,
            loose,
        }
    }
}

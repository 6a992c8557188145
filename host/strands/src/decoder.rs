//! Puts the events of a group of threads on strands, one after the other in order of time.
//!
//! A group is the threads of a process that may run each other's strands; a thread that never leaves its own stack is one by itself. Open calls are kept by
//! *stack*: stack pointer, caller and nesting tell which stack an event belongs to ([`crate::enter`], [`crate::leave`]). A call that runs a coroutine begins an
//! *activation* of its instance, and calls inside it are that strand's ([`crate::instances`]).

use crate::announced::Announced;
use crate::code::{Code, Role};
use crate::hash::FastMap;
use crate::instances::Instances;
use crate::live::{Live, Slots};
use crate::sink::{Call, Sink, StrandSpan};
use crate::sites::Sites;
use crate::stacks::{Frame, Homes, Resting, Stack};
use crate::survey::Survey;
use crate::{Kind, StrandId, Unresolved};
use heddle_calls::{End, Loose, Span};
use heddle_trace_file::{Addr, CoroutineFrame, Event, EventKind, Modules, Nanos, Process, Way};

/// The group's threads cannot be decoded one by one: they run on other stacks than their own, or resume coroutines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotAlone;

/// What is kept by thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct Context {
    /// The stack that it runs, where that is known.
    pub current: Option<u32>,
    pub own: u32,
    /// Its index in its process.
    pub thread: usize,
    /// It is known where its own stack is.
    pub settled: bool,
    /// When it was last heard of.
    pub latest: u64,
    pub gaps: u32,
    /// Its enters and exits so far.
    pub events: u64,
    /// The activation that ended with the event of this number, and the stack pointer and caller of its call: another in its place was resumed by it.
    pub left: Option<(u64, StrandId, u64, u64)>,
    /// The strand that was announced last.
    pub says: Option<u64>,
    /// A strand was announced, and nothing has happened since.
    pub announced: Option<u64>,
}

/// The decoder of one group.
pub(crate) struct Decoder<'a, S> {
    pub code: &'a Code,
    pub modules: &'a Modules,
    /// Addresses mean other functions at other times.
    pub changing: bool,
    pub sink: S,
    /// Only the thread's own stack and no coroutine is allowed.
    pub alone: bool,
    /// Coroutines' frames were captured.
    pub capturing: bool,
    /// From an earlier look at the same events.
    pub known: Option<&'a Survey>,
    /// From this one.
    pub survey: Survey,
    /// Index of its context by a thread's index in its process.
    pub threads: Vec<u32>,
    pub contexts: Vec<Context>,
    /// By thread: the recorder saw its end.
    pub ended: Vec<bool>,
    pub stacks: Vec<Stack>,
    pub free: Vec<u32>,
    pub resting: Resting,
    pub homes: Homes,
    pub sites: Sites,
    pub slots: Slots,
    pub instances: Instances,
    pub announced: Announced,
    pub unresolved: Unresolved,
    pub loose: Loose,
    pub latest: u64,
}

/// What a new call is.
#[derive(Clone, Copy)]
pub(crate) struct Entered {
    pub function: u64,
    pub caller: u64,
    pub sp: u64,
    pub time: u64,
    pub way: Way,
    pub frame: Option<CoroutineFrame>,
}

impl<'a, S: Sink> Decoder<'a, S> {
    /// A decoder for these threads of `process`, which has the index `number` in the trace.
    pub fn new(
        process: &'a Process,
        number: usize,
        code: &'a Code,
        threads: &[usize],
        alone: bool,
        known: Option<&'a Survey>,
        sink: S,
    ) -> Self {
        let mut decoder = Decoder {
            code,
            modules: process.modules(),
            changing: process.modules().generation(Nanos(u64::MAX)) > 0,
            sink,
            alone,
            capturing: known.is_some_and(|known| known.captures),
            known,
            survey: Survey {
                offsets: known.map_or_else(FastMap::default, |known| known.offsets.clone()),
                ..Survey::default()
            },
            threads: vec![0; process.threads().len()],
            contexts: Vec::new(),
            ended: Vec::new(),
            stacks: Vec::new(),
            free: Vec::new(),
            resting: Resting::default(),
            homes: Homes::default(),
            sites: Sites::new(code),
            slots: Slots::new(StrandId::new(number, process.threads().len())),
            instances: Instances::default(),
            announced: Announced::default(),
            unresolved: Unresolved::default(),
            loose: Loose::default(),
            latest: 0,
        };
        for (index, &thread) in threads.iter().enumerate() {
            decoder.threads[thread] = index as u32;
            let of = &process.threads()[thread];
            let id = StrandId::new(number, thread);
            let slot = decoder.slots.add_thread(id, thread, of.first());
            let name = of.name();
            let strand = &mut decoder.slots[slot].strand;
            strand.name = (!name.is_empty()).then(|| name.into());
            strand.activations = 1;
            strand.threads = 1;
            decoder.sink.born(strand);
            let stack = Stack {
                slot,
                owner: Some(index),
                thread: index,
                running: true,
                ..Stack::default()
            };
            decoder.contexts.push(Context {
                current: Some(index as u32),
                own: index as u32,
                thread,
                settled: of.stack().is_some(),
                latest: of.first().0,
                ..Context::default()
            });
            decoder.stacks.push(stack);
            decoder.ended.push(of.ended());
            if let Some(range) = of.stack() {
                decoder.homes.add(range.start.0..range.end.0, index);
            }
        }
        decoder
    }

    /// Takes the next event of the thread with this index in its process.
    ///
    /// # Errors
    /// [`NotAlone`], if it may not be.
    #[inline]
    pub fn feed(&mut self, thread: usize, event: &Event) -> Result<(), NotAlone> {
        let context = self.threads[thread] as usize;
        self.latest = event.time.0;
        let of = &mut self.contexts[context];
        of.latest = event.time.0;
        of.events += 1;
        match event.kind {
            EventKind::Enter {
                function,
                caller,
                sp,
                frame,
            } => {
                if self.changing {
                    let generation = self.modules.generation(event.time);
                    self.sites.begin_generation(generation);
                }
                self.unresolved.events += 1;
                let entered = Entered {
                    function: function.0,
                    caller: caller.0,
                    sp: sp.0,
                    time: event.time.0,
                    way: event.way,
                    frame,
                };
                self.enter(context, &entered)?;
                if self.contexts[context].announced.is_some() {
                    self.bind(context);
                }
            }
            EventKind::Exit { function, sp } => {
                self.unresolved.events += 1;
                self.exit(context, function, sp.0, event.way, event.time)?;
                if self.contexts[context].announced.is_some() {
                    self.bind(context);
                }
            }
            _ => {
                if matches!(event.kind, EventKind::Gap { .. }) {
                    self.contexts[context].gaps += 1;
                }
                self.announce(context, event);
                let slot = self.innermost(context);
                let strand = self.slots[slot].strand.id;
                self.sink.other(strand, thread, event);
            }
        }
        Ok(())
    }

    /// The slot of the strand that the thread runs: its own where no other is known.
    pub fn innermost(&self, context: usize) -> u32 {
        let of = &self.contexts[context];
        let stack = of.current.unwrap_or(of.own);
        self.stacks[stack as usize].innermost()
    }

    /// Ends all that is open: there are no more events.
    pub fn finish(&mut self) {
        for stack in 0..self.stacks.len() as u32 {
            let of = &self.stacks[stack as usize];
            if of.owner.is_none() && of.slot != Stack::SPENT && of.frames.is_empty() {
                // Its outermost call has returned, and nothing was heard of it since.
                let (slot, since) = (of.slot, of.since);
                let last = if of.running { self.latest } else { since };
                let died = &mut self.slots[slot].strand.died;
                *died = died.or(Some(Nanos(last)));
            }
            while self.close(stack, End::Open).is_some() {}
        }
        for stack in &self.stacks {
            if stack.slot == Stack::SPENT {
                continue;
            }
            let until = match stack.owner {
                Some(context) => {
                    let until = self.contexts[context].latest;
                    if self.ended[context] {
                        self.slots[stack.slot].strand.died = Some(Nanos(until));
                    }
                    until
                }
                None if stack.running => self.latest,
                None => stack.since,
            };
            self.slots[stack.slot].account(until, stack.away, stack.nested);
        }
        for slot in self.slots.all() {
            self.slots.finish(slot, &mut self.sink);
        }
    }

    /// Has the thread run `stack` from `time` on.
    pub fn run(&mut self, context: usize, stack: u32, time: u64) {
        let previous = self.contexts[context].current;
        if previous == Some(stack) {
            return;
        }
        let by = previous.map(|previous| {
            let slot = self.stacks[previous as usize].innermost();
            self.slots[slot].strand.id
        });
        // Before the other rests, which ends what is in its place and does not run.
        let ran = std::mem::replace(&mut self.stacks[stack as usize].running, true);
        if let Some(previous) = previous {
            self.rest(previous, time);
        }
        let of = &mut self.stacks[stack as usize];
        if ran {
            // It went away from a thread that has not been heard of since.
            self.contexts[of.thread].current = None;
        } else {
            of.away += time.saturating_sub(of.since);
            if of.frames.is_empty() && self.resting.empty.get(&of.base) == Some(&stack) {
                self.resting.empty.remove(&of.base);
            }
        }
        let of = &mut self.stacks[stack as usize];
        of.thread = context;
        self.contexts[context].current = Some(stack);
        let (slot, own) = (of.innermost(), of.slot);
        let thread = self.thread(context);
        self.slots[own].run_on(thread);
        let strand = &mut self.slots[slot].strand;
        strand.resumer = strand.resumer.or(by);
        self.sink.resumed(strand.id, by, thread, Nanos(time));
    }

    /// Index among the process's threads.
    pub fn thread(&self, context: usize) -> usize {
        self.contexts[context].thread
    }

    /// Has nobody run `stack` from `time` on. Whatever else is kept in its place is gone.
    pub fn rest(&mut self, stack: u32, time: u64) {
        let of = &mut self.stacks[stack as usize];
        of.running = false;
        of.since = time;
        let (slot, thread) = (of.innermost(), of.thread);
        let (base, owner) = (of.base, of.owner);
        let top = of.top().map(|top| (top.sp, top.function, top.enter));
        let outermost = of.frames.first().map_or(base, |frame| frame.sp);
        let id = self.slots[slot].strand.id;
        if let Some((sp, function, enter)) = top {
            let of = &mut self.stacks[stack as usize];
            let (own, kept) = (of.slot, of.kept_at.replace(sp));
            self.slots[own].strand.suspended_at = Some((Addr(function), Nanos(enter)));
            if kept != Some(sp) {
                if let Some(kept) = kept {
                    self.resting.forget(kept);
                }
                self.clear(sp, outermost, stack);
                if let Some(other) = self.resting.keep(sp, stack) {
                    self.stacks[other as usize].kept_at = None;
                }
            }
        } else {
            if let Some(kept) = self.stacks[stack as usize].kept_at.take() {
                self.resting.forget(kept);
            }
            if owner.is_none()
                && let Some(other) = self.resting.empty.insert(base, stack)
                && other != stack
                && !self.stacks[other as usize].running
            {
                self.discard(other);
            }
        }
        let thread = self.thread(thread);
        self.sink.suspended(id, thread, Nanos(time));
    }

    /// The stack that does not run whose innermost call is at or next above `sp`, and where.
    pub fn above(&self, sp: u64) -> Option<(u64, u32)> {
        let mut kept = self.resting.above(sp);
        kept.find(|&(_, stack)| !self.stacks[stack as usize].running)
    }

    /// The stack that does not run whose innermost call is next below `sp`, and where.
    pub fn below(&self, sp: u64) -> Option<(u64, u32)> {
        let mut kept = self.resting.below(sp);
        kept.find(|&(_, stack)| !self.stacks[stack as usize].running)
    }

    /// The stack that does not run whose innermost call is at `sp`.
    #[inline]
    pub fn resting_at(&self, sp: u64) -> Option<u32> {
        let kept = self.resting.at(sp);
        kept.filter(|&stack| !self.stacks[stack as usize].running)
    }

    /// Ends stacks that have open calls from `low` to `high`, where `stack` has its own.
    pub fn clear(&mut self, low: u64, high: u64, stack: u32) {
        let there = self.resting.above(low);
        let there = there.take_while(|&(top, _)| top <= high);
        let others: Vec<u32> = there
            .map(|(_, other)| other)
            .filter(|&other| other != stack && !self.stacks[other as usize].running)
            .collect();
        for other in others {
            self.discard(other);
        }
        if let Some((_, other)) = self.below(low)
            && other != stack
            && self.stacks[other as usize].owner.is_none()
            && self.stacks[other as usize]
                .frames
                .first()
                .is_some_and(|outermost| outermost.sp >= low && !outermost.is(Frame::HANDLER))
        {
            self.discard(other);
        }
    }

    /// Ends a stack that does not run: its memory is another's now.
    pub fn discard(&mut self, stack: u32) {
        let of = &mut self.stacks[stack as usize];
        if let Some(kept) = of.kept_at.take() {
            self.resting.forget(kept);
        }
        if of.frames.is_empty() && self.resting.empty.get(&of.base) == Some(&stack) {
            self.resting.empty.remove(&of.base);
        }
        if of.owner.is_some() {
            // A thread's stack: its calls are gone, itself is not.
            while self.close(stack, End::Unwound).is_some() {}
            return;
        }
        while self.close(stack, End::Unwound).is_some() {}
        let of = &mut self.stacks[stack as usize];
        let (slot, away) = (of.slot, of.away);
        let last = of.since;
        let spent = Stack {
            slot: Stack::SPENT,
            frames: std::mem::take(&mut of.frames),
            activations: std::mem::take(&mut of.activations),
            ..Stack::default()
        };
        let nested = of.nested;
        *of = spent;
        self.free.push(stack);
        let live = &mut self.slots[slot];
        live.account(last, away, nested);
        self.slots.end(slot, last, &mut self.sink);
    }

    /// A stack for a new fiber whose outermost call is at `sp`.
    pub fn new_stack(&mut self, context: usize, time: u64) -> u32 {
        let thread = self.thread(context);
        let slot = self.slots.add(Kind::Fiber, thread, Nanos(time));
        let parent = self.slots[self.innermost(context)].strand.id;
        let strand = &mut self.slots[slot].strand;
        strand.parent = Some(parent);
        self.sink.born(strand);
        let stack = self.free.pop().unwrap_or_else(|| {
            self.stacks.push(Stack::default());
            self.stacks.len() as u32 - 1
        });
        let of = &mut self.stacks[stack as usize];
        of.slot = slot;
        of.thread = context;
        of.since = time;
        stack
    }

    /// Opens a call on `stack`, which the thread runs. `body`: whose machine code it is.
    #[inline]
    pub fn push(&mut self, context: usize, stack: u32, new: &Entered, body: u32, flags: u8) {
        let of = &self.stacks[stack as usize];
        let (outer, depth) = match of.frames.last() {
            Some(below) => {
                if below.is(Frame::COROUTINE) && flags & Frame::INLINED == 0 {
                    self.slots[below.slot].strand.suspended_at =
                        Some((Addr(new.caller), Nanos(new.time)));
                }
                (below.slot, below.depth + 1)
            }
            None => (of.slot, 0),
        };
        let (mut slot, mut depth, mut flags) = (outer, depth, flags);
        if let Some(frame) = new.frame {
            self.survey.captures = true;
            self.capturing = true;
            // An inlined function has its container's body, but its own role.
            let function = self.sites.number(new.function).unwrap_or(body);
            if let Some(instance) = self.instance(context, stack, new, frame, function) {
                flags |= instance.flags;
                if instance.slot != outer {
                    flags |= Frame::ACTIVATION;
                    depth = 0;
                    self.activate(context, instance.slot, outer, new);
                }
                slot = instance.slot;
            }
        } else if self.capturing && self.makes_coroutines(new, body) {
            flags |= Frame::RAMP;
        }
        let gaps = self.contexts[context].gaps;
        let of = &mut self.stacks[stack as usize];
        let around = of.frames.last().map(|outer| Addr(outer.function));
        if flags & Frame::ACTIVATION != 0 {
            of.activations.push(0);
        }
        of.frames.push(Frame {
            function: new.function,
            caller: new.caller,
            sp: new.sp,
            enter: new.time,
            callees: 0,
            away: of.away,
            body,
            slot,
            depth,
            gaps,
            flags,
        });
        let live = &mut self.slots[slot];
        live.strand.calls += 1;
        if live.strand.entry.is_none() {
            live.strand.entry = Some((Addr(new.function), Nanos(new.time)));
        }
        let call = Call {
            strand: live.strand.id,
            thread: self.contexts[context].thread,
            function: Addr(new.function),
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

    /// Whether the function, perhaps inlined into `body`, is a coroutine's ramp.
    #[inline]
    fn makes_coroutines(&mut self, new: &Entered, body: u32) -> bool {
        let known = self.sites.number(new.function).unwrap_or(body);
        matches!(self.code.role(known), Role::Ramp(_))
    }

    /// Begins an activation of the coroutine in `slot`.
    fn activate(&mut self, context: usize, slot: u32, outer: u32, new: &Entered) {
        let thread = self.thread(context);
        let of = &self.contexts[context];
        let transferred = of.left.filter(|&(event, _, sp, caller)| {
            event + 1 == of.events && sp == new.sp && caller == new.caller
        });
        let by = transferred.map_or(self.slots[outer].strand.id, |(_, by, ..)| by);
        let live = &mut self.slots[slot];
        live.open += 1;
        live.run_on(thread);
        live.strand.suspended.0 += new.time.saturating_sub(live.since);
        let strand = &mut live.strand;
        strand.resumer = strand.resumer.or(Some(by));
        self.sink
            .resumed(strand.id, Some(by), thread, Nanos(new.time));
    }

    /// Ends the innermost call on `stack`.
    #[inline]
    pub fn close(&mut self, stack: u32, end: End) -> Option<()> {
        let time = self.latest;
        let of = &mut self.stacks[stack as usize];
        let frame = of.frames.pop()?;
        // What rests does not run up to now.
        let away = if of.running {
            of.away
        } else {
            of.away + time.saturating_sub(of.since)
        } - frame.away;
        let whole = time.saturating_sub(frame.enter);
        let ran = whole.saturating_sub(away);
        let around = match of.frames.last_mut() {
            Some(outer) => {
                outer.callees += ran;
                Some(Addr(outer.function))
            }
            None => {
                of.base = frame.sp;
                None
            }
        };
        match end {
            End::Returned => {}
            End::Unwound => self.loose.unwound += 1,
            End::Open => self.loose.open += 1,
        }
        let strand = self.slots[frame.slot].strand.id;
        let thread = of.thread;
        let span = StrandSpan {
            strand,
            thread: self.contexts[thread].thread,
            span: Span {
                function: Addr(frame.function),
                caller: Addr(frame.caller),
                inlined: frame.is(Frame::INLINED),
                depth: frame.depth as usize,
                enter: Nanos(frame.enter),
                exit: Nanos(time),
                callees: Nanos((frame.callees + away).min(whole)),
                end,
            },
            away: Nanos(away),
            around,
            body: frame.is(Frame::COROUTINE),
        };
        self.sink.leave(&span);
        if frame.flags & Frame::NOTED_AT_END != 0 {
            self.note_end(stack, &frame, ran, end);
        }
        Some(())
    }

    /// What the end of a call means beside that.
    #[cold]
    #[inline(never)]
    fn note_end(&mut self, stack: u32, frame: &Frame, ran: u64, end: End) {
        let time = self.latest;
        if frame.is(Frame::CALLBACK)
            && let Some(votes) = self.survey.sites.get_mut(&frame.caller)
        {
            match end {
                End::Returned => votes.kept += 1,
                End::Unwound => votes.broken += 1,
                End::Open => {}
            }
        }
        if frame.is(Frame::RAMP) && end == End::Returned {
            let maker = self.slots[frame.slot].strand.id;
            if let Role::Ramp(coroutine) = self.role(frame) {
                self.instances.unseen(coroutine, maker, frame.enter);
            }
        }
        if frame.is(Frame::DESTROYS) {
            self.slots[frame.slot].dying = true;
        }
        if !frame.is(Frame::ACTIVATION) {
            return;
        }
        let of = &mut self.stacks[stack as usize];
        let nested = of.activations.pop().unwrap_or(0);
        match of.activations.last_mut() {
            Some(outer) => *outer += ran,
            None => of.nested += ran,
        }
        let context = of.thread;
        let live = &mut self.slots[frame.slot];
        live.strand.running.0 += ran.saturating_sub(nested);
        live.strand.children.0 += nested;
        live.strand.last = Nanos(time);
        live.since = time;
        live.open = live.open.saturating_sub(1);
        let (id, gone) = (live.strand.id, live.dying && live.open == 0);
        let thread = self.thread(context);
        self.sink.suspended(id, thread, Nanos(time));
        if end == End::Returned {
            let events = self.contexts[context].events;
            self.contexts[context].left = Some((events, id, frame.sp, frame.caller));
        }
        if gone {
            self.destroyed(frame.slot, time);
        }
    }

    /// Closes all calls of `stack` above the first `count`.
    pub fn unwind(&mut self, stack: u32, count: usize) {
        while self.stacks[stack as usize].frames.len() > count {
            self.close(stack, End::Unwound);
        }
    }
}

impl Live {
    /// It goes on to run, on this thread.
    pub fn run_on(&mut self, thread: usize) {
        self.strand.activations += 1;
        match self.on.replace(thread) {
            Some(before) if before == thread => {}
            None => self.strand.threads = 1,
            Some(before) => {
                // Most stay where they are.
                if self.visited.is_empty() {
                    self.visited.push(before);
                }
                if !self.visited.contains(&thread) {
                    self.visited.push(thread);
                    self.strand.threads = self.visited.len() as u32;
                }
            }
        }
    }

    /// Time of a strand with a stack of its own, when that is done with.
    pub fn account(&mut self, until: u64, away: u64, nested: u64) {
        let alive = until.saturating_sub(self.strand.born.0);
        self.strand.suspended = Nanos(away.min(alive));
        self.strand.children = Nanos(nested);
        self.strand.running = Nanos(alive.saturating_sub(away).saturating_sub(nested));
        self.strand.last = Nanos(until);
    }
}

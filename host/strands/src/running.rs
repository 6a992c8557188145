//! Threads run stacks, on which calls of strands are open. The sink is told of each change.

use crate::code::Code;
use crate::lost::{GoneWithin, Lost, SharedStacks, WentOn};
use crate::open_calls::OpenCalls;
use crate::sink::Sink;
use crate::sites::Sites;
use crate::stack_map::StackMap;
use crate::stacks::{BASE, Frame, Inner, Stack, Stacks};
use crate::strands::Strands;
use crate::threads::{Context, LeftIn};
use crate::{Doubts, Strand, StrandId, Unresolved};
use heddle_calls::{End, Loose};
use heddle_trace_file::{Addr, CoroutineFrame, Event, Nanos, Process};

/// The threads of a group: they leave stacks, and go on on others. What calls are open there is
/// kept apart.
pub(crate) struct Running<'a, S> {
    pub calls: OpenCalls<'a, S>,
    /// The calls that were taken for gone.
    lost: Lost,
    /// Those of fibers that went on nevertheless, as the first look has found.
    went_on: Option<&'a WentOn>,
    /// The stacks of fibers that have lost one of them.
    shared: SharedStacks,
    left_in: LeftIn,
    /// Reasons to doubt every fiber.
    doubts: Doubts,
    /// Not every event has read the clock, so that the order of threads' events is not exact.
    sparse: bool,
}

/// The results when all events have been read.
pub(crate) struct Told<S> {
    pub sink: S,
    pub loose: Loose,
    /// Strands that are not sure, or whose maker is unknown.
    pub unresolved: Unresolved,
}

impl<'a, S: Sink> Running<'a, S> {
    /// These threads of `process`, which has the index `number` in the trace, each on its own
    /// stack. `code` also says whether frames of coroutines are captured.
    pub fn new(
        process: &'a Process,
        number: usize,
        threads: &[usize],
        code: (&'a Code, bool),
        sink: S,
    ) -> Self {
        let mut strands = Strands::new(process, number, code, sink);
        let mut map = StackMap::new(process);
        for &index in threads {
            let slot = strands.add_thread(process, number, index);
            map.add_thread(index, slot);
        }
        Running {
            calls: OpenCalls::new(strands, map),
            lost: Lost::default(),
            went_on: None,
            shared: SharedStacks::default(),
            left_in: LeftIn::default(),
            doubts: Doubts::NONE,
            sparse: process.sparse().is_some(),
        }
    }

    /// The first look has found that these calls went on after they were taken for gone.
    pub fn expect_to_go_on(&mut self, went_on: &'a WentOn) {
        self.went_on = Some(went_on).filter(|went_on| !went_on.is_empty());
    }

    /// Coroutines' frames are captured.
    pub fn expect_captures(&mut self) {
        self.calls.strands.expect_captures();
    }

    /// Events are missing of before `time`: what coroutines did then is not known.
    pub fn lacks_until(&mut self, time: u64) {
        self.calls.strands.lacks_until(time);
    }

    /// Whether the thread has made a call on its own stack since events of it were missing.
    pub fn has_called(&mut self, context: usize) -> &mut bool {
        &mut self.calls.map.threads[context].has_called
    }

    /// See [`OpenCalls::begin_unseen`].
    pub fn begin_unseen(&mut self, context: usize, coroutine: (u32, u32, Addr), time: u64) {
        self.calls.begin_unseen(context, coroutine, time);
    }

    /// See [`OpenCalls::end_unseen`].
    pub fn end_unseen(&mut self, context: usize, end: End, time: u64) {
        self.calls.end_unseen(context, end, time);
    }

    /// An event of the thread with this index in its process is taken; gives its index in the
    /// group.
    #[inline]
    pub fn begin_event(&mut self, thread: usize, time: u64) -> usize {
        let context = self.calls.map.threads.context(thread);
        self.note_events(context, 1, time);
        context
    }

    /// So many events of a thread are taken, the last of them of this time.
    #[inline(always)]
    pub fn note_events(&mut self, context: usize, events: u64, time: u64) {
        self.calls.latest = time;
        let state = &mut self.calls.map.threads[context];
        state.latest = time;
        state.events += events;
    }

    /// The state of a thread.
    #[inline]
    pub fn thread(&self, context: usize) -> &Context {
        &self.calls.map.threads[context]
    }

    /// A stack.
    #[inline]
    pub fn stack(&self, stack: u32) -> &Stack {
        &self.calls.map.stacks[stack]
    }

    /// All stacks.
    #[inline]
    pub fn stacks(&self) -> &Stacks {
        &self.calls.map.stacks
    }

    /// Which stack each thread runs, and which one lies where.
    #[inline]
    pub fn map(&self) -> &StackMap<'a> {
        &self.calls.map
    }

    /// The sink, to be told more.
    #[inline]
    pub fn sink(&mut self) -> &mut S {
        self.calls.strands.sink()
    }

    /// Whether this strand is in this slot.
    pub fn holds(&self, slot: u32, id: StrandId) -> bool {
        self.calls.strands.holds(slot, id)
    }

    /// Has `change` change the strand in this slot, if it is still this one.
    pub fn change(&mut self, slot: u32, id: StrandId, change: impl FnOnce(&mut Strand)) {
        if self.calls.strands.holds(slot, id) {
            self.calls.strands.change(slot, change);
        }
    }

    /// The strand in this slot has been given a name.
    pub fn name(&mut self, slot: u32, name: Box<str>) {
        self.calls.strands.name(slot, name);
    }

    /// The number of the strand in this slot.
    #[inline]
    pub fn id(&self, slot: u32) -> StrandId {
        self.calls.strands.id(slot)
    }

    /// The facts of the strand in this slot.
    pub fn strand(&self, slot: u32) -> Strand {
        self.calls.strands.strand(slot)
    }

    /// An event that is neither an enter nor an exit; `gap`: events of the thread are missing
    /// before it.
    pub fn other(&mut self, context: usize, event: &Event<'_>, gap: bool) {
        let has_fibers = self.calls.map.stacks.len() as usize > self.threads();
        self.calls.map.threads[context].gaps += u32::from(gap);
        self.calls.map.threads[context].has_called &= !gap;
        self.calls.map.threads.is_astray(context, gap && has_fibers);
        let thread = self.calls.map.threads[context].thread;
        let slot = self.calls.map.innermost(context);
        self.calls.strands.other(slot, thread, event);
    }

    /// The same, of an event that is known to be one of the strand on this stack.
    pub fn other_on(&mut self, context: usize, stack: u32, event: &Event<'_>) {
        let is_astray = self.calls.map.threads.is_astray(context, false);
        let thread = self.calls.map.threads[context].thread;
        let slot = self.calls.map.stacks[stack].innermost();
        if is_astray {
            self.doubt(stack, Doubts::GAP);
        }
        self.calls.strands.other(slot, thread, event);
    }

    /// The same, of an event that tells what a strand does, where calls are missing. It has no
    /// stack pointer, so the thread's latest call tells whose it is. If another thread was found on
    /// that one's stack since, either that was a mistake, and this goes on there, or it has left
    /// it, for its own stack or another: the strand is doubted.
    pub fn other_of_part(&mut self, context: usize, event: &Event<'_>) {
        let is_astray = self.calls.map.threads.is_astray(context, false);
        let state = &self.calls.map.threads[context];
        if is_astray && state.gaps == 0 && state.current == Some(state.own) {
            // Recording began on another stack: of whom, none of its calls has told.
            let begun = (Addr(0), None);
            let stack = self.new_stack(context, begun, Doubts::BEGUN_BEFORE, event.time.0);
            self.run(context, stack, event.time.0);
        }
        let state = &self.calls.map.threads[context];
        let left = state.left_behind.filter(|_| state.current.is_none());
        let there = left.filter(|&(stack, id)| {
            let slot = self.calls.map.stacks[stack].slot;
            slot != Stack::SPENT && self.calls.strands.holds(slot, id)
        });
        let there = there.map(|(stack, _)| stack).or(state.current);
        let stack = &self.calls.map.stacks[there.unwrap_or(state.own)];
        let (slot, strand, thread) = (stack.innermost(), stack.slot, state.thread);
        if is_astray || left.is_some() {
            self.calls.strands.doubt(strand, Doubts::GAP);
        }
        self.calls.strands.other(slot, thread, event);
    }

    /// The thread got memory that may be a coroutine's frame, with the stack pointer's low half
    /// `sp`.
    pub fn frame_made(&mut self, context: usize, frame: Addr, sp: u32) {
        self.calls.frame_made(context, frame, sp);
    }

    /// The coroutine with this frame is suspended as the program exits.
    pub fn frame_left(&mut self, frame: CoroutineFrame, destroyer: (Addr, u32)) {
        self.calls.strands.frame_left(frame, destroyer);
    }

    /// A frame is freed, which `destroyer`, the function with this number, destroys.
    pub fn frame_freed(&mut self, context: usize, frame: Addr, destroyer: (Addr, u32)) {
        self.calls.frame_freed(context, frame, destroyer);
    }

    /// The thread has its first event. If it was created meanwhile, what was in the place of its
    /// own stack before is gone: that memory is the thread's now.
    #[cold]
    pub fn begins(&mut self, context: usize, time: u64) {
        if !self.calls.map.threads[context].is_born {
            return;
        }
        let place = self.calls.map.threads.place(context);
        for stack in self.calls.map.fibers_within(&place) {
            self.end_stack(stack, time);
        }
    }

    /// A thread whose stack's bounds were not recorded has it around its first call.
    #[inline]
    pub fn settle(&mut self, context: usize, sp: u64) {
        let threads = &mut self.calls.map.threads;
        threads.settle(context, sp);
        if threads.may_be_over_at(sp) && !threads.owns(context, sp) {
            self.retire_at(context, sp);
        }
    }

    /// The thread makes a call at `sp`, where threads that have ended may have had their own
    /// stacks: if they left calls open there, those are nobody's callers any more.
    #[inline(never)]
    fn retire_at(&mut self, context: usize, sp: u64) {
        let threads = &self.calls.map.threads;
        let over = threads.over_at(sp, threads[context].latest);
        for other in over.collect::<Vec<usize>>() {
            let map = &mut self.calls.map;
            map.stacks.forget(map.threads[other].own);
            map.threads.retire(other);
        }
    }

    /// Has the thread run `stack` from `time` on.
    pub fn run(&mut self, context: usize, stack: u32, time: u64) {
        let previous = self.calls.map.threads[context].current;
        if previous == Some(stack) {
            return;
        }
        if self.calls.map.threads[context].idle_since.is_some() {
            self.calls.end_idle(context, Some(stack), time);
        }
        let by = previous.map(|previous| {
            let state = &self.calls.map.stacks[previous];
            let own = self.calls.strands.id(state.slot);
            let Some(top) = state.frames.last() else {
                return own;
            };
            self.calls.map.threads[context].ran_before = Some((previous, own));
            match top.slot == state.slot {
                true => own,
                false => self.calls.strands.id(top.slot),
            }
        });
        // Before the other rests, which ends what is in its place and does not run.
        let ran = std::mem::replace(&mut self.calls.map.stacks[stack].running, true);
        if let Some(previous) = previous {
            self.rest(previous, time);
        }
        let state = &mut self.calls.map.stacks[stack];
        if ran {
            // It went away from a thread that has not been heard of since.
            let other = &mut self.calls.map.threads[state.thread as usize];
            other.current = None;
            other.left_behind = Some((stack, self.calls.strands.id(state.slot)));
        } else {
            state.suspended += time.saturating_sub(state.since);
            if state.frames.is_empty() {
                self.calls.map.stacks.forget_empty(stack);
            }
        }
        let state = &mut self.calls.map.stacks[stack];
        let before = std::mem::replace(&mut state.thread, context as u32);
        if self.sparse && before != context as u32 && !state.is_made {
            // What it did last there may seem later than what it does here.
            self.doubt(stack, Doubts::SHARED);
        }
        let state = &self.calls.map.stacks[stack];
        let thread = &mut self.calls.map.threads[context];
        (thread.current, thread.left_behind) = (Some(stack), None);
        let (slot, own) = (state.innermost(), state.slot);
        if state.owner.is_some() {
            // Unlike a fiber, which may end in a function that tells nothing, it is seen to end.
            self.calls.strands.leaves_at(own, Addr(0));
        }
        let thread = self.calls.map.threads[context].thread;
        self.calls.strands.run_on(own, thread);
        self.calls.strands.resumed(slot, by, thread, time);
    }

    /// Whether a stack was left within a call of this function, for another one.
    pub fn is_left_in(&self, function: u64) -> bool {
        self.left_in.holds(function)
    }

    /// The program was seen to make this stack.
    pub fn is_made(&mut self, stack: u32) {
        self.calls.map.stacks[stack].is_made = true;
    }

    /// Suspends `stack` from `time` on. Another stack that was kept as suspended at the same place
    /// is gone.
    #[inline]
    fn rest(&mut self, stack: u32, time: u64) {
        let state = &mut self.calls.map.stacks[stack];
        state.running = false;
        state.since = time;
        let (own, thread, owner) = (state.slot, state.thread, state.owner);
        let mut slot = own;
        if let [outermost, ..] = &*state.frames
            && let [.., top] = &*state.frames
        {
            let (low, high, function) = (top.sp, outermost.sp, top.function);
            slot = top.slot;
            self.left_in.note(function);
            self.calls.strands.leaves_at(own, Addr(function));
            if self.calls.map.stacks.moves_to(stack, low) {
                self.clear(low, high, stack);
                self.calls.map.stacks.keep(stack, low);
            }
        } else {
            self.calls.map.stacks.forget(stack);
            if owner.is_none()
                && let Some(other) = self.calls.map.stacks.keep_empty(stack)
            {
                self.discard(other);
            }
        }
        if S::LIVES {
            let id = self.calls.strands.id(slot);
            let thread = self.calls.map.threads[thread as usize].thread;
            self.calls.strands.sink().suspended(id, thread, Nanos(time));
        }
    }

    /// Ends stacks that have open calls from `low` to `high`, where `stack` has its own. If calls
    /// were missing there, it may be two stacks, and others lie between them.
    fn clear(&mut self, low: u64, high: u64, stack: u32) {
        let [mut below, above] = self.calls.map.stacks.around(low);
        if above.is_some_and(|(top, _)| top <= high) {
            let others = self.calls.map.resting_within(low, high, stack);
            let lacks_calls = self.lacks_calls(stack);
            for other in others {
                if lacks_calls && !self.lacks_calls(other) {
                    self.doubt(other, Doubts::GAP);
                } else if self.discard(other) {
                    self.doubt(stack, Doubts::SHARED);
                }
            }
            below = self.calls.map.stacks.below(low);
        }
        if let Some((_, other)) = below
            && other != stack
            && self.calls.map.stacks[other].owner.is_none()
            && self.calls.map.stacks[other].inner.is_none()
            && self.calls.map.stacks[other]
                .frames
                .first()
                .is_some_and(|outermost| outermost.sp >= low && !outermost.is(Frame::HANDLER))
            && self.discard(other)
        {
            self.doubt(stack, Doubts::SHARED);
        }
    }

    /// Whether calls are missing among those of this stack, as far as has been seen.
    fn lacks_calls(&self, stack: u32) -> bool {
        let state = &self.calls.map.stacks[stack];
        let doubts = self.strand(state.slot).doubts();
        state.owner.is_none()
            && [Doubts::BEGUN_BEFORE, Doubts::CALLER]
                .into_iter()
                .any(|reason| doubts.holds(reason))
    }

    /// Ends a stack that does not run: its memory is another's now. Whether its fiber goes on
    /// nevertheless, as far as is known: then fibers share that memory.
    pub fn discard(&mut self, stack: u32) -> bool {
        self.calls.map.stacks.forget(stack);
        self.calls.map.stacks.forget_empty(stack);
        let goes_on = self.lose_on_fiber(stack, 0);
        // What its callbacks were called from does not go on.
        self.tell_nothing(stack, 0);
        while self.calls.close(stack, End::Unwound).is_some() {}
        let state = &self.calls.map.stacks[stack];
        if state.owner.is_some() {
            // A thread's stack: its calls are gone, itself is not.
            return goes_on;
        }
        let (slot, last) = (state.slot, state.since);
        let spent = (state.suspended, state.nested());
        self.calls.strands.account(slot, last, spent);
        self.calls.strands.end(slot, last);
        self.calls.map.stacks.remove(stack);
        goes_on
    }

    /// How the calls on `stack` above the first `count` end tells not whether they are callbacks.
    fn tell_nothing(&mut self, stack: u32, count: usize) {
        for frame in &mut self.calls.map.stacks[stack].frames[count..] {
            frame.flags &= !Frame::CALLBACK;
        }
    }

    /// The calls on `stack` above the first `count` are taken for gone, if it is a fiber's. Whether
    /// one of them goes on, as far as is known: then the fiber is doubted.
    fn lose_on_fiber(&mut self, stack: u32, count: usize) -> bool {
        let state = &self.calls.map.stacks[stack];
        let [first, ..] = *state.frames else {
            return false;
        };
        if state.owner.is_some() {
            return false;
        }
        let fiber = self.calls.strands.id(state.slot).unique();
        let (gone, now) = (&state.frames[count..], self.calls.latest);
        self.lost.add_on_fiber(gone, first.sp, fiber);
        let until = self.went_on.and_then(|went_on| {
            let until = gone.iter().filter_map(|frame| went_on.until(frame, now));
            until.max()
        });
        if let Some(until) = until {
            self.shared.add(&state.frames, now, until);
            self.doubt(stack, Doubts::SHARED);
        }
        until.is_some()
    }

    /// Whether a fiber that has its outermost call at `sp` shares its stack with one that was taken
    /// for gone, and goes on.
    pub fn is_shared(&self, sp: u64) -> bool {
        self.shared.holds(sp, self.calls.latest)
    }

    /// Ends a stack that a thread runs as far as was heard: it was left since, and its memory is
    /// another's now.
    pub fn discard_current(&mut self, context: usize, time: u64) {
        if let Some(stack) = self.calls.map.threads[context].current {
            let slot = self.calls.map.stacks[stack].slot;
            let gone = (stack, self.calls.strands.id(slot));
            self.calls.map.threads[context].left_behind = Some(gone);
            self.leave_current(context, time);
            self.discard(stack);
        }
    }

    /// Ends a stack, which a thread may run as far as was heard. It may have ended with another
    /// that was ended before: where a thread leaves that, what it ran before and is idle ends, too.
    pub fn end_stack(&mut self, stack: u32, time: u64) {
        match self.calls.map.stacks[stack].running {
            _ if self.calls.map.stacks[stack].slot == Stack::SPENT => {}
            true => self.discard_current(self.calls.map.stacks[stack].thread as usize, time),
            false => _ = self.discard(stack),
        }
    }

    /// The thread has left the stack that it ran for one that is not known.
    pub fn leave_current(&mut self, context: usize, time: u64) {
        if let Some(stack) = self.calls.map.threads[context].current {
            self.calls.end_idle(context, None, time);
            self.rest(stack, time);
            self.calls.map.threads[context].current = None;
        }
    }

    /// The calls on a fiber's stack above the first `count` are taken for left by a jump, which may
    /// be an exception's. If they are not, fibers share the stack.
    pub fn leave_by_jump(&mut self, stack: u32, count: usize, by_exception: bool) {
        self.lose_on_fiber(stack, count);
        self.calls.were_open(stack, count, by_exception);
        if by_exception {
            self.tell_nothing(stack, count);
        }
        self.calls.unwind(stack, count);
    }

    /// The calls on `stack`, a thread's own or one within that, above the first `count` are taken
    /// for gone. See [`Lost::add_within`].
    pub fn lose(&mut self, stack: u32, count: usize, site: u64, before: usize) {
        let gone = &self.calls.map.stacks[stack].frames[count..];
        self.lost.add_within(gone, site, before);
    }

    /// The calls that were taken for gone.
    pub fn lost(&self) -> &Lost {
        &self.lost
    }

    /// See [`Lost::inner_site`]: of the thread's stack.
    pub fn inner_site(&self, context: usize, is_it: impl Fn(&GoneWithin) -> bool) -> Option<u64> {
        let gaps = self.calls.map.threads[context].gaps;
        self.lost.inner_site(gaps, is_it)
    }

    /// How many threads there are.
    pub fn threads(&self) -> usize {
        self.calls.map.threads.len()
    }

    /// An outermost call begins on `stack`: at `sp`, from `site` in the function `holder`.
    pub fn begin_outermost(&mut self, stack: u32, sp: u64, site: u64, holder: Option<u32>) {
        let state = &mut self.calls.map.stacks[stack];
        if state.frames.is_empty() {
            state.base = sp;
            // Only the first call's site is in the strand's own function for sure: by inlining or
            // a tail call later ones may be in another function.
            state.root.set_first(holder);
            state.root_site = site;
            if state.first_site.get().is_none() {
                state.first_site.replace(site);
            }
        }
    }

    /// Calls on this stack may be another fiber's, for these reasons. The place of a thread's own
    /// stack is known, and so are the calls on it.
    pub fn doubt(&mut self, stack: u32, reasons: Doubts) {
        if self.calls.map.stacks[stack].owner.is_none() {
            self.doubt_strand(stack, reasons);
        }
    }

    /// Calls on this stack, which may be a thread's own, may be another strand's, or another
    /// call's.
    pub fn doubt_strand(&mut self, stack: u32, reasons: Doubts) {
        let state = &self.calls.map.stacks[stack];
        self.calls.strands.doubt(state.slot, reasons);
        // Then so may those that the coroutines have there which it runs.
        let calls = reasons.holds(Doubts::CALLER) || reasons.holds(Doubts::CALLBACK);
        if calls && state.activations.is_some() {
            let runs = state.frames.iter().rev().map(|frame| frame.slot);
            for slot in runs.take_while(|&slot| slot != state.slot) {
                self.calls.strands.doubt(slot, reasons);
            }
        }
    }

    /// Calls on a thread's own stack, or on one of those within it, may be another strand's.
    #[inline(never)]
    pub fn doubt_within(&mut self, own: u32, reasons: Doubts) {
        self.doubt_strand(own, reasons);
        for stack in self.calls.map.stacks.inner().to_vec() {
            let state = &self.calls.map.stacks[stack];
            if state.inner.as_ref().is_some_and(|inner| inner.own == own) {
                self.doubt_strand(stack, reasons);
            }
        }
    }

    /// Calls above the first `count` of this stack are over, though they have no exit: an exception
    /// has left them, or a jump that has no record. By `-mfentry`, if the code tells how large
    /// frames are, and where no function is open twice, each call since is where it was made. Else
    /// it may have been made by an outer call of the function that it was taken to be made by, on a
    /// thread's own stack, too. Where events are missing, their exits may be, too, and that is
    /// doubted by itself.
    pub fn doubt_left(&mut self, stack: u32, count: usize, sites: &Sites<'_>) {
        let state = &self.calls.map.stacks[stack];
        let Some((caller, around)) = state.frames[..count].split_last() else {
            return;
        };
        let gone = &state.frames[count..];
        let gaps = self.calls.map.threads[state.thread as usize].gaps;
        let is_told = |frame: &Frame| {
            frame.is(Frame::ENTRY) && sites.tells_distances(frame.function, frame.enter)
        };
        let is_lost = |frame: &&Frame| frame.gaps == gaps && !is_told(frame);
        if !gone.iter().any(|frame| is_lost(&frame)) {
            return;
        }
        let open_twice = |body: u32| around.iter().any(|frame| frame.body == body);
        let other = |frame: &Frame| frame.body == caller.body || open_twice(frame.body);
        if open_twice(caller.body) || gone.iter().filter(is_lost).any(other) {
            let slot = state.slot;
            self.calls.strands.doubt(slot, Doubts::CALLER);
        }
    }

    /// The thread runs a fiber of which it is known that it is one, and has all its calls.
    pub fn trust_current(&mut self, context: usize) {
        let thread = &self.calls.map.threads[context];
        if let Some(stack) = thread.current.filter(|&stack| stack != thread.own) {
            let state = &mut self.calls.map.stacks[stack];
            state.begun_before = false;
            let trust = |strand: &mut Strand| strand.doubts = Doubts::NONE;
            self.calls.strands.change(state.slot, trust);
        }
    }

    /// Whether the program has announced the strand that has this stack.
    pub fn is_announced(&self, stack: u32) -> bool {
        let slot = self.calls.map.stacks[stack].slot;
        self.strand(slot).doubts().holds(Doubts::ANNOUNCED)
    }

    /// Calls on every fiber's stack may be another's, for these reasons.
    pub fn doubt_living(&mut self, reasons: Doubts) {
        for stack in 0..self.calls.map.stacks.len() {
            let state = &self.calls.map.stacks[stack];
            if state.owner.is_none() && state.slot != Stack::SPENT {
                self.calls.strands.doubt(state.slot, reasons);
            }
        }
    }

    /// Every fiber that begins from now on is to be doubted, for these reasons.
    pub fn doubt_all(&mut self, reasons: Doubts) {
        self.doubts |= reasons;
    }

    /// A stack for a new fiber that begins with a call of `function`; 0: with one that was not
    /// seen. `maker`: the strand that made it, if a record tells.
    pub fn new_stack(
        &mut self,
        context: usize,
        (function, maker): (Addr, Option<StrandId>),
        doubts: Doubts,
        time: u64,
    ) -> u32 {
        let thread = self.calls.map.threads[context].thread;
        let begins = (function, maker, doubts | self.doubts);
        let slot = self.calls.strands.add_fiber(thread, begins, time);
        self.calls.map.stacks.add(Stack {
            slot,
            thread: context as u32,
            since: time,
            begun_before: doubts.holds(Doubts::BEGUN_BEFORE),
            ..Stack::default()
        })
    }

    /// A stack for a fiber that begins with this call at `sp`, within a thread's own stack, in this
    /// place. What was there is gone.
    pub fn new_inner_stack(
        &mut self,
        context: usize,
        (function, sp, maker): (Addr, u64, Option<StrandId>),
        place: Inner,
        time: u64,
    ) -> u32 {
        let stacks = &self.calls.map.stacks;
        let there = stacks.inner().iter().copied().filter(|&stack| {
            let state = &stacks[stack];
            state.begins_near(sp) || (state.frames.is_empty() && state.base.abs_diff(sp) < BASE)
        });
        for stack in there.collect::<Vec<u32>>() {
            self.end_stack(stack, time);
        }
        // The calls that are missing on the thread's own stack may be a jump's, not a fiber's.
        let slot = self.calls.map.stacks[place.own].slot;
        let doubts = match self.strand(slot).doubts().holds(Doubts::CALLER) {
            true => Doubts::CALLER,
            false => Doubts::NONE,
        };
        let stack = self.new_stack(context, (function, maker), doubts, time);
        self.calls.map.stacks.lies_within(stack, place);
        stack
    }

    /// This stack lies within a thread's own, and not in the frame of the call that was open below
    /// when it was made.
    pub fn outlives_below(&mut self, stack: u32) {
        if let Some(inner) = &mut self.calls.map.stacks[stack].inner {
            inner.below = None;
        }
    }

    /// A call is made on this stack of a thread at `sp`: the fibers' stacks within are above.
    pub fn calls_below_inner(&mut self, own: u32, sp: u64) {
        self.calls.map.calls_below_inner(own, sp);
    }

    /// Ends all that is open: there are no more events.
    pub fn finish(mut self) -> Told<S> {
        for context in 0..self.threads() {
            let latest = self.calls.map.threads[context].latest;
            self.calls.end_idle(context, None, latest);
        }
        for stack in 0..self.calls.map.stacks.len() {
            let state = &self.calls.map.stacks[stack];
            if state.slot == Stack::SPENT {
                continue;
            }
            // Another thread of the group may go on for longer: that says nothing of this one.
            let context = state.owner.unwrap_or(state.thread) as usize;
            let latest = self.calls.map.threads[context].latest;
            self.calls.latest = latest;
            let until = match state.owner {
                None if !state.running => state.since,
                _ => latest,
            };
            let has_ended = match state.owner {
                Some(context) => self.calls.map.threads[context as usize].ended,
                // Its outermost call has returned, and nothing was heard of it since.
                None => state.frames.is_empty(),
            };
            let is_thread = state.owner.is_some();
            if state.running {
                let runs = state.innermost();
                self.calls
                    .strands
                    .change(runs, |strand| strand.set_suspended_at(None));
            }
            let is_cut = state.running;
            self.calls.close_all(stack);
            if is_thread {
                self.calls.end_unseen(context, End::Open, latest);
            }
            let slot = self.calls.map.stacks[stack].slot;
            if is_cut {
                self.calls.strands.is_cut(slot);
            }
            if has_ended {
                self.calls.strands.change(slot, |strand| match is_thread {
                    true => strand.dies(Nanos(until)),
                    false => strand.is_gone(Nanos(until)),
                });
            }
            let state = &self.calls.map.stacks[stack];
            let spent = (state.suspended, state.nested());
            self.calls.strands.account(slot, until, spent);
        }
        let OpenCalls {
            strands,
            map,
            loose,
            ..
        } = self.calls;
        // The sink takes memory for the strands that it is told of: that of the stacks is free.
        drop(map);
        let (sink, unresolved) = strands.finish();
        Told {
            sink,
            loose,
            unresolved,
        }
    }
}

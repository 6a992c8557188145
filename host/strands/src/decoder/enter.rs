//! Finds the strand of an enter.
//!
//! The stack grows downwards, so the caller's frame is the nearest open one above the new call's
//! stack pointer, whatever stack that is on:
//!
//! 1. *inlined* (`-finstrument-functions` only): the innermost call has the same stack pointer
//!    and call site: it is the container, if its code calls the enter hook in the new one's name;
//!    one that does not contain itself was left by a `longjmp`. Nor does the outermost call of a
//!    stack that rested: it was never left, and its function is entered anew on a stack that is
//!    used again;
//! 2. *called by an instrumented function*: the nearest open call above, on any stack, of the
//!    function that the call site is in; what is open below that on its stack is gone. Where a call
//!    made from that very site is open there, it is the container, in a frame that has grown
//!    (`alloca`), or whose calls a `longjmp` has left;
//! 3. *called by the kernel* (a signal's handler): on top of what it has its frame below; or, where
//!    it has a stack of its own, of whatever the thread runs, wherever that stack is. It may be an
//!    array of another thread's function: what is called there is not the other thread's;
//! 4. *called by uninstrumented code*: on a thread's own stack, on top of what encloses it there.
//!    Elsewhere it is a callback, or the outermost call of a new fiber: the call site tells, by how
//!    most calls from it began in the whole trace ([`crate::survey`]).
//!
//! "The caller's function is that of the innermost call" is no test by itself: two fibers may run
//! the same function. The distance between the two is ([`crate::sites`]).

use super::{Decoder, NotAlone};
use crate::Doubts;
use crate::entered::Entered;
use crate::made_stacks::Runs;
use crate::sink::Sink;
use crate::sites::{Candidate, Grown, Site};
use crate::stacks::{DOUBTFUL, Frame, REACH};
use heddle_calls::End;
use heddle_trace_file::{Addr, Way};

/// Bytes between a call and a signal's handler that interrupts it, or code without hooks that it
/// called, hardly ever more: the kernel keeps the registers between, in 1 to 11 KB.
const HANDLED: u64 = 16 << 10;

/// Stacks that are looked at in search of a caller.
const STACKS: usize = 256;

/// Calls that were taken for gone, likewise.
const LOST: usize = 256;

impl<S: Sink> Decoder<'_, S> {
    /// Takes an enter.
    // Its two short ways are wholly inlined: through memory, what is new would be written in halves
    // and read as wholes, which costs more than all the rest.
    #[inline(always)]
    pub fn enter(&mut self, context: usize, new: &Entered) -> Result<(), NotAlone> {
        if new.frame.is_some() {
            if self.alone {
                return Err(NotAlone);
            }
            self.evidence.note_capture();
        }
        let way = match new.way {
            Way::Instrumented => 0,
            Way::Entry => Frame::ENTRY,
        };
        let current = self.running.thread(context).current;
        let top = current.and_then(|stack| self.running.stack(stack).frames.last());
        let inlined = top.is_some_and(|top| top.sp == new.sp);
        if let Some(&site) = self.sites.of(new.caller, new.function, inlined) {
            if let Some(stack) = current
                && top.is_some_and(|top| self.is_called_from(top, stack, &site, context, new))
            {
                self.push_known(context, stack, new, &site, way);
                return Ok(());
            }
            // The thread has gone to another stack meanwhile, and that is where it rested.
            if let Some(stack) = self
                .running
                .stacks()
                .resting_at(new.sp.wrapping_add(site.above))
                && let Some(top) = self.running.stack(stack).frames.last()
                && self.is_called_from(top, stack, &site, context, new)
            {
                self.running.run(context, stack, new.time);
                self.push_known(context, stack, new, &site, way);
                return Ok(());
            }
        }
        self.enter_slowly(context, new, way)
    }

    /// The stack that the thread runs, if its innermost call makes the new one for certain; the
    /// number of the function that is called, and whether that is inlined.
    #[inline(always)]
    pub(super) fn known_caller(&self, context: usize, new: &Entered) -> Option<(u32, u32, bool)> {
        let stack = self.running.thread(context).current?;
        let top = self.running.stack(stack).frames.last()?;
        let site = self.sites.of(new.caller, new.function, top.sp == new.sp)?;
        let called = self.is_called_from(top, stack, site, context, new);
        called.then_some((stack, site.callee, site.above == 0))
    }

    /// Whether a call from this site can be made by `top`: at the distance that it had before.
    #[inline(always)]
    fn is_called_from(
        &self,
        top: &Frame,
        stack: u32,
        site: &Site,
        context: usize,
        new: &Entered,
    ) -> bool {
        site.caller == top.body
            && top.sp.wrapping_sub(new.sp) == site.above
            && (site.above != 0 || self.is_inlined_into(top, stack, context, new))
    }

    #[inline(always)]
    fn push_known(&mut self, context: usize, stack: u32, new: &Entered, site: &Site, way: u16) {
        let (body, flags) = match site.above {
            0 => (site.caller, Frame::INLINED),
            _ => (site.callee, way),
        };
        self.running
            .calls
            .push(context, stack, new, (site.callee, body), flags);
    }

    /// Whether `top`, the innermost call of `stack`, has the new call inlined into it.
    #[inline(always)]
    fn is_inlined_into(&self, top: &Frame, stack: u32, context: usize, new: &Entered) -> bool {
        if top.sp != new.sp || top.caller != new.caller || top.is(Frame::ENTRY) {
            return false;
        }
        // The same function at the same place may be another call of it: behind a gap, on a stack
        // that is used again, or after a longjmp where nothing is inlined into it.
        top.function != new.function
            || (top.gaps == self.running.thread(context).gaps
                && !self.is_entered_anew(stack, context)
                && self.sites.may_inline(top.body, new.function))
    }

    /// Whether the outermost call of a stack may be one that was never left: the stack is a
    /// fiber's, and has rested with nothing else open.
    fn is_entered_anew(&self, stack: u32, context: usize) -> bool {
        let state = self.running.stack(stack);
        state.owner.is_none()
            && state.frames.len() == 1
            && self.running.thread(context).current != Some(stack)
    }

    /// The call among those in `stack` above `index` that contains a new one with its own call
    /// site, though it is not where that is.
    fn grown(&self, stack: u32, index: usize, context: usize, new: &Entered) -> Option<usize> {
        let frames = &self.running.stack(stack).frames;
        let contains = |frame: &Frame| {
            frame.caller == new.caller
                && (frame.sp > new.sp || (frame.sp == new.sp && frame.function != new.function))
                && frame.gaps == self.running.thread(context).gaps
                && !frame.is(Frame::ENTRY)
        };
        let above = frames[index + 1..].iter().rposition(contains)?;
        Some(index + 1 + above)
    }

    /// Whether the new call is inlined into the innermost one of the stack that runs, whose frame
    /// has grown (`alloca`): both seem to be made from one place, by uninstrumented code.
    fn grown_without_hooks(&self, context: usize, new: &Entered) -> Option<(u32, Grown)> {
        let stack = self.running.thread(context).current?;
        let top = self.running.stack(stack).top()?;
        let may_contain = top.caller == new.caller
            && top.sp > new.sp
            && top.sp - new.sp < REACH
            && top.gaps == self.running.thread(context).gaps
            && !top.is(Frame::ENTRY);
        may_contain.then(|| (stack, self.sites.is_in_grown(top.body, new)))
    }

    #[inline(never)]
    fn enter_slowly(&mut self, context: usize, new: &Entered, way: u16) -> Result<(), NotAlone> {
        self.running.settle(context, new.sp);
        let callee = self.sites.callee(new.function, new.time);
        self.evidence.note_entered(callee);
        let begins = self.begins_on_made_stack(context, new.sp);
        if way == 0
            && begins.is_none()
            && let Some(stack) = self.container(context, new)
        {
            let body = self
                .running
                .stack(stack)
                .top()
                .map_or(callee, |top| top.body);
            self.sites.note(Site {
                site: new.caller,
                function: new.function,
                above: 0,
                caller: body,
                callee,
            });
            self.running.run(context, stack, new.time);
            self.running
                .calls
                .push(context, stack, new, (callee, body), Frame::INLINED);
            return Ok(());
        }
        let holder = self.sites.holder(new.caller, new.time);
        // Where the recording lacks calls, a function may be open that is never seen to be entered.
        let is_part = self.is_part();
        let (sites, evidence) = (&self.sites, &mut self.evidence);
        let instrumented = holder.filter(|&function| {
            sites.was_entered(function)
                || evidence.was_entered(function)
                || (is_part && sites.calls_hooks(function))
        });
        let mut by_gone = false;
        if let Some(function) = instrumented {
            let announced = self.announced_stack(context);
            let found = self.caller(context, new, function, callee);
            let found = found.filter(|&(stack, _)| self.may_lie_on(context, stack, new.sp));
            // Another fiber's call of the function, where that of the one that runs was not seen to
            // begin.
            let starts = self.begins_within() && self.announced.starts(context);
            let found = found.filter(|&(stack, _)| {
                let own = self.running.stack(stack).owner.is_some();
                own || (!starts && announced.is_none_or(|runs| runs == stack))
            });
            // Or one that was not seen to begin either, and rests on another stack.
            let found = found.filter(|&(stack, index)| {
                let above = self.running.stack(stack).frames[index].sp - new.sp;
                let own = self.running.stack(stack).owner.is_some();
                let (site, function) = (new.caller, new.function);
                own || !self.is_part() || !self.evidence.is_far_below_caller(site, function, above)
            });
            let container = found
                .filter(|_| way == 0)
                .and_then(|(stack, index)| self.grown(stack, index, context, new));
            // Nor does a frame grow so much that the next one is on another stack.
            let found = found.filter(|&(stack, _)| {
                let by = container.map(|at| self.running.stack(stack).frames[at].sp - new.sp);
                by.is_none_or(|by| !self.may_be_anothers(stack, by))
            });
            by_gone = self.is_called_by_gone(context, new, function, found)?;
            if let Some((stack, index)) = found {
                if self.is_nearer_to_lost((stack, index), new, function) {
                    self.running.doubt(stack, Doubts::CALLER);
                }
                if let Some(container) = container {
                    let body = self.running.stack(stack).frames[container].body;
                    self.doubt_called_back(stack, container + 1, new.time);
                    self.running.doubt_left(stack, container + 1, &self.sites);
                    self.running.calls.unwind(stack, container + 1);
                    self.running.run(context, stack, new.time);
                    self.running
                        .calls
                        .push(context, stack, new, (callee, body), Frame::INLINED);
                    return Ok(());
                }
                let calls = self.candidates(stack, function, new);
                let by_others = self.sites.is_by_others(new, index, calls);
                if by_others {
                    self.running.doubt_strand(stack, Doubts::CALLER);
                }
                self.leave_to_caller(stack, index + 1, new);
                self.running.run(context, stack, new.time);
                let calls = self.candidates(stack, function, new);
                let is_ambiguous = self.sites.is_ambiguous(new, (function, index), calls);
                let made_it = &mut self.running.calls.map.stacks[stack].frames[index];
                if is_ambiguous {
                    made_it.flags |= Frame::PERHAPS_GONE;
                }
                let above = made_it.sp - new.sp;
                if self.sites.is_unexpected(new, (function, callee), above) {
                    // Its caller may have been taken for gone.
                    self.running.doubt(stack, Doubts::CALLER);
                }
                self.evidence.note_above(new.caller, new.function, above);
                if self.may_be_anothers(stack, above) {
                    // Stacks lie at equal distances, so another would fit the same way, unasked.
                    self.running.doubt(stack, Doubts::CALLER);
                } else if !by_others {
                    let site = Site {
                        site: new.caller,
                        function: new.function,
                        above,
                        caller: function,
                        callee,
                    };
                    self.sites.note_made(site, is_ambiguous);
                }
                self.running
                    .calls
                    .push(context, stack, new, (callee, callee), way);
                return Ok(());
            }
            self.is_called_on_lost(context, new, function);
        }
        if instrumented.is_none()
            && way == 0
            && begins.is_none()
            && let Some((stack, grown)) = self.grown_without_hooks(context, new)
            && grown != Grown::No
        {
            if grown != Grown::Yes {
                self.running.doubt(stack, Doubts::CALLER);
            }
            if grown != Grown::Perhaps
                && let Some(&Frame { body, .. }) = self.running.stack(stack).top()
            {
                self.running
                    .calls
                    .push(context, stack, new, (callee, body), Frame::INLINED);
                return Ok(());
            }
        }
        if self.sites.is_signal_return(Addr(new.caller)) {
            let stack = self.interrupted(context, new);
            self.running.run(context, stack, new.time);
            self.running
                .calls
                .push(context, stack, new, (callee, callee), way | Frame::HANDLER);
            return Ok(());
        }
        let mut is_recorded = instrumented.is_some();
        let stack = if let Some(made) = begins.filter(|_| !is_recorded) {
            self.evidence.note_other_strand();
            self.note_callbacks();
            self.on_made_stack(context, new, &made, false)
        } else if let Some(own) = self.running.map().own_stack_at(context, new.sp) {
            let tells = holder.is_some_and(|function| self.sites.tells_its_calls(function));
            is_recorded |= tells;
            // A call that was taken for gone does not tell what else is.
            let tells = tells && !by_gone;
            // Without a symbol, code that has no hooks may be taken for the function before.
            let instrumented = instrumented.is_some_and(|it| self.sites.has_symbol(it));
            self.on_own(context, own, new, (callee, way, tells), instrumented)?
        } else if self.alone {
            return Err(NotAlone);
        } else {
            self.elsewhere(context, new, callee, holder, instrumented.is_some())
        };
        self.called_by_unseen(context, stack, new, holder);
        let mut flags = way;
        if is_recorded && let Some(top) = self.running.stack(stack).top() {
            self.unresolved.enters += 1;
            let since_gap = top.gaps == self.running.thread(context).gaps;
            match since_gap && (self.is_part() || self.may_have_handed_over(holder)) {
                true => self.running.doubt(stack, Doubts::CALLER),
                // On a thread's own stack, too: a fiber may lie within it, or what is open may have
                // ended where events are missing.
                false => self.running.doubt_strand(stack, Doubts::CALLER),
            }
        }
        if let Some(top) = self.running.stack(stack).top() {
            // Uninstrumented code takes the same room each time, too. As long as it is not known
            // what a site does, every call from it counts.
            let known = self.evidence.knows_site(new.caller);
            let votes = !known && self.running.stack(stack).owner.is_none();
            if votes && !is_recorded {
                flags |= Frame::CALLBACK;
                self.evidence.note_guess();
            }
            if !is_recorded
                && !votes
                && top.sp > new.sp
                && top.sp - new.sp < REACH
                && !self.may_be_anothers(stack, top.sp - new.sp)
            {
                self.sites.note(Site {
                    site: new.caller,
                    function: new.function,
                    above: top.sp - new.sp,
                    caller: top.body,
                    callee,
                });
            }
        }
        self.running.run(context, stack, new.time);
        let (site, sp) = (new.caller, new.sp);
        self.running.begin_outermost(stack, sp, site, holder);
        self.running
            .calls
            .push(context, stack, new, (callee, callee), flags);
        Ok(())
    }

    /// Whether the function is a coroutine's, which calls others when the hook of its exit was
    /// called: at -O2, where it hands over to another one.
    pub(super) fn may_have_handed_over(&self, function: Option<u32>) -> bool {
        function.is_some_and(|function| self.sites.coroutine(function).is_some())
    }

    /// A call is made on `stack` by a function of which no call is open there. If that may be a
    /// coroutine's, its activation was not recorded, because the recording began within it or has
    /// left it out, with all or some of what is between.
    fn called_by_unseen(&mut self, context: usize, stack: u32, new: &Entered, holder: Option<u32>) {
        let own = self.running.thread(context).own;
        let is_free = stack == own && self.running.stack(own).frames.is_empty();
        if let Some(unseen) = self.running.thread(context).unseen
            && is_free
            && let Some(holder) = holder.filter(|&holder| holder != unseen.function)
            && self.sites.calls_hooks(holder)
        {
            self.running.end_unseen(context, End::Unwound, new.time);
        }
        let unseen = self.running.thread(context).unseen;
        let has_called = std::mem::replace(self.running.has_called(context), stack == own);
        let Some(holder) = holder.filter(|_| unseen.is_none() || stack != own) else {
            return;
        };
        let coroutine = self.sites.coroutine(holder);
        let may_be = match self.is_filtered {
            true => self.sites.have_coroutines(),
            false => coroutine.is_some(),
        };
        let runs_another = self.running.stack(stack).runs_coroutine();
        if !may_be || runs_another || !self.sites.calls_hooks(holder) {
            return;
        }
        let begins = is_free && !self.is_filtered && self.evidence.captures();
        if let Some(coroutine) = coroutine.filter(|_| begins) {
            if has_called {
                // What was called before may be that coroutine's, too.
                self.running.doubt_strand(own, Doubts::BEGUN_BEFORE);
            }
            let entry = Addr(new.caller);
            self.running
                .begin_unseen(context, (holder, coroutine, entry), new.time);
            return;
        }
        let reason = match self.is_filtered {
            true => Doubts::FILTERED,
            false => Doubts::BEGUN_BEFORE,
        };
        self.running.doubt_strand(stack, reason);
    }

    /// The stack that the thread runs where a signal's handler is called. What is first recorded of
    /// a fiber may be that.
    fn interrupted(&mut self, context: usize, new: &Entered) -> u32 {
        if !self.alone {
            let (sp, time) = (new.sp, new.time);
            self.announced.run(&mut self.running, context, sp, time);
        }
        let thread = self.running.thread(context);
        let (current, own) = (thread.current, thread.own);
        let is_unseen = self.is_part()
            && current.is_none_or(|stack| stack == own)
            && self.running.stack(own).frames.is_empty()
            && self.running.map().own_stack_at(context, new.sp).is_none();
        if is_unseen {
            self.running.doubt_strand(own, Doubts::BEGUN_BEFORE);
        }
        let runs = current.unwrap_or(own);
        match self.alone || self.announced_stack(context).is_some() {
            true => runs,
            false => self.handled_on(context, new, runs),
        }
    }

    /// The stack on top of which the kernel has called a signal's handler, on a thread that ran
    /// `runs` when it was heard of last: it may have gone to another since. A handler without a
    /// stack of its own (`sigaltstack`) has its frame right below what it interrupts. One with such
    /// a stack does not tell what it interrupts, if the thread may run another.
    fn handled_on(&mut self, context: usize, new: &Entered, runs: u32) -> u32 {
        match self.made_stacks.runs_at(&self.running, context, new.sp) {
            Runs::Stack(stack) => {
                let own = self.running.thread(context).own;
                let state = self.running.stack(stack);
                let top = state.top();
                let is_others = state.owner.is_some() && stack != own;
                if !is_others && top.is_none_or(|top| new.sp < top.sp) {
                    // By `-mfentry`, an array of the innermost call lies there, too, and may be the
                    // handler's own stack.
                    let may_hold = top.is_some_and(|top| top.is(Frame::ENTRY));
                    if stack == own && stack != runs && may_hold {
                        self.running.doubt_strand(stack, Doubts::CALLER);
                        self.running.doubt_strand(runs, Doubts::CALLER);
                    }
                    return stack;
                }
            }
            Runs::Unmet => {
                let made = self.made_stacks.at(new.sp);
                let is_own = self.running.map().own_stack_at(context, new.sp).is_some();
                if let Some(made) = made.filter(|_| !is_own) {
                    return self.on_made_stack(context, new, &made, true);
                }
            }
            Runs::Unknown => {
                let above = self.running.map().next_above(context, new.sp);
                let near = above.filter(|&(top, stack)| {
                    top - new.sp < HANDLED && self.running.stack(stack).owner.is_none()
                });
                if let Some((_, stack)) = near {
                    // Or the handler has a stack of its own, which lies below that fiber's.
                    self.running.doubt_strand(stack, Doubts::CALLER);
                    self.running.doubt_strand(runs, Doubts::CALLER);
                    return stack;
                }
            }
        }
        let thread = self.running.thread(context);
        let has_left_own = runs != thread.own || thread.ran_before.is_some();
        let top = self.running.stack(runs).top();
        if has_left_own && top.is_none_or(|top| self.running.is_left_in(top.function)) {
            self.running.doubt_strand(runs, Doubts::CALLER);
        }
        runs
    }

    /// Whether a call on `stack` that seems to have been made from so far above may be on another
    /// stack, because the recording lacks calls.
    fn may_be_anothers(&self, stack: u32, above: u64) -> bool {
        self.is_part() && above >= DOUBTFUL && self.running.stack(stack).owner.is_none()
    }

    /// Ends what is open on `stack` above the first `count` calls, the last of which makes the new
    /// one.
    fn leave_to_caller(&mut self, stack: u32, count: usize, new: &Entered) {
        self.doubt_called_back(stack, count, new.time);
        self.running.doubt_left(stack, count, &self.sites);
        self.lose_above(stack, count, None);
        if self.running.stack(stack).owner.is_some() {
            self.made_stacks.calls_within(&self.running, new.sp);
            self.running.calls_below_inner(stack, new.sp);
        }
        self.running.calls.unwind(stack, count);
    }

    /// The stack whose innermost call the new one was inlined into.
    fn container(&self, context: usize, new: &Entered) -> Option<u32> {
        let contains = |stack: u32| {
            let top = self.running.stack(stack).top()?;
            let contains = self.is_inlined_into(top, stack, context, new)
                && self.sites.may_inline(top.body, new.function)
                && !self.is_made_for_another(stack, new.sp);
            contains.then_some(stack)
        };
        let current = self.running.thread(context).current.and_then(contains);
        let resting = || self.running.stacks().resting_at(new.sp).and_then(contains);
        // Or another thread ran it when it was heard of last.
        let elsewhere = || {
            let mut others = self.running.map().threads.running();
            others.find_map(contains)
        };
        current.or_else(resting).or_else(elsewhere)
    }

    /// The nearest open call of `function` above the new one's stack pointer, and its stack.
    fn caller(
        &self,
        context: usize,
        new: &Entered,
        function: u32,
        callee: u32,
    ) -> Option<(u32, usize)> {
        let sp = new.sp;
        let nearest = |stack: u32| {
            let calls = self.candidates(stack, function, new);
            Some((stack, self.sites.maker(new, (function, callee), calls)?))
        };
        let current = self.running.thread(context).current;
        if self.alone {
            return current.and_then(nearest);
        }
        let distance =
            |&(stack, index): &(u32, usize)| self.running.stack(stack).frames[index].sp - sp;
        if let Some(own) = self.running.map().own_stack_at(context, sp) {
            let elsewhere = current.filter(|&stack| stack != own);
            let handled = elsewhere.and_then(nearest);
            let inner = self.running.map().inner_at(sp).and_then(nearest);
            return handled
                .filter(|&found| self.in_handler(found, sp))
                .or_else(|| inner.into_iter().chain(nearest(own)).min_by_key(distance));
        }
        // A handler's frames are on a stack of their own, far from those that they are on top of.
        let mut best = current.and_then(nearest).filter(|found| {
            self.running.map().is_next_on(context, found.0, sp) || distance(found) < REACH
        });
        let nearer = |best: Option<(u32, usize)>, stack: u32| {
            best.into_iter().chain(nearest(stack)).min_by_key(distance)
        };
        for stack in self.running.map().threads.running() {
            // Running as far as was heard: another thread may have it by now.
            if Some(stack) != current && self.running.stack(stack).owner.is_none() {
                best = nearer(best, stack);
            }
        }
        if let Some((_, stack)) = self.running.stacks().below(sp) {
            best = nearer(best, stack);
        }
        for (top, stack) in self.running.stacks().resting().above(sp).take(STACKS) {
            // All calls on this one and the others are further away.
            if best.is_some_and(|best| distance(&best) <= top - sp) {
                break;
            }
            if !self.running.stack(stack).running {
                best = nearer(best, stack);
            }
        }
        best.filter(|found| distance(found) < (8 << 20))
    }

    /// Whether a call of `function` that was taken for gone may have made the new one rather than
    /// the call that was found for it: on a fiber whose stack is nearer, next below all of that
    /// one's open calls.
    fn is_nearer_to_lost(
        &self,
        (stack, index): (u32, usize),
        new: &Entered,
        function: u32,
    ) -> bool {
        let frames = &self.running.stack(stack).frames;
        let (Some(found), Some(top)) = (frames.get(index), frames.last()) else {
            return false;
        };
        let lost = self.running.lost().above(new.sp, found.sp - new.sp);
        lost.take(LOST).any(|gone| {
            let call = &gone.call;
            call.body == function
                && gone.base < top.sp
                && call.is_entry == (new.way == Way::Entry)
                && self.sites.may_call(call.function, call.sp - new.sp, new) != Some(false)
        })
    }

    /// The open calls of `function` on this stack that are above the new call, the innermost first.
    fn candidates(
        &self,
        stack: u32,
        function: u32,
        new: &Entered,
    ) -> impl Iterator<Item = Candidate> + Clone {
        let (frames, sp) = (&*self.running.stack(stack).frames, new.sp);
        let calls = frames.iter().enumerate().rev();
        let above = calls.filter(move |(_, frame)| frame.body == function && frame.sp > sp);
        above.map(move |(index, frame)| Candidate {
            index,
            above: frame.sp - sp,
            entered: frame.function,
        })
    }

    /// Whether the call is one of a signal's handler, and `sp` on the handler's stack, which may
    /// lie within the thread's own.
    fn in_handler(&self, (stack, index): (u32, usize), sp: u64) -> bool {
        let frames = &self.running.stack(stack).frames[..=index];
        let handler = frames.iter().rfind(|frame| frame.is(Frame::HANDLER));
        handler.is_some_and(|handler| handler.sp.abs_diff(sp) < REACH)
    }

    /// How many calls of a thread's own stack are open around `sp`.
    pub fn enclosing(&self, stack: u32, new: &Entered, way: u16) -> usize {
        let frames = &self.running.stack(stack).frames;
        let around = |frame: &&Frame| {
            (frame.sp > new.sp && !self.sites.is_in_frame(new, frame.sp))
                || (frame.is(Frame::HANDLER) && frame.sp.abs_diff(new.sp) > REACH)
                || (frame.sp == new.sp && way == 0 && !frame.is(Frame::ENTRY) && {
                    frame.caller == new.caller && frame.function != new.function
                })
        };
        let gone = frames
            .iter()
            .rev()
            .take_while(|frame| !around(frame))
            .count();
        frames.len() - gone
    }
}

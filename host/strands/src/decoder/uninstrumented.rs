//! Calls by uninstrumented code, outside the threads' own stacks: callbacks, and the outermost
//! calls of fibers.

use super::Decoder;
use crate::Doubts;
use crate::entered::Entered;
use crate::evidence::Start;
use crate::made_stacks::{Fiber, MadeStack};
use crate::sink::Sink;
use crate::stacks::{BASE, Frame, LITTLE, Presence, REACH};
use crate::survey::Votes;

use heddle_trace_file::{Addr, Way};
use std::cell::Cell;

impl<S: Sink> Decoder<'_, S> {
    /// The stack of a call by uninstrumented code, outside the stacks of threads.
    pub fn elsewhere(
        &mut self,
        context: usize,
        new: &Entered,
        callee: u32,
        holder: Option<u32>,
        instrumented: bool,
    ) -> u32 {
        self.evidence.note_other_strand();
        self.note_callbacks();
        let starts = self.announced.starts(context);
        if !starts && let Some(stack) = self.announced_stack(context) {
            let frames = &self.running.stack(stack).frames;
            let count = frames.partition_point(|frame| frame.sp > new.sp);
            self.running.calls.unwind(stack, count);
            return stack;
        }
        if !starts
            && !instrumented
            && let Some(stack) = self.announced.empty(&self.running, context, new.sp)
        {
            return stack;
        }
        if let Some(made) = self.made_stacks.at(new.sp) {
            return self.on_made_stack(context, new, &made, instrumented);
        }
        let current = self.running.thread(context).current;
        if !starts && let Some(stack) = self.jumped_on(context, new, callee) {
            return stack;
        }
        let near = current.filter(|&stack| {
            let top = self.running.stack(stack).top();
            top.is_some_and(|top| {
                top.sp.wrapping_sub(new.sp) < REACH && !self.sites.is_in_frame(new, top.sp)
            }) && self.running.map().is_next_on(context, stack, new.sp)
        });
        // Where a thread may have come back to, in uninstrumented code.
        let behind = self.running.map().next_above(context, new.sp);
        // A call is below what it was called back from; with the same stack pointer, it is in the
        // place of one that is gone.
        let behind = behind.filter(|&(top, stack)| {
            (1..REACH).contains(&(top - new.sp))
                && !self.sites.is_in_frame(new, top)
                && self.running.stack(stack).owner.is_none()
                && !self.is_nearer_to_emptied(context, new.sp, top)
        });
        let top = near.and_then(|stack| self.running.stack(stack).top());
        let start = Start {
            site: new.caller,
            function: new.function,
            sp: new.sp,
            holder,
            near: top.map(|top| (top.body, top.sp - new.sp)),
            behind: behind.is_some(),
            within: self.begins_within(),
        };
        // Its caller may be open without having been seen to begin: that is no vote.
        let (votes, root) = self.evidence.judge(&start, instrumented);
        let goes_on = self.goes_on(context, new);
        if (near.is_none() || root)
            && let Some(stack) = self.continued(context, new, holder, instrumented)
            && !(starts && self.running.is_announced(stack))
        {
            self.evidence.note_further(new.caller);
            if goes_on != Some(true) && !self.evidence.tells_further(new.caller) {
                self.running.doubt(stack, Doubts::START);
            }
            return stack;
        }
        // Its caller was not seen to begin, but the program says that the same strand runs as
        // before.
        if instrumented
            && !starts
            && let Some(stack) =
                current.filter(|&stack| self.announced.runs(&self.running, context, stack))
        {
            return stack;
        }
        if !starts && (!root || self.announced.is_new(context)) {
            // An exception has left what is open below, and what it passes calls destructors.
            if let Some(stack) = current
                && self.running.stack(stack).owner.is_none()
                && self.running.stack(stack).is_unwound_to(new.sp)
            {
                let frames = &self.running.stack(stack).frames;
                let count = frames.partition_point(|frame| frame.sp > new.sp);
                self.running.calls.unwind(stack, count);
                return stack;
            }
            if let Some(stack) = near
                && self.is_called_on(stack, &start, votes, instrumented)
            {
                return stack;
            }
            if let Some((_, stack)) = behind
                && self.is_called_on(stack, &start, votes, instrumented)
            {
                self.evidence.note_guess();
                if votes.near > 0 && votes.far > 0 {
                    self.unresolved.ambiguous += 1;
                }
                return stack;
            }
        }
        let perhaps = goes_on.is_none() && !self.is_part() && self.may_go_on(context, new);
        let (known_there, same) = self.take_over(context, new, instrumented);
        // Its caller, or what it was called back from, is open, and was not seen to begin.
        let is_part = self.is_part();
        let called_back = !root && (near.is_some() || behind.is_some() || is_part);
        let begun_before = instrumented || (called_back && !starts);
        self.evidence.note_start(&start, known_there, begun_before);
        // A fiber may have gone on, on a thread of which events are missing, from another place.
        let is_only = self.evidence.first_call_sites().is_only(new.caller);
        let same = same || (is_part && self.running.threads() > 1 && !is_only);
        let mut doubts = match begun_before {
            true => Doubts::BEGUN_BEFORE,
            false if !same && goes_on == Some(false) => Doubts::NONE,
            false if perhaps => Doubts::START,
            false if !same && self.evidence.tells_start(&start, votes, is_part) => Doubts::NONE,
            false => Doubts::START,
        };
        if starts {
            doubts |= Doubts::ANNOUNCED;
        } else if is_part && self.announced.is_ever() {
            doubts |= Doubts::START;
        }
        if new.time < self.complete_from {
            doubts |= Doubts::GAP;
        }
        if self.evidence.is_shared(new.sp) {
            doubts |= Doubts::SHARED;
        }
        let maker = self.announced.maker(&self.running, context);
        let begun = (Addr(new.function), maker);
        self.running.new_stack(context, begun, doubts, new.time)
    }

    /// The stack of a call where the program made a stack: of the fiber that is there, or of a new
    /// one.
    fn on_made_stack(
        &mut self,
        context: usize,
        new: &Entered,
        made: &MadeStack,
        instrumented: bool,
    ) -> u32 {
        if let Some(fiber) = made.fiber(&self.running) {
            let way = match new.way {
                Way::Instrumented => 0,
                Way::Entry => Frame::ENTRY,
            };
            let count = self.enclosing(fiber.stack, new, way);
            self.running.calls.unwind(fiber.stack, count);
            if !instrumented {
                self.evidence
                    .note_on_made_stack((new.caller, new.function), false, count > 0);
            }
            return fiber.stack;
        }
        if let Some(before) = made.before(&self.running) {
            self.running.end_stack(before.stack, new.time);
        }
        self.take_over(context, new, instrumented);
        if !instrumented {
            self.evidence
                .note_on_made_stack((new.caller, new.function), true, false);
        }
        let mut doubts = match instrumented {
            true => Doubts::BEGUN_BEFORE,
            false => Doubts::NONE,
        };
        if new.time < self.complete_from {
            doubts |= Doubts::GAP;
        }
        if self.evidence.is_shared(new.sp) {
            doubts |= Doubts::SHARED;
        }
        let announced = self.announced.maker(&self.running, context);
        let maker = announced.or_else(|| self.made_stacks.maker_of(made));
        let begun = (Addr(new.function), maker);
        let stack = self.running.new_stack(context, begun, doubts, new.time);
        self.running.is_made(stack);
        let slot = self.running.stack(stack).slot;
        let id = self.running.id(slot);
        let fiber = Fiber { stack, slot, id };
        self.made_stacks.begins(new.sp, fiber);
        stack
    }

    /// The same, where that lies within a thread's `own` stack: an array of a function. What the
    /// function calls has lower frames than the array, so as long as it is open, the calls there
    /// are the fiber's. A function without hooks may have had the array, and have returned: then
    /// they are the thread's. So whatever looks like that is doubted.
    #[inline(never)]
    pub(super) fn on_made_array(
        &mut self,
        context: usize,
        own: u32,
        new: &Entered,
        way: u8,
    ) -> Option<u32> {
        let (made, mut array) = self.made_stacks.array_at(new.sp)?;
        let presence = self.running.map().presence(&array, new.sp);
        let fiber = made.fiber(&self.running);
        // A function that made a fiber on its own array begins that before it returns: so it is not
        // the one that has returned.
        let is_there = match presence {
            Presence::Known | Presence::Assumed => true,
            Presence::Open => !made.has_begun(),
            Presence::Gone => false,
        };
        if !is_there {
            if let Some(fiber) = fiber.filter(|_| presence == Presence::Open) {
                self.running.doubt(fiber.stack, Doubts::CALLBACK);
                self.running.doubt_strand(own, Doubts::CALLBACK);
            } else if !made.has_begun() {
                self.running.doubt_strand(own, Doubts::CALLBACK);
            }
            return None;
        }
        let is_known = presence == Presence::Known;
        if self.running.map().outlives_below(&array) {
            self.made_stacks.outlives_below(new.sp);
            array.below = None;
        }
        if let Some(fiber) = fiber {
            if array.below.is_none() {
                self.running.outlives_below(fiber.stack);
            }
            let count = self.enclosing(fiber.stack, new, way);
            let state = self.running.stack(fiber.stack);
            let is_further = count == 0 && state.first_site.get() != Some(new.caller);
            if !is_known || is_further || count < state.frames.len() {
                self.running.doubt(fiber.stack, Doubts::CALLBACK);
                self.running.doubt_strand(own, Doubts::CALLBACK);
            }
            self.running.calls.unwind(fiber.stack, count);
            return Some(fiber.stack);
        }
        if let Some(before) = made.before(&self.running) {
            self.running.end_stack(before.stack, new.time);
        }
        let announced = self.announced.maker(&self.running, context);
        let maker = announced.or_else(|| self.made_stacks.maker_of(&made));
        let call = (Addr(new.function), new.sp, maker);
        let stack = self.running.new_inner_stack(context, call, array, new.time);
        let slot = self.running.stack(stack).slot;
        let id = self.running.id(slot);
        self.made_stacks.begins(new.sp, Fiber { stack, slot, id });
        if !is_known {
            self.running.doubt(stack, Doubts::CALLBACK);
            self.running.doubt_strand(own, Doubts::CALLBACK);
        }
        Some(stack)
    }

    /// Whether the call is one on this stack, called from its innermost call. Where the recording
    /// does not have all calls, only one that lies close below: it may be that of a fiber on
    /// another stack, which has no call that was seen to begin.
    fn is_called_on(
        &mut self,
        stack: u32,
        start: &Start,
        votes: Votes,
        instrumented: bool,
    ) -> bool {
        let Some(top) = self.running.stack(stack).top() else {
            return true;
        };
        let (above, distance) = (top.body, top.sp.saturating_sub(start.sp));
        let is_part = self.is_part();
        if is_part
            && !self.announced.is_ever()
            && match instrumented {
                true => distance >= LITTLE,
                false => self.evidence.is_far_below(start, (above, distance)),
            }
        {
            return false;
        }
        let told = match instrumented {
            true => true,
            false if is_part => {
                self.evidence.calls_back_often(start, above)
                    && !self.evidence.is_further_than_others(start, distance)
            }
            false => self.evidence.tells_callback(start, votes, distance),
        };
        if !told {
            self.running.doubt(stack, Doubts::CALLBACK);
        }
        true
    }

    /// The stack on which the outermost call has just ended by a jump to the new call's function,
    /// `callee`, as far as its code tells: then this is the outermost call now. A fiber that begins
    /// there next would do so with the same stack pointer and call site.
    pub(super) fn jumped_on(&self, context: usize, new: &Entered, callee: u32) -> Option<u32> {
        let thread = self.running.thread(context);
        let (event, stack, function) = thread.emptied?;
        let state = self.running.stack(stack);
        let here = new.way == Way::Entry
            && event + 1 == thread.events
            && thread.current == Some(stack)
            && state.owner.is_none()
            && (state.base, state.root_site) == (new.sp, new.caller);
        (here && self.sites.may_jump(function, callee)).then_some(stack)
    }

    /// Whether the fiber whose outermost call has ended where the new one is goes on with that, by
    /// the code of the function that makes both, if one has. `None` where that does not tell.
    fn goes_on(&self, context: usize, new: &Entered) -> Option<bool> {
        self.goes_on_there(self.ended_at(context, new.sp)?, new)
    }

    /// The fiber whose outermost call has ended where this is.
    fn ended_at(&self, context: usize, sp: u64) -> Option<u32> {
        let is_there = |stack: &u32| {
            let state = self.running.stack(*stack);
            let ended = state.owner.is_none() && state.frames.is_empty();
            ended && state.base.abs_diff(sp) < BASE
        };
        let current = self.running.thread(context).current.filter(is_there);
        let resting = self.running.stacks().resting();
        current.or_else(|| resting.empty_near(sp, BASE).filter(is_there))
    }

    /// Whether the new call, which is taken for a fiber's first, may be the next of the one whose
    /// outermost call has ended there: to a function that was never seen to begin a fiber on a new
    /// stack, and from the same place. What that place calls, without a hook, may have several
    /// recorded functions inlined, or end by a jump to one; it may also have made the call before
    /// itself. Then that other is doubted, too.
    fn may_go_on(&mut self, context: usize, new: &Entered) -> bool {
        let Some(ended) = self.ended_at(context, new.sp) else {
            return false;
        };
        let before = self.running.stack(ended).root_site;
        let holder = self.sites.holder(before, new.time);
        let inlines = holder.is_some_and(|function| self.sites.calls_hooks(function));
        let perhaps =
            (before == new.caller || inlines) && !self.evidence.was_fresh(new.caller, new.function);
        if perhaps {
            self.running.doubt(ended, Doubts::START);
        }
        perhaps
    }

    /// The same, of the fiber on this stack.
    pub(super) fn goes_on_there(&self, stack: u32, new: &Entered) -> Option<bool> {
        // What is not recorded may be between the two.
        if self.is_part() {
            return None;
        }
        let state = self.running.stack(stack);
        let order = self.sites.order(state.root_site, new.caller, new.time)?;
        let goes_on = (order.begins != order.follows).then_some(order.follows)?;
        // One function makes all its calls near each other.
        (!goes_on || state.base.abs_diff(new.sp) < BASE).then_some(goes_on)
    }

    /// Whether the function that made the outermost call on this stack, which has ended, may have
    /// jumped to that of the new call at its own end. Others may begin from there.
    fn may_have_jumped(&self, stack: u32, new: &Entered) -> bool {
        let before = self.running.stack(stack).root_site;
        !self.is_part() && self.sites.may_jump_on(before, new.function, new.time)
    }

    /// The fiber whose outermost call has ended, and whose code calls once more: from the same
    /// function, or, by a tail call, from that function's caller; and not from where fibers make
    /// their first call. In the first look, when those places are not known, from a later place.
    /// Where the recording began within its calls, also a call by another of those,
    /// `instrumented`.
    fn continued(
        &mut self,
        context: usize,
        new: &Entered,
        holder: Option<u32>,
        instrumented: bool,
    ) -> Option<u32> {
        let first_call_sites = self.evidence.first_call_sites();
        let by_order = self.evidence.is_first_look() && self.begins_within();
        // What was asked of a stack that is there: nothing, and whether it told that it is likely.
        let asked = Cell::new([false; 2]);
        let fits = |stack: &u32| {
            let state = self.running.stack(*stack);
            if state.owner.is_some()
                || !state.frames.is_empty()
                || state.base.abs_diff(new.sp) >= BASE
            {
                return false;
            }
            let same = holder.is_some() && state.root == holder;
            let again = new.caller == state.root_site;
            if instrumented && state.begun_before && self.is_part() {
                return true;
            }
            match self.goes_on_there(*stack, new) {
                Some(goes_on) => return goes_on,
                None if self.may_have_jumped(*stack, new) => return true,
                None => {}
            }
            let likely = same || again || new.sp > state.base;
            let mut all = asked.get();
            all[usize::from(likely)] = true;
            asked.set(all);
            match by_order {
                true => same && new.caller > state.root_site,
                false => first_call_sites.may_be_further(new.caller, likely),
            }
        };
        let current = self.running.thread(context).current.filter(fits);
        let found = current
            .or_else(|| {
                self.running
                    .stacks()
                    .resting()
                    .empty_near(new.sp, BASE)
                    .filter(fits)
            })
            // Running as far as was heard: another thread may have it by now.
            .or_else(|| self.running.map().threads.running().find(fits));
        for likely in [false, true] {
            match asked.get()[usize::from(likely)] {
                true if by_order => self.evidence.note_guess(),
                true => self.evidence.note_asked_further(new.caller, likely),
                false => {}
            }
        }
        found
    }

    /// Whether `sp` is nearer to where the thread's latest event has ended the outermost call of
    /// the stack that it runs than to `top`, which is open on another. The code behind that end
    /// mostly goes on on its own stack; where the recording has all calls, it is known from where.
    fn is_nearer_to_emptied(&self, context: usize, sp: u64, top: u64) -> bool {
        let thread = self.running.thread(context);
        let emptied = thread.emptied.filter(|&(event, stack, _)| {
            event + 1 == thread.events && thread.current == Some(stack) && self.is_part()
        });
        emptied.is_some_and(|(_, stack, _)| {
            let state = self.running.stack(stack);
            state.owner.is_none() && state.base.abs_diff(sp) < BASE.min(top.abs_diff(sp))
        })
    }

    /// Ends what was where a new stack has its outermost call. Whether there was something, and
    /// whether that may be the same fiber.
    fn take_over(&mut self, context: usize, new: &Entered, instrumented: bool) -> (bool, bool) {
        let sp = new.sp;
        let (mut found, mut same) = (false, false);
        let current = self.running.thread(context).current;
        if let Some(stack) = current
            && self.running.stack(stack).owner.is_none()
            && self.running.stack(stack).frames.is_empty()
        {
            self.running.leave_current(context, new.time);
        }
        // What a thread ran when it was heard of last may be gone, too: destroyed by uninstrumented
        // code.
        for index in 0..self.running.threads() {
            if let Some(stack) = self.running.thread(index).current
                && self.running.stack(stack).owner.is_none()
                && (self.running.stack(stack).begins_near(sp) || self.is_in_frame(new, stack))
            {
                same |= self.doubt_end(stack, new, instrumented);
                self.running.discard_current(index, new.time);
                found = true;
            }
        }
        if let Some(empty) = self.running.stacks().resting().empty_near(sp, BASE) {
            same |= self.doubt_end(empty, new, instrumented);
            self.running.discard(empty);
            found = true;
        }
        // So may one that another thread ran when it was heard of last.
        let elsewhere = self.running.map().threads.running().find(|&stack| {
            let state = self.running.stack(stack);
            state.owner.is_none() && state.frames.is_empty() && state.base.abs_diff(sp) < BASE
        });
        if let Some(elsewhere) = elsewhere {
            same |= self.doubt_end(elsewhere, new, instrumented);
            found = true;
        }
        let above = self.running.stacks().above(sp).map(|(_, stack)| stack);
        let above = above.filter(|&stack| self.is_in_frame(new, stack));
        let below = self.running.stacks().below(sp).map(|(_, stack)| stack);
        for stack in [above, below].into_iter().flatten() {
            let state = self.running.stack(stack);
            let base = state.frames.first().map_or(0, |frame| frame.sp);
            if state.owner.is_none() && base + BASE > sp {
                same |= self.doubt_end(stack, new, instrumented);
                self.running.discard(stack);
                found = true;
            }
        }
        (found, same)
    }

    /// Whether the innermost call on this stack is gone, because the new call is where that has its
    /// frame.
    pub(super) fn is_in_frame(&self, new: &Entered, stack: u32) -> bool {
        let top = self.running.stack(stack).top();
        top.is_some_and(|top| top.sp == new.sp || self.sites.is_in_frame(new, top.sp))
    }

    /// Doubts what is on this stack, if it is not sure that the new call there is another fiber's.
    /// Whether that is so. Its caller is `instrumented` and was not seen to begin: then no fiber
    /// has begun there. Where the recording lacks calls, nothing tells where fibers make their
    /// first calls from, if they make others.
    fn doubt_end(&mut self, stack: u32, new: &Entered, instrumented: bool) -> bool {
        let state = self.running.stack(stack);
        let ended = state.frames.is_empty();
        let entry = self.running.strand(state.slot).entry();
        let other = state
            .first_site
            .get()
            .is_some_and(|site| site != new.caller)
            || entry.is_some_and(|(function, _)| function.0 != new.function);
        let may_go_on = other && !self.evidence.first_call_sites().is_only(new.caller);
        match instrumented {
            true => self.doubt_beginning(stack),
            false if self.is_part() && ended && may_go_on => {
                self.running.doubt(stack, Doubts::START);
            }
            false => return false,
        }
        true
    }

    /// The first call on this stack that was recorded is not its outermost one.
    pub(super) fn doubt_beginning(&mut self, stack: u32) {
        if let Some(site) = self.running.stack(stack).first_site.get() {
            self.evidence.note_mistaken(site);
        }
        self.running.doubt(stack, Doubts::BEGUN_BEFORE);
    }
}

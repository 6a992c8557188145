//! Stacks that are used again: whether the fiber whose outermost call has ended there goes on, or
//! another begins, and what is gone then.

use super::Decoder;
use crate::Doubts;
use crate::entered::Entered;
use crate::running::Running;
use crate::sink::Sink;
use crate::stacks::BASE;
use std::cell::Cell;

impl<S: Sink> Decoder<'_, S> {
    /// Whether the fiber whose outermost call has ended where the new one is goes on with that, by
    /// the code of the function that makes both, if one has. `None` where that does not tell.
    pub(super) fn goes_on(&self, context: usize, new: &Entered) -> Option<bool> {
        self.goes_on_there(self.ended_at(context, new.sp)?, new)
    }

    /// The fiber whose outermost call has ended where this is.
    fn ended_at(&self, context: usize, sp: u64) -> Option<u32> {
        let is_there = |stack: &u32| self.has_ended_at(*stack, sp);
        let current = self.running.thread(context).current.filter(is_there);
        let resting = self.running.stacks().resting();
        current.or_else(|| resting.empty_near(sp, BASE).filter(is_there))
    }

    /// Whether the outermost call of the fiber on `stack` has ended where this is.
    pub(super) fn has_ended_at(&self, stack: u32, sp: u64) -> bool {
        let state = self.running.stack(stack);
        let ended = state.owner.is_none() && state.frames.is_empty();
        ended && state.base.abs_diff(sp) < BASE
    }

    /// Whether the new call, which is taken for a fiber's first and which `holder` makes, may be
    /// the next of the fiber whose outermost call has ended there, where the code does not tell.
    /// Then that one is doubted, too.
    ///
    /// It may if `holder` has made that call, too, from another place; though fibers have begun
    /// with such a call on new stacks. From the same place, it may if none has: a function without
    /// a hook that is called there may have several recorded ones inlined, or end by a jump to one.
    pub(super) fn may_go_on(&mut self, context: usize, new: &Entered, holder: Option<u32>) -> bool {
        let Some(ended) = self.ended_at(context, new.sp) else {
            return false;
        };
        let state = self.running.stack(ended);
        let (before, root) = (state.root_site, state.root.get());
        let from_same = before == new.caller;
        let by_same = root.is_some() && root == holder;
        let mut inlines = || {
            let before = self.sites.holder(before, new.time);
            before.is_some_and(|function| self.sites.calls_hooks(function))
        };
        let perhaps = (by_same && !from_same && self.evidence.others_begin(new.caller))
            || ((from_same || inlines()) && !self.evidence.was_fresh(new.caller, new.function));
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

    /// Whether the function that made the first outermost call on this stack may make the new one,
    /// too: `holder` is that; or it jumps there at its end; or others with hooks were inlined into
    /// it, so that its code is not read.
    pub(super) fn is_by_its_code(&self, stack: u32, new: &Entered, holder: Option<u32>) -> bool {
        let root = self.running.stack(stack).root.get();
        root.is_some_and(|root| holder == Some(root) || self.sites.calls_hooks(root))
            || self.may_have_jumped(stack, new)
    }

    /// The fiber whose outermost call has ended, and whose code calls once more: from the same
    /// function, or, by a tail call, from that function's caller; and not from where fibers make
    /// their first call. In the first look, when those places are not known, from a later place.
    /// Where the recording began within its calls, also a call by another of those,
    /// `instrumented`.
    pub(super) fn continued(
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
            let same = holder.is_some() && state.root.get() == holder;
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

    /// Ends what was where a new stack has its outermost call. Whether there was something, and
    /// whether that may be the same fiber.
    pub(super) fn take_over(
        &mut self,
        context: usize,
        new: &Entered,
        instrumented: bool,
    ) -> (bool, bool) {
        let sp = new.sp;
        let (mut found, mut same) = (false, false);
        let current = self.running.thread(context).current;
        if let Some(stack) = current
            && self.running.stack(stack).owner.is_none()
            && self.running.stack(stack).frames.is_empty()
        {
            self.running.leave_current(context, new.time);
        }
        // Uninstrumented code may have destroyed the fiber that a thread ran when it was heard of
        // last. A fiber that begins close below the new call lies on the new stack: so it is gone.
        let begins_below = |running: &Running<'_, S>, stack: u32| {
            let first = running.stack(stack).frames.first();
            first.is_some_and(|first| (first.sp..first.sp + BASE).contains(&sp))
        };
        for index in 0..self.running.threads() {
            if let Some(stack) = self.running.thread(index).current
                && self.running.stack(stack).owner.is_none()
                && (self.running.stack(stack).begins_near(sp)
                    || begins_below(&self.running, stack)
                    || self.is_in_frame(new, stack))
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
        let nearest = self.running.stacks().around(sp);
        let [below, above] = nearest.map(|entry| entry.map(|(_, stack)| stack));
        let above = above.filter(|&stack| self.is_in_frame(new, stack));
        let begins_near = |running: &Running<'_, S>, stack: &u32| {
            let state = running.stack(*stack);
            let base = state.frames.first().map_or(0, |frame| frame.sp);
            state.owner.is_none() && base + BASE > sp
        };
        // Fibers that were left one after another, each where it had come to, lie below each other.
        let above = above.filter(|stack| begins_near(&self.running, stack));
        let mut next = above.or(below);
        while let Some(stack) = next.filter(|stack| begins_near(&self.running, stack)) {
            same |= self.doubt_end(stack, new, instrumented);
            self.running.discard(stack);
            found = true;
            next = self.running.stacks().below(sp).map(|(_, below)| below);
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
}

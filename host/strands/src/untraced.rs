//! Calls by code that is not traced, outside the threads' own stacks: callbacks, and the outermost calls of fibers.

use crate::decoder::{Decoder, Entered};
use crate::enter::REACH;
use crate::sink::Sink;
use crate::survey::Votes;
use heddle_trace_file::Addr;

/// Bytes by which the first stack pointers of two outermost calls on one stack may differ: their frames' sizes.
pub(crate) const BASE: u64 = 2048;

impl<S: Sink> Decoder<'_, S> {
    /// The stack of a call by code that is not traced, outside the stacks of threads.
    pub fn elsewhere(
        &mut self,
        context: usize,
        new: &Entered,
        holder: Option<u32>,
        traced: bool,
    ) -> u32 {
        self.survey.begun = true;
        let announced = self.contexts[context].announced;
        let starts = self.starts_as_announced(context);
        if !starts && let Some(stack) = self.announced_stack(context) {
            let frames = &self.stacks[stack as usize].frames;
            let count = frames.partition_point(|frame| frame.sp > new.sp);
            self.unwind(stack, count);
            return stack;
        }
        if !starts
            && !traced
            && let Some(stack) = self.announced_empty(context, new.sp)
        {
            return stack;
        }
        let current = self.contexts[context].current;
        let near = current.filter(|&stack| {
            self.on_this_stack(context, stack, new.sp)
                && self.stacks[stack as usize]
                    .top()
                    .is_some_and(|top| top.sp - new.sp < REACH)
        });
        let known = self.known.and_then(|known| known.sites.get(&new.caller));
        // Where a thread may have come back to, in code that is not traced.
        let behind = self.next_above(context, new.sp).filter(|&(top, stack)| {
            top - new.sp < REACH && self.stacks[stack as usize].owner.is_none()
        });
        let votes = match known {
            Some(&known) => known,
            None => self.vote(new, near, behind.is_some(), traced),
        };
        // A recording that begins within calls has some far ones of callbacks at first: they must not make all the others so.
        let root = match self.known {
            None if near.is_some() && self.begins_within() => votes.is_clearly_root(),
            None if votes.are_few() && self.survey.firsts.holds(new.caller) => true,
            _ => votes.is_root(),
        };
        if (near.is_none() || root)
            && let Some(stack) = self.continued(context, new, holder)
        {
            if self.known.is_none() {
                self.survey.firsts.note_further(new.caller);
            }
            return stack;
        }
        // Its caller was not seen to begin, but the program says that the same strand runs as before.
        if traced
            && !starts
            && let Some(stack) = current.filter(|&stack| self.runs_as_announced(context, stack))
        {
            return stack;
        }
        if !starts && (!root || announced.is_some()) {
            // An exception has left what is open below, and what it passes calls destructors.
            if let Some(stack) = current
                && self.stacks[stack as usize].owner.is_none()
                && self.stacks[stack as usize].is_unwound_to(new.sp)
            {
                let frames = &self.stacks[stack as usize].frames;
                let count = frames.partition_point(|frame| frame.sp > new.sp);
                self.unwind(stack, count);
                return stack;
            }
            if let Some(stack) = near {
                return stack;
            }
            if let Some((_, stack)) = behind {
                if votes.near > 0 && votes.far > 0 {
                    self.unresolved.ambiguous += 1;
                }
                return stack;
            }
        }
        let known_there = self.take_over(context, new);
        // What is not known there may have been lost: by calls that were taken for callbacks as long as little was known of their site.
        let unused = self.known.is_none() && self.places.is_new(new.sp);
        if self.known.is_none() && near.is_none() {
            self.places.begins(new.caller, new.sp);
        }
        // A traced caller that is not open was not seen to begin: that says nothing of fibers.
        if self.known.is_none() && !traced {
            match unused && !known_there {
                true => self.survey.firsts.note(new.caller),
                false => self.survey.firsts.note_either(new.caller),
            }
        }
        let stack = self.new_stack(context, Addr(new.function), new.time);
        self.stacks[stack as usize].begun_before = traced;
        stack
    }

    /// Whether calls were open when the recording began, as far as has been seen.
    pub fn begins_within(&self) -> bool {
        self.unresolved.exits + self.unresolved.enters > 0
    }

    /// Counts how a call from this site began.
    fn vote(&mut self, new: &Entered, near: Option<u32>, behind: bool, traced: bool) -> Votes {
        let top = near.and_then(|stack| self.stacks[stack as usize].top());
        let usual = top.is_some_and(|top| {
            let (body, distance) = (top.body, top.sp - new.sp);
            self.survey
                .is_usual(new.caller, new.function, body, distance)
        });
        if traced {
            return Votes::default(); // its caller is open, but was not seen to begin
        }
        // Stacks that lie beside each other are a usual distance apart, too.
        let again = !self.begins_within() && self.places.has_begun(new.caller, new.sp);
        let votes = self.survey.sites.entry(new.caller).or_default();
        votes.near += u64::from(usual && !again);
        votes.far += u64::from((near.is_none() && !behind) || again);
        *votes
    }

    /// The stack whose innermost call is next above `sp`, of those that rest, and of those that other threads run as far as was heard: they may have left them meanwhile.
    pub fn next_above(&self, context: usize, sp: u64) -> Option<(u64, u32)> {
        let current = self.contexts[context].current;
        let left = self.contexts.iter().filter_map(|other| {
            let stack = other.current.filter(|&stack| Some(stack) != current)?;
            let top = self.stacks[stack as usize].top()?.sp;
            (top >= sp).then_some((top, stack))
        });
        self.above(sp).into_iter().chain(left).min()
    }

    /// The fiber whose outermost call has ended, and whose code calls once more: from the same function, or, by a tail call, from that function's caller; and not from
    /// where fibers make their first call. In the first look, when those places are not known, from a later place.
    fn continued(&self, context: usize, new: &Entered, holder: Option<u32>) -> Option<u32> {
        let firsts = self
            .known
            .map_or(&self.survey.firsts, |known| &known.firsts);
        let fits = |stack: &u32| {
            let of = &self.stacks[*stack as usize];
            if of.owner.is_some() || !of.frames.is_empty() || of.base.abs_diff(new.sp) >= BASE {
                return false;
            }
            let same = holder.is_some() && of.root == holder;
            let again = new.caller == of.root_site;
            match self.known {
                None if self.begins_within() => same && new.caller > of.root_site,
                _ => {
                    (same || again || new.sp > of.base || firsts.never_holds(new.caller))
                        && !firsts.holds(new.caller)
                }
            }
        };
        let current = self.contexts[context].current.filter(fits);
        current
            .or_else(|| self.resting.empty_near(new.sp, BASE).filter(fits))
            // Running as far as was heard: another thread may have it by now.
            .or_else(|| self.contexts.iter().filter_map(|of| of.current).find(fits))
    }

    /// Ends what was where a new stack has its outermost call. Whether there was something.
    fn take_over(&mut self, context: usize, new: &Entered) -> bool {
        let sp = new.sp;
        let mut found = false;
        let current = self.contexts[context].current;
        if let Some(stack) = current
            && self.stacks[stack as usize].owner.is_none()
            && self.stacks[stack as usize].frames.is_empty()
        {
            self.rest(stack, new.time);
            self.contexts[context].current = None;
        }
        // What a thread ran when it was heard of last may be gone, too: destroyed where nothing is traced.
        for index in 0..self.contexts.len() {
            if let Some(stack) = self.contexts[index].current
                && self.stacks[stack as usize].owner.is_none()
                && self.stacks[stack as usize].begins_near(sp)
            {
                self.rest(stack, new.time);
                self.contexts[index].current = None;
                self.discard(stack);
                found = true;
            }
        }
        if let Some(empty) = self.resting.empty_near(sp, BASE) {
            self.discard(empty);
            found = true;
        }
        // So may one that another thread ran when it was heard of last.
        found |= self.contexts.iter().any(|other| {
            other.current.is_some_and(|stack| {
                let of = &self.stacks[stack as usize];
                of.owner.is_none() && of.frames.is_empty() && of.base.abs_diff(sp) < BASE
            })
        });
        let at = self.resting_at(sp);
        let below = self.below(sp).map(|(_, stack)| stack);
        for stack in [at, below].into_iter().flatten() {
            let of = &self.stacks[stack as usize];
            let base = of.frames.first().map_or(0, |frame| frame.sp);
            if of.owner.is_none() && base + BASE > sp {
                self.discard(stack);
                found = true;
            }
        }
        found
    }
}

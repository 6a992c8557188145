//! Where an enter belongs.
//!
//! The stack grows downwards, so the caller's frame is the nearest open one above the new call's stack pointer, whatever stack that is on:
//!
//! 1. *inlined* (`-finstrument-functions` only): the innermost call has the same stack pointer and call site: it is the container. But the outermost call of a stack that
//!    rested does not contain itself: it was never left, and its function is entered anew on a stack that is used again;
//! 2. *called by a traced function*: the nearest open call above, on any stack, of the function that the call site is in; what is open below that on its stack is gone.
//!    Where a call made from that very site is open there, it is the container, in a frame that has grown (`alloca`), or whose calls a `longjmp` has left;
//! 3. *called by the kernel* (a signal's handler): on top of whatever the thread runs, wherever its stack is;
//! 4. *called by code that is not traced*: on a thread's own stack, on top of what encloses it there. Elsewhere it is a callback, or the outermost call of a new fiber:
//!    the call site tells, by how most calls from it began in the whole trace ([`crate::survey`]).
//!
//! "The caller's function is that of the innermost call" is no test by itself: two fibers may run the same function. The distance between the two is ([`crate::sites`]).

use crate::decoder::{Decoder, Entered, NotAlone};
use crate::sink::Sink;
use crate::sites::Site;
use crate::stacks::Frame;
use crate::survey::Votes;
use heddle_trace_file::{Addr, Way};

/// Bytes between a callback and the call around it: a fiber's stack is seldom deeper, and code that is not traced seldom takes more.
const REACH: u64 = 64 << 10;

/// Bytes by which the first stack pointers of two outermost calls on one stack may differ: their frames' sizes.
const BASE: u64 = 2048;

/// Stacks that are looked at in search of a caller.
const STACKS: usize = 256;

impl<S: Sink> Decoder<'_, S> {
    /// Takes an enter.
    #[inline]
    pub fn enter(&mut self, context: usize, new: &Entered) -> Result<(), NotAlone> {
        if self.alone && new.frame.is_some() {
            return Err(NotAlone);
        }
        let way = match new.way {
            Way::Instrumented => 0,
            Way::Entry => Frame::ENTRY,
        };
        let current = self.contexts[context].current;
        let top = current.and_then(|stack| self.stacks[stack as usize].frames.last());
        let inlined = top.is_some_and(|top| top.sp == new.sp);
        if let Some(&site) = self.sites.of(new.caller, new.function, inlined) {
            if let Some(stack) = current
                && top.is_some_and(|top| self.is_called_from(top, stack, &site, context, new))
            {
                self.push_known(context, stack, new, &site, way);
                return Ok(());
            }
            // The thread has gone to another stack meanwhile, and that is where it rested.
            if let Some(stack) = self.resting_at(new.sp.wrapping_add(site.above))
                && let Some(top) = self.stacks[stack as usize].frames.last()
                && self.is_called_from(top, stack, &site, context, new)
            {
                self.run(context, stack, new.time);
                self.push_known(context, stack, new, &site, way);
                return Ok(());
            }
        }
        self.enter_slowly(context, new, way)
    }

    /// Whether a call from this site can be made by `top`: at the distance that it had before.
    #[inline]
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

    #[inline]
    fn push_known(&mut self, context: usize, stack: u32, new: &Entered, site: &Site, way: u8) {
        let (body, flags) = match site.above {
            0 => (site.caller, Frame::INLINED),
            _ => (site.callee, way),
        };
        self.push(context, stack, new, body, flags);
    }

    /// Whether `top`, the innermost call of `stack`, has the new call inlined into it.
    #[inline]
    fn is_inlined_into(&self, top: &Frame, stack: u32, context: usize, new: &Entered) -> bool {
        if top.sp != new.sp || top.caller != new.caller || top.is(Frame::ENTRY) {
            return false;
        }
        // The same function at the same place may be another call of it: behind a gap, or on a stack that is used again.
        top.function != new.function
            || (top.gaps == self.contexts[context].gaps && !self.is_entered_anew(stack, context))
    }

    /// Whether the outermost call of a stack may be one that was never left: the stack is a fiber's, and has rested with nothing else open.
    fn is_entered_anew(&self, stack: u32, context: usize) -> bool {
        let of = &self.stacks[stack as usize];
        of.owner.is_none() && of.frames.len() == 1 && self.contexts[context].current != Some(stack)
    }

    /// The call among those in `stack` above `index` that contains a new one with its own call site, though it is not where that is.
    fn grown(&self, stack: u32, index: usize, context: usize, new: &Entered) -> Option<usize> {
        let frames = &self.stacks[stack as usize].frames;
        let contains = |frame: &Frame| {
            frame.caller == new.caller
                && (frame.sp > new.sp || (frame.sp == new.sp && frame.function != new.function))
                && frame.gaps == self.contexts[context].gaps
                && !frame.is(Frame::ENTRY)
        };
        let above = frames[index + 1..].iter().rposition(contains)?;
        Some(index + 1 + above)
    }

    #[inline(never)]
    fn enter_slowly(&mut self, context: usize, new: &Entered, way: u8) -> Result<(), NotAlone> {
        self.settle(context, new.sp);
        let (code, modules) = (self.code, self.modules);
        let callee = self.sites.callee(code, modules, new.function, new.time);
        if self.known.is_none() {
            self.survey.entered.insert(callee);
        }
        if way == 0
            && let Some(stack) = self.container(context, new)
        {
            let body = self.stacks[stack as usize]
                .top()
                .map_or(callee, |top| top.body);
            self.sites.note(Site {
                site: new.caller,
                function: new.function,
                above: 0,
                caller: body,
                callee,
            });
            self.run(context, stack, new.time);
            self.push(context, stack, new, body, Frame::INLINED);
            return Ok(());
        }
        let holder = self.sites.holder(code, modules, new.caller, new.time);
        let traced = holder.filter(|&function| {
            self.sites.was_entered(function)
                || self
                    .known
                    .is_some_and(|known| known.entered.contains(&function))
        });
        if let Some(function) = traced {
            if let Some((stack, index)) = self.caller(context, new, function, callee) {
                if way == 0
                    && let Some(container) = self.grown(stack, index, context, new)
                {
                    let body = self.stacks[stack as usize].frames[container].body;
                    self.unwind(stack, container + 1);
                    self.run(context, stack, new.time);
                    self.push(context, stack, new, body, Frame::INLINED);
                    return Ok(());
                }
                self.unwind(stack, index + 1);
                self.run(context, stack, new.time);
                let above = self.stacks[stack as usize].frames[index].sp - new.sp;
                self.sites.is_usual(callee, above);
                self.sites.note(Site {
                    site: new.caller,
                    function: new.function,
                    above,
                    caller: function,
                    callee,
                });
                self.push(context, stack, new, callee, way);
                return Ok(());
            }
        }
        if self.code.is_signal_return(Addr(new.caller)) {
            let stack = self.contexts[context]
                .current
                .unwrap_or(self.contexts[context].own);
            self.run(context, stack, new.time);
            self.push(context, stack, new, callee, way | Frame::HANDLER);
            return Ok(());
        }
        let stack = match self.home(context, new.sp) {
            Some(own) => {
                let count = self.enclosing(own, new, way);
                self.unwind(own, count);
                own
            }
            None if self.alone => return Err(NotAlone),
            None => self.elsewhere(context, new, holder, traced.is_some()),
        };
        let mut flags = way;
        if let Some(top) = self.stacks[stack as usize].top() {
            self.unresolved.enters += u64::from(traced.is_some());
            // Code that is not traced takes the same room each time, too. As long as it is not known what a site does, every call from it counts.
            let known = self
                .known
                .is_some_and(|known| known.sites.contains_key(&new.caller));
            let votes = !known && self.stacks[stack as usize].owner.is_none();
            if votes && traced.is_none() {
                flags |= Frame::CALLBACK;
            }
            if traced.is_none() && !votes && top.sp > new.sp && top.sp - new.sp < REACH {
                self.sites.note(Site {
                    site: new.caller,
                    function: new.function,
                    above: top.sp - new.sp,
                    caller: top.body,
                    callee,
                });
            }
        }
        self.run(context, stack, new.time);
        let of = &mut self.stacks[stack as usize];
        if of.frames.is_empty() {
            of.base = new.sp;
            // Of the first: what follows may be in another function, by inlining or a tail call.
            of.root = of.root.or(holder);
            of.root_site = new.caller;
        }
        self.push(context, stack, new, callee, flags);
        Ok(())
    }

    /// The stack whose innermost call the new one was inlined into.
    fn container(&self, context: usize, new: &Entered) -> Option<u32> {
        let contains = |stack: u32| {
            let top = self.stacks[stack as usize].top()?;
            self.is_inlined_into(top, stack, context, new)
                .then_some(stack)
        };
        let current = self.contexts[context].current.and_then(contains);
        let resting = || self.resting_at(new.sp).and_then(contains);
        // Or another thread ran it when it was heard of last.
        let elsewhere = || {
            let mut others = self.contexts.iter().filter_map(|other| other.current);
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
        // As far above as it was before, rather than nearest: what longjmp left behind may still be taken for open.
        let noted = self.sites.of(new.caller, new.function, false);
        let noted = noted.map(|site| site.above).or_else(|| {
            let usual = self.sites.usual(callee);
            usual.filter(|_| new.way == Way::Instrumented)
        });
        let noted = noted.map(|above| sp.wrapping_add(above));
        let nearest = |stack: u32| {
            let frames = &self.stacks[stack as usize].frames;
            let above = |frame: &Frame| frame.body == function && frame.sp > sp;
            let exact = frames
                .iter()
                .rposition(|frame| above(frame) && Some(frame.sp) == noted);
            let index = exact.or_else(|| frames.iter().rposition(above))?;
            Some((stack, index))
        };
        let current = self.contexts[context].current;
        if self.alone {
            return current.and_then(nearest);
        }
        if let Some(own) = self.home(context, sp) {
            let elsewhere = current.filter(|&stack| stack != own);
            let handled = elsewhere.and_then(nearest);
            return handled
                .filter(|&found| self.in_handler(found, sp))
                .or_else(|| nearest(own));
        }
        let distance =
            |&(stack, index): &(u32, usize)| self.stacks[stack as usize].frames[index].sp - sp;
        // A handler's frames are on a stack of their own, far from those that they are on top of.
        let mut best = current
            .and_then(nearest)
            .filter(|found| self.on_this_stack(context, found.0, sp) || distance(found) < REACH);
        let mut try_one = |stack: u32| {
            if let Some(found) = nearest(stack)
                && best
                    .as_ref()
                    .is_none_or(|best| distance(&found) < distance(best))
            {
                best = Some(found);
            }
        };
        for other in &self.contexts {
            // Running as far as was heard: another thread may have it by now.
            if let Some(stack) = other.current
                && Some(stack) != current
                && self.stacks[stack as usize].owner.is_none()
            {
                try_one(stack);
            }
        }
        if let Some((_, stack)) = self.below(sp) {
            try_one(stack);
        }
        for (_, stack) in self.resting.above(sp).take(STACKS) {
            if self.stacks[stack as usize].running {
                continue;
            }
            try_one(stack);
            // All others are further away.
            if self.stacks[stack as usize].owner.is_none() {
                break;
            }
        }
        best.filter(|found| distance(found) < (8 << 20))
    }

    /// Whether the call is one of a signal's handler, and `sp` on the handler's stack, which may lie within the thread's own.
    fn in_handler(&self, (stack, index): (u32, usize), sp: u64) -> bool {
        let frames = &self.stacks[stack as usize].frames[..=index];
        let handler = frames.iter().rfind(|frame| frame.is(Frame::HANDLER));
        handler.is_some_and(|handler| handler.sp.abs_diff(sp) < REACH)
    }

    /// Whether `sp` is right below what is open on this stack, with nothing between.
    fn on_this_stack(&self, context: usize, stack: u32, sp: u64) -> bool {
        let of = &self.stacks[stack as usize];
        let Some(top) = of.top() else { return false };
        let above = self.next_above(context, sp);
        let between = above.is_some_and(|(other, _)| other < top.sp);
        sp < top.sp && !between
    }

    /// The thread's own stack that holds `sp`: this thread's if it is one of several that had theirs there.
    pub fn home(&self, context: usize, sp: u64) -> Option<u32> {
        let mut latest = None;
        for owner in self.homes.at(sp) {
            if owner == context {
                return Some(self.contexts[owner].own);
            }
            // Of stacks that were used again, the one that has calls.
            let own = self.contexts[owner].own;
            if latest.is_none() || self.stacks[own as usize].top().is_some() {
                latest = Some(own);
            }
        }
        latest
    }

    /// How many calls of a thread's own stack are open around `sp`.
    fn enclosing(&self, stack: u32, new: &Entered, way: u8) -> usize {
        let frames = &self.stacks[stack as usize].frames;
        let around = |frame: &&Frame| {
            frame.sp > new.sp
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

    /// The stack of a call by code that is not traced, outside the stacks of threads.
    fn elsewhere(
        &mut self,
        context: usize,
        new: &Entered,
        holder: Option<u32>,
        traced: bool,
    ) -> u32 {
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
        let begins_within = self.unresolved.exits + self.unresolved.enters > 0;
        let root = match self.known {
            None if near.is_some() && begins_within => votes.is_clearly_root(),
            _ => votes.is_root(),
        };
        if (near.is_none() || root)
            && let Some(stack) = self.continued(context, new, holder)
        {
            return stack;
        }
        let announced = self.contexts[context].announced;
        let starts = announced.is_some_and(|strand| !self.announced.is_known(strand));
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
        if !self.take_over(context, new) && self.known.is_none() {
            self.survey.firsts.note(new.caller, holder);
        }
        self.new_stack(context, new.time)
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
        let votes = self.survey.sites.entry(new.caller).or_default();
        votes.near += u64::from(usual);
        votes.far += u64::from(near.is_none() && !behind);
        *votes
    }

    /// The stack whose innermost call is next above `sp`, of those that rest, and of those that other threads run as far as was heard: they may have left them meanwhile.
    fn next_above(&self, context: usize, sp: u64) -> Option<(u64, u32)> {
        let current = self.contexts[context].current;
        let left = self.contexts.iter().filter_map(|other| {
            let stack = other.current.filter(|&stack| Some(stack) != current)?;
            let top = self.stacks[stack as usize].top()?.sp;
            (top >= sp).then_some((top, stack))
        });
        self.above(sp).into_iter().chain(left).min()
    }

    /// A thread whose stack's bounds were not recorded has it around its first call.
    fn settle(&mut self, context: usize, sp: u64) {
        const BELOW: u64 = 8 << 20;
        const ABOVE: u64 = 64 << 10;
        if !self.contexts[context].settled {
            self.contexts[context].settled = true;
            self.homes
                .add(sp.saturating_sub(BELOW)..sp.saturating_add(ABOVE), context);
        }
    }

    /// The fiber whose outermost call has ended, and whose code calls once more: from the same function, or, by a tail call, from that function's caller; and not from
    /// where fibers make their first call. In the first look, when those places are not known, from a later place.
    fn continued(&self, context: usize, new: &Entered, holder: Option<u32>) -> Option<u32> {
        let fits = |stack: &u32| {
            let of = &self.stacks[*stack as usize];
            if of.owner.is_some() || !of.frames.is_empty() || of.base.abs_diff(new.sp) >= BASE {
                return false;
            }
            let same = holder.is_some() && of.root == holder;
            match self.known {
                Some(known) => {
                    let again = new.caller == of.root_site;
                    (same || again || new.sp > of.base) && !known.firsts.holds(new.caller, holder)
                }
                None => same && new.caller > of.root_site,
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

//! Where an enter belongs.
//!
//! The stack grows downwards, so the caller's frame is the nearest open one above the new call's stack pointer, whatever stack that is on:
//!
//! 1. *inlined* (`-finstrument-functions` only): the innermost call has the same stack pointer and call site: it is the container;
//! 2. *called by a traced function*: the nearest open call above, on any stack, of the function that the call site is in; what is open below that on its stack is gone;
//! 3. *called by the kernel* (a signal's handler): on top of whatever the thread runs, wherever its stack is;
//! 4. *called by code that is not traced*: on a thread's own stack, on top of what encloses it there. Elsewhere it is a callback, or the outermost call of a new fiber:
//!    the call site tells, by how most calls from it began in the whole trace ([`crate::survey`]).
//!
//! "The caller's function is that of the innermost call" is no test by itself: two fibers may run the same function. The distance between the two is ([`crate::sites`]).

use crate::decoder::{Decoder, Entered, NotAlone};
use crate::sink::Sink;
use crate::sites::Site;
use crate::stacks::Frame;
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
        if let Some(stack) = self.contexts[context].current
            && let Some(top) = self.stacks[stack as usize].frames.last()
            && let Some(site) = self.sites.of(new.caller, new.function)
            && site.caller == top.body
            && top.sp.wrapping_sub(new.sp) == site.above
        {
            let callee = site.callee;
            self.push(context, stack, new, callee, way);
            return Ok(());
        }
        self.enter_slowly(context, new, way)
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
            if let Some((stack, index)) = self.caller(context, new, function) {
                self.unwind(stack, index + 1);
                self.run(context, stack, new.time);
                let above = self.stacks[stack as usize].frames[index].sp - new.sp;
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
            None => self.elsewhere(context, new, holder),
        };
        if traced.is_some() && !self.stacks[stack as usize].frames.is_empty() {
            self.unresolved.enters += 1;
        }
        self.run(context, stack, new.time);
        let of = &mut self.stacks[stack as usize];
        if of.frames.is_empty() {
            of.base = new.sp;
            of.root = holder;
            of.root_site = new.caller;
        }
        self.push(context, stack, new, callee, way);
        Ok(())
    }

    /// The stack whose innermost call the new one was inlined into.
    fn container(&self, context: usize, new: &Entered) -> Option<u32> {
        let gaps = self.contexts[context].gaps;
        let contains = |stack: u32| {
            let top = self.stacks[stack as usize].top()?;
            // Behind a gap the same function at the same place is another call of it.
            let again = top.gaps != gaps && top.function == new.function;
            (top.sp == new.sp && top.caller == new.caller && !top.is(Frame::ENTRY) && !again)
                .then_some(stack)
        };
        let current = self.contexts[context].current.and_then(contains);
        current.or_else(|| {
            let (top, stack) = self.resting.above(new.sp)?;
            (top == new.sp).then(|| contains(stack)).flatten()
        })
    }

    /// The nearest open call of `function` above the new one's stack pointer, and its stack.
    fn caller(&self, context: usize, new: &Entered, function: u32) -> Option<(u32, usize)> {
        let sp = new.sp;
        let nearest = |stack: u32| {
            let frames = &self.stacks[stack as usize].frames;
            let index = frames
                .iter()
                .rposition(|frame| frame.body == function && frame.sp > sp)?;
            Some((stack, index))
        };
        let current = self.contexts[context].current;
        if self.alone {
            return current.and_then(nearest);
        }
        if let Some(own) = self.home(context, sp) {
            return nearest(own);
        }
        let distance =
            |&(stack, index): &(u32, usize)| self.stacks[stack as usize].frames[index].sp - sp;
        // A handler's frames are on a stack of their own, far from those that they are on top of.
        let mut best = current
            .and_then(nearest)
            .filter(|found| self.on_this_stack(found.0, sp) || distance(found) < REACH);
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
        if let Some((_, stack)) = self.resting.below(sp) {
            try_one(stack);
        }
        for (_, &stack) in self.resting.open.range(sp..).take(STACKS) {
            try_one(stack);
            // All others are further away.
            if self.stacks[stack as usize].owner.is_none() {
                break;
            }
        }
        best.filter(|found| distance(found) < (8 << 20))
    }

    /// Whether `sp` is right below what is open on this stack, with nothing between.
    fn on_this_stack(&self, stack: u32, sp: u64) -> bool {
        let of = &self.stacks[stack as usize];
        let Some(top) = of.top() else { return false };
        let between = self
            .resting
            .above(sp)
            .is_some_and(|(other, _)| other < top.sp);
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
    fn elsewhere(&mut self, context: usize, new: &Entered, holder: Option<u32>) -> u32 {
        let current = self.contexts[context].current;
        let near = current.filter(|&stack| {
            self.on_this_stack(stack, new.sp)
                && self.stacks[stack as usize]
                    .top()
                    .is_some_and(|top| top.sp - new.sp < REACH)
        });
        if self.known.is_none() {
            let votes = self.survey.sites.entry(new.caller).or_default();
            match near {
                Some(_) => votes.near += 1,
                None => votes.far += 1,
            }
        }
        let votes = match self.known {
            Some(known) => known.sites.get(&new.caller).copied().unwrap_or_default(),
            None => self.survey.sites[&new.caller],
        };
        if let Some(stack) = self.continued(context, new, holder) {
            return stack;
        }
        let announced = self.contexts[context].announced;
        let starts = announced.is_some_and(|strand| !self.announced.is_known(strand));
        if !starts && (!votes.is_root() || announced.is_some()) {
            if let Some(stack) = near {
                return stack;
            }
            // Back on a fiber in code that is not traced, and called from there.
            let behind = self.resting.above(new.sp);
            if let Some((top, stack)) = behind
                && top - new.sp < REACH
                && self.stacks[stack as usize].owner.is_none()
            {
                if votes.near > 0 && votes.far > 0 {
                    self.unresolved.ambiguous += 1;
                }
                return stack;
            }
        }
        self.take_over(context, new);
        self.new_stack(context, new.time)
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

    /// The fiber whose outermost call has ended, and whose code calls once more: from a later place of the same function.
    fn continued(&self, context: usize, new: &Entered, holder: Option<u32>) -> Option<u32> {
        let fits = |stack: &u32| {
            let of = &self.stacks[*stack as usize];
            of.owner.is_none()
                && of.frames.is_empty()
                && of.base.abs_diff(new.sp) < BASE
                && holder.is_some()
                && of.root == holder
                && new.caller > of.root_site
        };
        let current = self.contexts[context].current.filter(fits);
        current.or_else(|| self.resting.empty_near(new.sp, BASE).filter(fits))
    }

    /// Ends what was where a new stack has its outermost call.
    fn take_over(&mut self, context: usize, new: &Entered) {
        let sp = new.sp;
        let current = self.contexts[context].current;
        if let Some(stack) = current
            && self.stacks[stack as usize].owner.is_none()
            && self.stacks[stack as usize].frames.is_empty()
        {
            self.rest(stack, new.time);
            self.contexts[context].current = None;
        }
        if let Some(empty) = self.resting.empty_near(sp, BASE) {
            self.discard(empty);
        }
        let above = self.resting.above(sp).filter(|&(top, _)| top == sp);
        let below = self.resting.below(sp);
        for (_, stack) in [above, below].into_iter().flatten() {
            let of = &self.stacks[stack as usize];
            let base = of.frames.first().map_or(0, |frame| frame.sp);
            if of.owner.is_none() && base + BASE > sp {
                self.discard(stack);
            }
        }
    }
}

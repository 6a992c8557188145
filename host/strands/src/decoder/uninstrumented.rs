//! Calls by uninstrumented code, outside the threads' own stacks: callbacks, and the outermost
//! calls of fibers.

use super::Decoder;
use crate::Doubts;
use crate::entered::Entered;
use crate::evidence::Start;
use crate::made_stacks::{Fiber, MadeStack};
use crate::sink::Sink;
use crate::stacks::{BASE, DOUBTFUL, Frame, LITTLE, REACH};
use crate::survey::Votes;

use heddle_trace_file::{Addr, Way};

/// Fibers' stacks that may be arrays of one function: as many are looked at in search of its call.
const ARRAYS: usize = 8;

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
        let made_at = self.sites.made_at(new);
        let near = current.filter(|&stack| {
            let top = self.running.stack(stack).top();
            top.is_some_and(|top| {
                top.sp.wrapping_sub(made_at) < REACH + self.sites.frame_below(top)
                    && !self.sites.is_in_frame(new, top.sp)
                    && !self.sites.has_array_at(top, new.sp)
                    && self.is_next_below(context, top, made_at)
            })
        });
        // Where a thread may have come back to, in uninstrumented code.
        let behind = self.next_above(context, made_at);
        // A call is below what it was called back from; with the same stack pointer, it is in the
        // place of one that is gone.
        let behind = behind.filter(|&(top, stack)| {
            let frame = self.running.stack(stack).top();
            let reach = REACH + frame.map_or(0, |call| self.sites.frame_below(call));
            (1..reach).contains(&top.wrapping_sub(made_at))
                && !self.sites.is_in_frame(new, top)
                && self.running.stack(stack).owner.is_none()
                && !self.is_nearer_to_emptied(context, new.sp, top)
        });
        let over =
            current.filter(|&stack| near.is_none() && self.is_over_others(context, stack, made_at));
        let below = |stack: u32| {
            let top = self.running.stack(stack).top()?;
            Some((top.body, top.sp - made_at))
        };
        let start = Start {
            site: new.caller,
            function: new.function,
            sp: new.sp,
            made_at,
            holder,
            near: near.and_then(below),
            over: over.and_then(below),
            behind: behind.map(|(top, _)| top - made_at),
            again: current.is_some_and(|stack| self.has_ended_at(stack, new.sp)),
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
            let by_its_code = self.is_by_its_code(stack, new, holder);
            if goes_on != Some(true) && !self.evidence.tells_further(new.caller, by_its_code) {
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
                if let Some((runs, called_over)) = over.zip(self.is_called_over(stack, &start)) {
                    self.running.doubt(runs, Doubts::CALLBACK);
                    self.running.doubt(stack, Doubts::CALLBACK);
                    if called_over {
                        return runs;
                    }
                }
                if votes.near > 0 && votes.far > 0 {
                    self.unresolved.ambiguous += 1;
                }
                if votes.near == 0 && !self.is_part() {
                    // Only what rests there tells that this is no fiber that begins in its place.
                    self.running.calls.has_to_return(stack);
                }
                return stack;
            }
        }
        let perhaps = goes_on.is_none() && !self.is_part() && self.may_go_on(context, new, holder);
        let (known_there, same) = self.take_over(context, new, instrumented);
        // Its caller, or what it was called back from, is open, and was not seen to begin.
        let is_part = self.is_part();
        let called_back = !root && (near.is_some() || behind.is_some() || is_part);
        let begun_before = instrumented || (called_back && !starts);
        self.evidence.note_start(&start, known_there, begun_before);
        // A fiber may have gone on, on a thread of which events are missing, from another place.
        let is_only = self.evidence.first_call_sites().is_only(new.caller);
        let same = same || (is_part && self.running.threads() > 1 && !is_only);
        let begins_anew = goes_on == Some(false) && self.evidence.may_be_apart(&start, votes);
        let mut doubts = match begun_before {
            true => Doubts::BEGUN_BEFORE,
            false if !same && begins_anew => Doubts::NONE,
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
        if self.evidence.is_shared(new.sp) || self.running.is_shared(new.sp) {
            doubts |= Doubts::SHARED;
        }
        let maker = self.announced.maker(&self.running, context);
        let begun = (Addr(new.function), maker);
        self.running.new_stack(context, begun, doubts, new.time)
    }

    /// Whether `sp` is right below `top`, the innermost call of the stack that a thread runs, with
    /// only what lies in its frame between, and not below a frame that this stack lies in.
    fn is_next_below(&self, context: usize, top: &Frame, sp: u64) -> bool {
        let above = self.running.map().next_above(context, sp);
        sp < top.sp
            && above.is_none_or(|(between, _)| {
                top.sp <= between || self.has_array_between(top, between, sp)
            })
            && self.around(top.sp, sp).is_none()
    }

    /// Whether the call at `sp` is below the frame of `call`, which is open, and another call at
    /// `above` within that: on a stack that is an array of `call`'s function.
    fn has_array_between(&self, call: &Frame, above: u64, sp: u64) -> bool {
        self.sites.has_array_at(call, above) && !self.sites.has_array_at(call, sp)
    }

    /// The innermost call of a stack that rests, and that stack, if it has an array with the stack
    /// of the call at `above`, and the one at `sp` is below.
    fn around(&self, above: u64, sp: u64) -> Option<(u64, u32)> {
        if !self.sites.has_seen_large() {
            return None;
        }
        let further = self.running.stacks().resting().above(above).take(ARRAYS);
        let mut around = further.filter(|&(_, stack)| {
            let state = self.running.stack(stack);
            let has_array = |call: &Frame| self.has_array_between(call, above, sp);
            !state.running && state.top().is_some_and(has_array)
        });
        around.next()
    }

    /// [`StackMap::next_above`], but not of the fibers whose stacks lie in the frame of an open
    /// call that `sp` is below: then the stack of that call.
    ///
    /// [`StackMap::next_above`]: crate::stack_map::StackMap::next_above
    fn next_above(&self, context: usize, sp: u64) -> Option<(u64, u32)> {
        let (top, stack) = self.running.map().next_above(context, sp)?;
        Some(self.around(top, sp).unwrap_or((top, stack)))
    }

    /// The stack that the program made where `sp` is, if no call was made on it yet and the program
    /// announces no strands: a call that no recorded function makes there is a new fiber's first.
    pub(super) fn begins_on_made_stack(&self, context: usize, sp: u64) -> Option<MadeStack> {
        if self.announced.is_ever() || self.running.map().threads.owns(context, sp) {
            return None;
        }
        let current = self.running.thread(context).current;
        let top = current.and_then(|stack| self.running.stack(stack).top());
        self.made_stacks.unmet_at(sp, top.map(|top| top.sp))
    }

    /// The stack of a call where the program made a stack: of the fiber that is there, or of a new
    /// one.
    pub(super) fn on_made_stack(
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
        if self.evidence.is_shared(new.sp) || self.running.is_shared(new.sp) {
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
        let (above, distance) = (top.body, top.sp.saturating_sub(start.made_at));
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
            false => {
                let frame = self.sites.frame_below(top);
                let below = distance.saturating_sub(frame);
                self.evidence.tells_callback(start, votes, below)
            }
        };
        if !told {
            self.running.doubt(stack, Doubts::CALLBACK);
        }
        true
    }

    /// Whether the call at `sp` is close below the innermost call of the fiber on `stack`, which a
    /// thread runs, and whole stacks that rest lie between. A fiber that was abandoned rests for
    /// good, and another may have been given its memory. If it was not, the one that runs has
    /// hardly anything left of its own stack.
    fn is_over_others(&self, context: usize, stack: u32, sp: u64) -> bool {
        let state = self.running.stack(stack);
        let Some(top) = state.top().filter(|_| state.owner.is_none()) else {
            return false;
        };
        let reach = DOUBTFUL + self.sites.frame_below(top);
        let is_near = top.sp.checked_sub(sp).is_some_and(|by| by < reach);
        let lies_between = |(at, other): (u64, u32)| {
            let first = self.running.stack(other).frames.first();
            first.is_some_and(|first| first.sp < top.sp) && !self.sites.has_array_at(top, at)
        };
        is_near
            && self
                .running
                .map()
                .next_above(context, sp)
                .is_some_and(lies_between)
    }

    /// Which of two calls called this one back, by the functions that were seen to do so elsewhere:
    /// `true`, the innermost call of the fiber that runs ([`Start::over`]); `false`, that of the
    /// stack `rests`. `None` if there is no doubt that it was the latter.
    fn is_called_over(&self, rests: u32, start: &Start) -> Option<bool> {
        let (runs, _) = start.over?;
        let by_running = self.evidence.calls_back(start, runs);
        let rests = self.running.stack(rests).top();
        let by_resting = rests.is_some_and(|call| self.evidence.calls_back(start, call.body));
        (by_running || !by_resting).then_some(by_running && !by_resting)
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

    /// The first call on this stack that was recorded is not its outermost one.
    pub(super) fn doubt_beginning(&mut self, stack: u32) {
        if let Some(site) = self.running.stack(stack).first_site.get() {
            self.evidence.note_mistaken(site);
        }
        self.running.doubt(stack, Doubts::BEGUN_BEFORE);
    }
}

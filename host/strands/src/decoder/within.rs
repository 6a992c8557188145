//! Calls within a thread's own stack that no open call has made, as far as is known: the thread's,
//! or those of fibers whose stacks are arrays of functions.

use super::{Decoder, NotAlone};
use crate::Doubts;
use crate::entered::Entered;
use crate::lost::GoneWithin;
use crate::made_stacks::Fiber;
use crate::sink::Sink;
use crate::stacks::{DOUBTFUL, Frame, Presence};
use heddle_trace_file::{Addr, Way};

impl<S: Sink> Decoder<'_, S> {
    /// The stack of a call within a thread's `own` stack by uninstrumented code, or, if it is
    /// `instrumented`, by a call that is not open as far as is known: the thread's, or a fiber's
    /// that lies within. What is open there is what is around the call. Nothing is if the caller
    /// `tells` of each of its calls, and has none open: within an open call it would have been
    /// recorded, unless it began where events are missing.
    ///
    /// # Errors
    /// [`NotAlone`], if it may be a fiber's and only the thread's own stack is allowed.
    pub(super) fn on_own(
        &mut self,
        context: usize,
        own: u32,
        new: &Entered,
        (callee, way, tells): (u32, u16, bool),
        instrumented: bool,
    ) -> Result<u32, NotAlone> {
        if !self.announced.starts(context)
            && let Some(stack) = self.jumped_on(context, new, callee)
        {
            return Ok(stack);
        }
        if let Some(stack) = self.on_made_array(context, own, new, way) {
            return Ok(stack);
        }
        if !instrumented {
            self.end_inner_below(new);
        }
        // Where the outermost call of such a fiber has ended, that may go on.
        let inner = self.running.map().inner_at(new.sp);
        let ended = inner.filter(|&stack| self.running.stack(stack).frames.is_empty());
        let ended = ended.map(|stack| (stack, self.goes_on_there(stack, new)));
        let begins = self.evidence.begins_inner(new.caller);
        let begins = match ended {
            Some((_, Some(goes_on))) => !goes_on,
            _ => begins,
        };
        let is_in_frame = !instrumented && inner.is_none() && self.is_in_frame_of_open(own, new);
        if is_in_frame && self.alone {
            return Err(NotAlone);
        }
        let begins = begins || (is_in_frame && self.evidence.begins_fibers(new.caller));
        if begins && !instrumented {
            let maker = self.made_stacks.maker(new.sp);
            let call = (Addr(new.function), new.sp, maker);
            let place = self.running.map().place_within(own, new.sp);
            let is_apart = self.is_apart(own, new);
            let stack = self.running.new_inner_stack(context, call, place, new.time);
            if !is_apart {
                self.running.doubt_within(own, Doubts::CALLBACK);
            } else if let Some((_, None)) = ended {
                self.running.doubt(stack, Doubts::START);
            }
            return Ok(stack);
        }
        let stack = inner.unwrap_or(own);
        if is_in_frame {
            self.running.doubt_strand(own, Doubts::CALLBACK);
        }
        if ended == Some((stack, None)) {
            self.running.doubt(stack, Doubts::START);
        }
        let mut count = self.enclosing(stack, new, way);
        if stack != own && !instrumented && self.may_be_another_inner(stack, count, new) {
            self.running.doubt(stack, Doubts::CALLBACK);
        }
        if tells {
            let gaps = self.running.thread(context).gaps;
            let frames = &self.running.stack(stack).frames[..count];
            let kept = frames.iter().rposition(|frame| frame.gaps != gaps);
            count = kept.map_or(0, |index| index + 1);
        }
        let leaves = count < self.running.stack(stack).frames.len();
        if leaves && (tells || instrumented) && !self.is_part() {
            let holder = self.sites.holder(new.caller, new.time);
            if !self.may_have_handed_over(holder) {
                // What is taken for gone may have made it, or go on: then it is another's.
                self.running.doubt_strand(stack, Doubts::CALLER);
            }
        }
        self.doubt_called_back(stack, count, new.time);
        let begins = stack == own && (tells || !instrumented);
        self.lose_above(stack, count, begins.then_some(new.caller));
        self.running.calls.unwind(stack, count);
        Ok(stack)
    }

    /// Whether a call within the thread's stack `own` lies within the frame of the nearest open
    /// call, as its code says: that is gone, or has a fiber's stack for an array.
    fn is_in_frame_of_open(&self, own: u32, new: &Entered) -> bool {
        let nearest = self.nearest_within(own, new);
        nearest.is_some_and(|frame| self.sites.has_array_at(frame, new.sp))
    }

    /// Whether a new call by uninstrumented code within the thread's stack `own` is far below all
    /// calls that are open there, the thread's and those of fibers, or within the frame of the
    /// nearest one, as its code says. Else a function without hooks that this one has called may
    /// make it: one that has gone on was taken for a fiber that begins.
    fn is_apart(&self, own: u32, new: &Entered) -> bool {
        self.nearest_within(own, new).is_none_or(|frame| {
            frame.sp - new.sp >= DOUBTFUL || self.sites.has_array_at(frame, new.sp)
        })
    }

    /// The nearest open call above a new one within the thread's stack `own`: the thread's, or one
    /// of a fiber that lies within.
    fn nearest_within(&self, own: u32, new: &Entered) -> Option<&Frame> {
        let map = self.running.map();
        let within = map.stacks.inner().iter().copied().filter(|&stack| {
            let inner = map.stacks[stack].inner.as_ref();
            inner.is_some_and(|inner| inner.own == own)
        });
        let above = |stack: u32| {
            let mut calls = map.stacks[stack].frames.iter().rev();
            calls.find(|frame| frame.sp >= new.sp)
        };
        let nearest = std::iter::once(own).chain(within).filter_map(above);
        nearest.min_by_key(|frame| frame.sp)
    }

    /// Whether a call by uninstrumented code on `stack`, within a thread's own, on which so many
    /// calls are open around it, may be another fiber's: it leaves others without an exit, or is
    /// far below what is open; or the program itself has the code, not a library that calls back.
    fn may_be_another_inner(&mut self, stack: u32, count: usize, new: &Entered) -> bool {
        let holder = self.sites.holder(new.caller, new.time);
        let is_own = holder.is_some_and(|function| self.sites.has_symbol(function));
        let frames = &self.running.stack(stack).frames;
        let is_far = |top: &Frame| is_own || top.sp.saturating_sub(new.sp) >= DOUBTFUL;
        count < frames.len() || frames.last().is_some_and(is_far)
    }

    /// Ends fibers on stacks within threads' own whose innermost calls have their frames where the
    /// new call is.
    fn end_inner_below(&mut self, new: &Entered) {
        let inner = self.running.stacks().inner().iter().copied();
        let gone: Vec<u32> = inner
            .filter(|&stack| self.is_in_frame(new, stack))
            .collect();
        for stack in gone {
            self.running.end_stack(stack, new.time);
        }
    }

    /// Whether the new call, which `function` makes, is made by a call that was taken for gone on a
    /// thread's own stack: no open call can have made it, or only one, `found`, that does not fit
    /// as well. Then a fiber runs within that stack.
    ///
    /// # Errors
    /// [`NotAlone`], if that is so and only the thread's own stack is allowed.
    pub(super) fn is_called_by_gone(
        &mut self,
        context: usize,
        new: &Entered,
        function: u32,
        found: Option<(u32, usize)>,
    ) -> Result<bool, NotAlone> {
        // Mostly none was. Else a module's frames would be looked for in vain.
        if self.running.lost().has_none_within() {
            return Ok(false);
        }
        let Some(own) = self.running.map().own_stack_at(context, new.sp) else {
            return Ok(false);
        };
        let sites = &self.sites;
        let noted = sites.of(new.caller, new.function, false);
        let noted = noted.filter(|site| site.caller == function);
        let noted = noted.map(|site| site.above);
        let mut refuted = None;
        if let Some((stack, index)) = found {
            let frame = &self.running.stack(stack).frames[index];
            let above = frame.sp - new.sp;
            if noted == Some(above) {
                return Ok(false);
            }
            let may_call = sites.may_call(frame.function, above, new) != Some(false);
            if may_call && noted.is_none() {
                return Ok(false);
            }
            refuted = (!may_call).then_some(stack);
        }
        let of_function = |gone: &GoneWithin| {
            let call = &gone.call;
            call.body == function && call.is_entry == (new.way == Way::Entry) && call.sp > new.sp
        };
        let by_code = self.running.inner_site(context, |gone| {
            let call = &gone.call;
            of_function(gone) && sites.calls_from(call.function, call.sp - new.sp, new)
        });
        // A frame may have grown, so that only the place looks the same.
        let by_place = || {
            let at = |gone: &GoneWithin| {
                of_function(gone) && gone.may_be_fibers && Some(gone.call.sp - new.sp) == noted
            };
            self.running.inner_site(context, at)
        };
        let is_gone = by_code.is_some() || by_place().is_some();
        if let Some(site) = by_code {
            self.evidence.note_inner(site);
        }
        if is_gone {
            self.running.doubt_within(own, Doubts::CALLBACK);
            if self.alone {
                return Err(NotAlone);
            }
        } else if let Some(stack) = refuted {
            // By its code, another call of the function made it.
            self.running.doubt_strand(stack, Doubts::CALLER);
        }
        Ok(is_gone)
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
        way: u16,
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
}

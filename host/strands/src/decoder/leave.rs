//! Finds the open call of an exit.
//!
//! An exit of `-mfentry` has the stack pointer of its enter, and no other open call has it. An exit
//! of `-finstrument-functions` usually has it, too: then the innermost call of some stack has this
//! stack pointer, and its function fits. The stack pointer is lower where the frame has grown
//! (`alloca`), and higher where the hook was tail-called, by the same amount at each exit of one
//! function.

use super::{Decoder, NotAlone};
use crate::Doubts;
use crate::entered::Entered;
use crate::lost::{GoneOnFiber, GoneWithin};
use crate::sink::Sink;
use crate::stacks::{DOUBTFUL, Frame, LITTLE, REACH};
use heddle_calls::End;
use heddle_trace_file::{Addr, Callee, Nanos, Way};

/// Bytes that a frame may have grown by.
const GROWN: u64 = 64 << 10;

/// Bytes by which a tail-called hook's stack pointer may be higher.
const HIGHER: u64 = 4096;

/// Bytes between a call and what it was called from, through uninstrumented code, hardly ever more.
const AROUND: u64 = 4096;

impl<S: Sink> Decoder<'_, S> {
    /// Takes an exit.
    #[inline(always)]
    pub fn exit(
        &mut self,
        context: usize,
        function: Callee,
        sp: u64,
        way: Way,
        time: Nanos,
    ) -> Result<(), NotAlone> {
        if let Some(stack) = self.running.thread(context).current
            && let Some(top) = self.running.stack(stack).frames.last()
            && top.sp == sp
            && fits(top, function, way)
        {
            self.running.calls.close(stack, End::Returned);
            return Ok(());
        }
        if let Some(stack) = self.ends_innermost(context, function, sp, way) {
            self.running.run(context, stack, time.0);
            self.running.calls.close(stack, End::Returned);
            return Ok(());
        }
        self.exit_slowly(context, function, sp, way, time)
    }

    /// The stack whose innermost call ends, if that is seen at once: it rested, and this call was
    /// entered with `sp`, or is left as others of its function were; or it is the thread's own,
    /// where most hooks are tail-called. It is what [`Self::exit_slowly`] would find, which looks
    /// at what lies nearby before it asks whose stack was made there, and where another thread
    /// seems to run that, finds nothing.
    #[inline]
    fn ends_innermost(&self, context: usize, function: Callee, sp: u64, way: Way) -> Option<u32> {
        let ends = |stack: u32| {
            let top = self.running.stack(stack).frames.last();
            top.is_some_and(|top| fits(top, function, way))
        };
        if !self.running.map().threads.owns(context, sp)
            && let Some(made) = self.made_stacks.fiber_at(&self.running, sp)
            && ends(made)
            && self.was_left_at(made, sp, way)
        {
            return Some(made);
        }
        if let Some(resting) = self.running.stacks().resting_at(sp) {
            // Where a stack was made since it rested, its fiber is gone.
            let is_it = self.made_stacks.at(sp).is_none() && ends(resting);
            return is_it.then_some(resting);
        }
        let own = self.running.thread(context).own;
        (ends(own) && self.may_end_on_own(context, own, sp, way)).then_some(own)
    }

    /// Whether the innermost call of `stack`, which the program made where `sp` is, was left there:
    /// it was entered with `sp`, or is one of a function whose calls were left as far from their
    /// enters before. Another thread may seem to run the stack, which has left it meanwhile.
    #[inline]
    fn was_left_at(&self, stack: u32, sp: u64, way: Way) -> bool {
        let left = |top: &Frame| {
            let by = sp.wrapping_sub(top.sp) as i64;
            let is_known = || self.evidence.offsets().holds(top.function, by);
            by == 0 || (way == Way::Instrumented && !self.announced.is_ever() && is_known())
        };
        self.running.stack(stack).top().is_some_and(left)
    }

    /// Whether the innermost call on `own`, the thread's own stack, can have been left with `sp`,
    /// and no other call can.
    #[inline]
    fn may_end_on_own(&self, context: usize, own: u32, sp: u64, way: Way) -> bool {
        let map = self.running.map();
        let [.., outer, top] = &*map.stacks[own].frames else {
            return false;
        };
        way == Way::Instrumented
            && map.threads.owns(context, sp)
            && (outer.sp != top.sp && sp <= outer.sp)
            && top.gaps == map.threads[context].gaps
            && top.sp.saturating_sub(sp) < LITTLE
            && map.stacks.inner().is_empty()
            && !self.announced.is_ever()
            && map.threads.running().all(|other| {
                let top = map.stacks[other].top();
                top.is_none_or(|top| top.sp != sp)
            })
    }

    #[inline(never)]
    fn exit_slowly(
        &mut self,
        context: usize,
        function: Callee,
        sp: u64,
        way: Way,
        time: Nanos,
    ) -> Result<(), NotAlone> {
        let found = match way {
            Way::Entry => self.entered_at(context, sp),
            Way::Instrumented => self.left_from(context, function, sp),
        };
        let found = found.filter(|&(stack, _)| self.may_lie_on(context, stack, sp));
        // The announced strand may be in the middle of calls that were not seen to begin. Then an
        // open call on another strand's stack is not the one that ends, unless it fits exactly.
        let runs = self.announced_stack(context);
        let starts = self.announced.starts(context)
            && self.running.map().own_stack_at(context, sp).is_none();
        let found = found.filter(|&(stack, index)| {
            let exact = self.running.stack(stack).frames[index].sp == sp;
            exact || (!starts && runs.is_none_or(|runs| runs == stack))
        });
        match found {
            Some((stack, index)) => {
                // A frame that has grown; or the call is another's, of the same function.
                let grown = self.running.stack(stack).frames[index]
                    .sp
                    .saturating_sub(sp);
                if grown >= LITTLE
                    && self.has_gone_on(context, function, (sp, way), true)
                    && self.alone
                {
                    return Err(NotAlone);
                }
                self.doubt_since_gap(context, (stack, index), sp);
                self.doubt_called_back(stack, index + 1, time.0);
                self.running.doubt_left(stack, index + 1, &self.sites);
                self.lose_above(stack, index + 1, None);
                self.running.calls.unwind(stack, index + 1);
                self.running.run(context, stack, time.0);
                self.running.calls.close(stack, End::Returned);
            }
            None if self.is_thunk(context, sp, way) => {}
            None => {
                let own = self.running.map().own_stack_at(context, sp);
                let gaps = self.running.thread(context).gaps;
                let within = self.running.lost().left_within(gaps, function, sp, way);
                if let Some(site) = within
                    && own.is_some()
                {
                    self.evidence.note_inner(site);
                }
                let left = self.running.lost().left_on_fibers(function, sp, way);
                let left: Vec<GoneOnFiber> = left.copied().collect();
                self.have_gone_on(&left, time.0);
                let goes_on = self.has_gone_on(context, function, (sp, way), false);
                if self.alone && (own.is_none() || within.is_some() || goes_on) {
                    return Err(NotAlone);
                }
                self.unresolved.exits += 1;
                self.doubt_current(context, function, sp);
                self.announced.run(&mut self.running, context, sp, time.0);
                self.running.calls.unmatched(context, function, time);
                if let Some(own) = own
                    && self.evidence.captures()
                    && self.is_around_all(context, own, sp)
                {
                    self.begun_within(context, own, (function, sp), time);
                }
            }
        }
        Ok(())
    }

    /// Doubts a stack on which the call with this `index` seems to be left with `sp`: if it was
    /// entered before events were missing, and with another stack pointer, the exit may be that of
    /// a call of its function that was entered meanwhile.
    fn doubt_since_gap(&mut self, context: usize, (stack, index): (u32, usize), sp: u64) {
        let call = &self.running.stack(stack).frames[index];
        let by = sp.wrapping_sub(call.sp) as i64;
        let is_known = by == 0 || self.evidence.offsets().holds(call.function, by);
        if call.gaps != self.running.thread(context).gaps && !is_known {
            self.running.doubt_strand(stack, Doubts::CALLER);
        }
    }

    /// Whether no call is open on `own` around `sp` that was seen since events of the thread were
    /// missing last. At -O2 a coroutine that hands over may call the hook of its exit twice, within
    /// other calls.
    fn is_around_all(&self, context: usize, own: u32, sp: u64) -> bool {
        let gaps = self.running.thread(context).gaps;
        let mut frames = self.running.stack(own).frames.iter();
        frames.all(|frame| frame.sp < sp || frame.gaps != gaps)
    }

    /// The thread had an exit on its own stack with `sp`, without a call. If it is a coroutine's,
    /// recording began within its activation, whose calls seem to be the thread's. Where it tells
    /// of no function, an activation that begins there later tells.
    fn begun_within(
        &mut self,
        context: usize,
        own: u32,
        (function, sp): (Callee, u64),
        time: Nanos,
    ) {
        if self.running.thread(context).unseen.is_some() {
            let count = self.running.stack(own).frames.len();
            let kept = self
                .running
                .stack(own)
                .frames
                .partition_point(|frame| frame.sp > sp);
            if count > kept {
                self.running.calls.unwind(own, kept);
            }
            self.running.end_unseen(context, End::Returned, time.0);
        } else if function == Callee::Unknown {
            self.running.calls.map.threads[context].has_left(sp);
        } else if self.sites.may_be_part(function) {
            self.running.doubt_strand(own, Doubts::BEGUN_BEFORE);
        }
    }

    /// The calls on `stack`, a thread's own or one within that, above the first `count` are taken
    /// for gone. If they are not, a fiber has begun: with a call from `site`, or, without it, with
    /// the outermost of them that no instrumented function has made.
    pub(super) fn lose_above(&mut self, stack: u32, count: usize, site: Option<u64>) {
        let state = self.running.stack(stack);
        let gone = &state.frames[count..];
        let Some(outermost) = gone.first() else {
            return;
        };
        if state.owner.is_none() && state.inner.is_none() {
            return;
        }
        let sites = &mut self.sites;
        let begins = gone.iter().position(|frame| {
            let holder = sites.holder(frame.caller, frame.enter);
            !holder
                .is_some_and(|function| sites.was_entered(function) && sites.has_symbol(function))
        });
        let first = begins.map_or(outermost, |index| &gone[index]).caller;
        let before = begins.unwrap_or(gone.len());
        self.running
            .lose(stack, count, site.unwrap_or(first), before);
    }

    /// Whether this exit seems to be that of a call on a thread's own stack that was taken for
    /// gone. Then what it has called since may be elsewhere: all on that stack is doubted. By
    /// `-finstrument-functions`, the stack pointer may be another than at the enter; and an open
    /// call of that function may have the exit, if `is_open`.
    #[inline(never)]
    fn has_gone_on(
        &mut self,
        context: usize,
        function: Callee,
        (sp, way): (u64, Way),
        is_open: bool,
    ) -> bool {
        let Some(own) = self.running.map().own_stack_at(context, sp) else {
            return false;
        };
        let (lower, higher) = match self.is_part() || way == Way::Entry {
            true => (1, 1),
            false => (LITTLE, HIGHER),
        };
        let is_it = |gone: &GoneWithin| {
            let call = &gone.call;
            let fits = match way {
                Way::Entry => call.is_entry,
                Way::Instrumented => !call.is_entry && function.may_be(Addr(call.function)),
            };
            let near = sp.wrapping_sub(call.sp) < higher || call.sp.wrapping_sub(sp) < lower;
            let is_told = gone.may_be_fibers || (!is_open && call.sp == sp);
            fits && near && is_told
        };
        let goes_on = self.running.inner_site(context, is_it).is_some();
        if goes_on {
            self.running.doubt_within(own, Doubts::CALLBACK);
        }
        goes_on
    }

    /// These calls of fibers were taken for gone, and one of them has just ended or made a call:
    /// its fiber shares the stack. Where the recording has all calls, it may be any of them, and
    /// any before that had such a call there.
    fn have_gone_on(&mut self, gone: &[GoneOnFiber], time: u64) {
        for gone in gone {
            self.evidence.note_went_on(gone, self.is_part(), time);
        }
    }

    /// `function` makes the new call, but has none open that can have made it. If it has one on a
    /// fiber's stack that was taken for gone, that goes on.
    #[inline(never)]
    pub(super) fn is_called_on_lost(&mut self, context: usize, new: &Entered, function: u32) {
        let gaps = self.running.thread(context).gaps;
        let noted = self.sites.of(new.caller, new.function, false);
        let noted = noted.filter(|site| site.caller == function);
        let noted = noted.map(|site| site.above);
        let can_have_made_it = |gone: &&GoneOnFiber| {
            let call = &gone.call;
            let above = call.sp - new.sp;
            let fits = match self.is_part() {
                true => {
                    let exact = self.sites.calls_from(call.function, above, new);
                    call.gaps == gaps && (exact || noted == Some(above))
                }
                false => self.sites.may_call(call.function, above, new) != Some(false),
            };
            call.body == function && call.is_entry == (new.way == Way::Entry) && fits
        };
        let gone = self.running.lost().above(new.sp, DOUBTFUL);
        let gone: Vec<GoneOnFiber> = gone.filter(can_have_made_it).copied().collect();
        self.have_gone_on(&gone, new.time);
    }

    /// Whether an exit that belongs to no open call is a thunk's, which jumps on to the function
    /// that was called: see [`heddle_calls::Stack`]. Right below the innermost call of the stack
    /// that the thread runs, no other exit lies, where the recording has all calls; and on the
    /// thread's own stack, if it has those since that call's enter.
    fn is_thunk(&self, context: usize, sp: u64, way: Way) -> bool {
        let current = self.running.thread(context).current;
        let top = current.and_then(|stack| self.running.stack(stack).top());
        way == Way::Entry
            && top.is_some_and(|top| {
                let threads = &self.running.map().threads;
                let is_own = threads.owns(context, sp) && threads.owns(context, top.sp);
                let has_all = !self.is_part() || (is_own && top.enter > self.latest_gap);
                has_all && (1..AROUND).contains(&top.sp.wrapping_sub(sp))
            })
    }

    /// Calls above the first `count` of this stack are over, though they have no exit. Nothing
    /// tells since when: if uninstrumented code made the latest call above them, that may have been
    /// called from there, or from what is around them. A call that instrumented code makes tells.
    #[inline(never)]
    pub(super) fn doubt_called_back(&mut self, stack: u32, count: usize, time: u64) {
        let state = self.running.stack(stack);
        let Some(innermost) = state.frames[count..].last() else {
            return;
        };
        let site = state.ended_site;
        if innermost.callees == 0 {
            return;
        }
        let holder = self.sites.holder(site, time);
        let tells = holder.is_some_and(|function| {
            self.sites.was_entered(function)
                || self.evidence.was_entered(function)
                || self.sites.tells_its_calls(function)
        });
        if !tells {
            self.running.doubt_strand(stack, Doubts::CALLER);
        }
    }

    /// An exit at `sp` belongs to no open call. If that is among those of the stack that the thread
    /// runs, these may be another fiber's; if it is just above, they were called from it.
    fn doubt_current(&mut self, context: usize, function: Callee, sp: u64) {
        let Some(stack) = self.running.thread(context).current else {
            return;
        };
        let state = self.running.stack(stack);
        let base = state.frames.first().map_or(state.base, |first| first.sp);
        let top = state.frames.last().map_or(state.base, |last| last.sp);
        if sp >= base && sp - base < AROUND {
            self.doubt_beginning(stack);
        } else if sp < base && top < sp.saturating_add(self.reach_of_calls(stack)) {
            // A coroutine that hands over may have called the hook of its exit before.
            match self.is_part() || self.sites.may_be_part(function) {
                true => self.running.doubt(stack, Doubts::CALLER),
                false => self.running.doubt_strand(stack, Doubts::CALLER),
            }
        }
    }

    /// Bytes below the innermost call of `stack` within which a call that was not seen to begin may
    /// have made some that seem to be that one's. Where the recording does not have all calls, it
    /// may be another fiber's, whose stack is next below.
    fn reach_of_calls(&self, stack: u32) -> u64 {
        let top = self.running.stack(stack).top();
        match self.is_part() && top.is_some_and(|top| top.callees > 0) {
            true => REACH,
            false => LITTLE,
        }
    }

    /// Bytes that a frame may have grown by, and by which a tail-called hook's stack pointer may be
    /// higher. Where the recording does not have all calls, the exit may be that of one that was
    /// not seen to begin, on another stack.
    fn tolerance(&self) -> (u64, u64) {
        match self.is_part() {
            true => (LITTLE, LITTLE),
            false => (GROWN, HIGHER),
        }
    }

    /// The call of `-mfentry` with this stack pointer, on whatever stack.
    fn entered_at(&self, context: usize, sp: u64) -> Option<(u32, usize)> {
        let on = |stack: u32| {
            let frames = &self.running.stack(stack).frames;
            let index = frames
                .iter()
                .rposition(|frame| frame.sp == sp && frame.is(Frame::ENTRY))?;
            Some((stack, index))
        };
        if let Some(stack) = self.running.stacks().resting_at(sp)
            && let Some(top) = self.running.stack(stack).frames.last()
            && top.is(Frame::ENTRY)
        {
            return Some((stack, self.running.stack(stack).frames.len() - 1));
        }
        let current = self.running.thread(context).current;
        if let Some(found) = current.and_then(on) {
            return Some(found);
        }
        if self.alone {
            return None;
        }
        let above = self.running.stacks().above(sp).map(|(_, stack)| stack);
        let below = self.running.stacks().below(sp).map(|(_, stack)| stack);
        let own = self.running.map().own_stack_at(context, sp);
        let rest = [above, below, own].into_iter().flatten();
        let others = self.running.map().threads.running();
        rest.chain(others).find_map(on)
    }

    /// The call of `-finstrument-functions` that left with this stack pointer.
    fn left_from(&mut self, context: usize, function: Callee, sp: u64) -> Option<(u32, usize)> {
        let current = self.running.thread(context).current;
        if self.alone {
            return current.and_then(|stack| self.plausible(stack, function, sp));
        }
        let fitting = |frame: &Frame| fits(frame, function, Way::Instrumented);
        // The innermost call of a suspended stack, entered with the same stack pointer.
        let exact = self.running.stacks().resting_at(sp);
        let exact = exact.filter(|&stack| self.running.stack(stack).top().is_some_and(fitting));
        if let Some(stack) = exact {
            return Some((stack, self.running.stack(stack).frames.len() - 1));
        }
        let runs_elsewhere = self.running.map().threads.running();
        for stack in runs_elsewhere {
            let state = self.running.stack(stack);
            if Some(stack) != current && state.top().is_some_and(|top| top.sp == sp && fitting(top))
            {
                return Some((stack, state.frames.len() - 1));
            }
        }
        if let Some(own) = self.running.map().own_stack_at(context, sp) {
            let inner = self.running.map().inner_at(sp);
            let inner = inner.and_then(|inner| self.plausible(inner, function, sp));
            return inner.or_else(|| self.plausible(own, function, sp));
        }
        // The innermost call, if earlier calls of its function were left at the same distance from
        // their enters' stack pointers.
        let offset = |stack: u32| {
            let top = self.running.stack(stack).top()?;
            fitting(top).then(|| sp.wrapping_sub(top.sp) as i64)
        };
        if let Some(stack) = current
            && let Some(by) = offset(stack)
        {
            let state = self.running.stack(stack);
            if self.evidence.offsets().holds(state.top()?.function, by) {
                return Some((stack, state.frames.len() - 1));
            }
        }
        // A call around the innermost one on the same stack, or the innermost one, left with the
        // stack pointer of its caller (a tail-called hook).
        if let Some(stack) = current
            && let frames = &self.running.stack(stack).frames
            && frames.iter().any(|frame| frame.sp == sp && fitting(frame))
        {
            return self.plausible(stack, function, sp);
        }
        // A suspended stack whose top call matches a known exit offset of its function.
        if let Some(stack) = self.rests_as_left(sp, fitting) {
            return Some((stack, self.running.stack(stack).frames.len() - 1));
        }
        if let Some(stack) = self.nearest_left(current, sp, fitting) {
            let index = self.running.stack(stack).frames.len() - 1;
            let top = &self.running.stack(stack).frames[index];
            let (by, function) = (sp.wrapping_sub(top.sp) as i64, top.function);
            if by >= 0 {
                self.evidence.note_offset(function, by);
            } else if by <= -(LITTLE as i64) && Some(stack) != current {
                // Hardly ever does a fiber go on in a frame that has grown so much. It may be that
                // of another call, which is taken for gone.
                self.running.doubt(stack, Doubts::CALLER);
            }
            return Some((stack, index));
        }
        let (grown, higher) = self.tolerance();
        let straddling = self.running.stacks().below(sp).map(|(_, stack)| stack);
        current
            .into_iter()
            .chain(straddling)
            .filter(|&stack| {
                let frames = &self.running.stack(stack).frames;
                let spans = |frames: &[Frame]| {
                    let (first, last) = (frames.first()?, frames.last()?);
                    Some(first.sp + higher > sp && last.sp < sp + grown)
                };
                spans(frames) == Some(true)
            })
            .find_map(|stack| self.plausible(stack, function, sp))
    }

    /// The stack with the nearest innermost call that is `fitting` and can have been left with this
    /// stack pointer, among those that rest and `current`.
    fn nearest_left(
        &self,
        current: Option<u32>,
        sp: u64,
        fitting: impl Fn(&Frame) -> bool,
    ) -> Option<u32> {
        let offset = |stack: u32| {
            let top = self.running.stack(stack).top()?;
            fitting(top).then(|| sp.wrapping_sub(top.sp) as i64)
        };
        let (grown, higher) = self.tolerance();
        let near = |by: &i64| *by < higher as i64 && *by > -(grown as i64);
        let here = current.and_then(|stack| {
            let by = offset(stack).filter(near)?;
            Some((by.unsigned_abs(), stack))
        });
        // The nearest first, because what each stack has on top is far away in memory, where there
        // are many.
        let below = self
            .running
            .stacks()
            .resting()
            .below(sp)
            .map(|(top, stack)| (sp - top, stack));
        let above = self
            .running
            .stacks()
            .resting()
            .above(sp)
            .map(|(top, stack)| (top - sp, stack));
        let mut below = below.take_while(|&(by, _)| by < higher).peekable();
        let mut above = above.take_while(|&(by, _)| by < grown).peekable();
        let mut resting = std::iter::from_fn(|| match (below.peek(), above.peek()) {
            (Some(lower), Some(upper)) if upper.0 < lower.0 => above.next(),
            (Some(_), _) => below.next(),
            (None, _) => above.next(),
        })
        .take_while(|(by, _)| here.is_none_or(|(nearest, _)| *by < nearest));
        let left = |&(_, stack): &(u64, u32)| {
            !self.running.stack(stack).running && offset(stack).is_some()
        };
        let best = resting.find(left).or(here);
        best.map(|(_, stack)| stack)
    }

    /// The suspended stack whose top call is `fitting` and matches a known exit offset of its
    /// function. Looking at the stacks near `sp` one by one would find the same, mostly, but takes
    /// longer than all the rest of an event.
    fn rests_as_left(&self, sp: u64, fitting: impl Fn(&Frame) -> bool) -> Option<u32> {
        let offsets = self.evidence.offsets();
        offsets.all().iter().find_map(|&by| {
            let stack = self
                .running
                .stacks()
                .resting_at(sp.wrapping_add_signed(-by))?;
            let top = self.running.stack(stack).top()?;
            (fitting(top) && offsets.holds(top.function, by)).then_some(stack)
        })
    }

    /// The nearest call of the function on a stack that can have been left with this stack pointer:
    /// not above the frame that it was called from.
    fn plausible(&self, stack: u32, function: Callee, sp: u64) -> Option<(u32, usize)> {
        let frames = &self.running.stack(stack).frames;
        let fitting = |index: &usize| fits(&frames[*index], function, Way::Instrumented);
        let mut candidates = (0..frames.len()).rev().filter(fitting);
        let below_its_caller = |&index: &usize| {
            let inner = frames[index].sp;
            let outer = frames[..index].iter().rev().find(|frame| frame.sp != inner);
            outer.is_none_or(|outer| {
                sp <= outer.sp || outer.sp.abs_diff(inner) > (1 << 30) || outer.is(Frame::HANDLER)
            })
        };
        let found = candidates.clone().find(below_its_caller);
        found
            .or_else(|| candidates.next())
            .map(|index| (stack, index))
    }
}

#[inline]
fn fits(frame: &Frame, function: Callee, way: Way) -> bool {
    match way {
        Way::Entry => frame.is(Frame::ENTRY),
        Way::Instrumented => !frame.is(Frame::ENTRY) && function.may_be(Addr(frame.function)),
    }
}

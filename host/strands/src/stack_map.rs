//! Which stack each thread of a group runs, and which one lies where.

use crate::entered::Entered;
use crate::stacks::{FRAMES, Frame, Inner, LITTLE, OpenCall, Presence, Stack, Stacks};
use crate::threads::{Left, Threads};
use heddle_trace_file::Process;
use std::ops::Range;

/// Stacks that are arrays are smaller.
const MOST: u64 = 1 << 20;

/// The threads of a group and the stacks that they run.
pub(crate) struct StackMap<'a> {
    pub threads: Threads<'a>,
    pub stacks: Stacks,
}

impl<'a> StackMap<'a> {
    /// No thread of the process yet.
    pub fn new(process: &'a Process) -> Self {
        StackMap {
            threads: Threads::new(process),
            stacks: Stacks::default(),
        }
    }

    /// Adds the thread with this index in its process, which runs its own stack; its strand is in
    /// `slot`.
    pub fn add_thread(&mut self, index: usize, slot: u32) {
        let context = self.threads.len();
        let own = self.stacks.add(Stack {
            slot,
            owner: Some(context as u32),
            thread: context as u32,
            running: true,
            ..Stack::default()
        });
        self.threads.add(index, own);
    }

    /// The slot of the strand that the thread runs: its own where no other is known.
    pub fn innermost(&self, context: usize) -> u32 {
        let thread = &self.threads[context];
        self.stacks[thread.current.unwrap_or(thread.own)].innermost()
    }

    /// The thread's own stack that holds `sp`: this thread's if it is one of several that had
    /// theirs there. None if a handler on this thread has its stack there: that is an array of a
    /// function of another thread.
    #[inline]
    pub fn own_stack_at(&self, context: usize, sp: u64) -> Option<u32> {
        let own = self.own_stack_around(context, sp)?;
        let is_own = own == self.threads[context].own;
        (is_own || !self.handles_within(context, own, sp)).then_some(own)
    }

    /// The same, whether a handler has its stack within that or not.
    #[inline]
    pub fn own_stack_around(&self, context: usize, sp: u64) -> Option<u32> {
        match self.threads.owns(context, sp) {
            true => Some(self.threads[context].own),
            false => self.others_stack_at(sp, self.threads[context].latest),
        }
    }

    /// Whether a signal's handler is open on this thread, whose alternate stack lies within `own`,
    /// another thread's, and holds `sp`. The kernel has called the handler on top of what its
    /// thread runs. Its stack is an array, so no other call has its frame in that: neither one that
    /// is open on `own` nor one of a fiber.
    #[cold]
    fn handles_within(&self, context: usize, own: u32, sp: u64) -> bool {
        let Some(current) = self.threads[context].current.filter(|&it| it != own) else {
            return false;
        };
        let Some(owner) = self.stacks[own].owner else {
            return false;
        };
        let place = self.threads.place(owner as usize);
        let handlers = self.stacks[current].frames.iter().rev();
        let mut handlers = handlers.filter(|frame| frame.is(Frame::HANDLER));
        handlers.any(|handler| {
            // The stack pointer of a tail-called hook is higher than that of the enter.
            let is_near =
                (sp.saturating_sub(LITTLE)..sp.saturating_add(MOST)).contains(&handler.sp);
            let between = sp.min(handler.sp)..sp.max(handler.sp);
            let mut others = self.stacks[own].frames.iter();
            is_near
                && place.contains(&handler.sp)
                && !others.any(|frame| between.contains(&frame.sp))
                && !self.others_reach_into(current, &between)
        })
    }

    /// Whether a stack other than `stack` has its outermost or its innermost call in this place.
    fn others_reach_into(&self, stack: u32, place: &Range<u64>) -> bool {
        let resting = self.stacks.resting().within(place);
        let below = self.stacks.below(place.start).map(|(_, below)| below);
        let mut others = resting.chain(below).chain(self.threads.running());
        others.any(|other| {
            let frames = &self.stacks[other].frames;
            let ends = [frames.first(), frames.last()].into_iter().flatten();
            other != stack && ends.into_iter().any(|frame| place.contains(&frame.sp))
        })
    }

    /// The own stack of a thread that holds `sp` at this time.
    fn others_stack_at(&self, sp: u64, time: u64) -> Option<u32> {
        let mut latest = None;
        for owner in self.threads.owners_at(sp, time) {
            let own = self.threads[owner].own;
            // Several threads may seem to have their stacks here. The one with open calls is in
            // use.
            if latest.is_none() || self.stacks[own].top().is_some() {
                latest = Some(own);
            }
        }
        latest
    }

    /// The fibers' stacks in this place.
    pub fn fibers_within(&self, place: &Range<u64>) -> Vec<u32> {
        let resting = self.stacks.resting().within(place);
        let mut found: Vec<u32> = resting.chain(self.threads.running()).collect();
        found.retain(|&stack| {
            let state = &self.stacks[stack];
            state.owner.is_none() && place.contains(&state.top().map_or(state.base, |top| top.sp))
        });
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The fiber's stack that lies within a thread's own and holds `sp`, if there is one: of
    /// several, the one that begins next above.
    pub fn inner_at(&self, sp: u64) -> Option<u32> {
        let holds = |&stack: &u32| {
            let state = &self.stacks[stack];
            state.inner.as_ref().is_some_and(|inner| {
                inner.low < sp && sp < state.base + FRAMES && self.is_there(inner, sp)
            })
        };
        let there = self.stacks.inner().iter().copied().filter(holds);
        there.min_by_key(|&stack| self.stacks[stack].base)
    }

    /// Whether such a stack is there when a call is made in it at `sp`. It is as long as one of the
    /// thread's own calls is open below: what such a call calls is lower, so the new one is not the
    /// thread's.
    pub fn presence(&self, inner: &Inner, sp: u64) -> Presence {
        let frames = &self.stacks[inner.own].frames;
        let around = inner.around.map(|call| self.is_open(inner.own, call));
        let is_beneath =
            |frame: &Frame| frame.sp <= inner.beneath && frame.sp < sp && !frame.is(Frame::HANDLER);
        match (around, inner.below) {
            (Some(false), _) => Presence::Gone,
            (Some(true), None) => Presence::Known,
            (None, None) => Presence::Assumed,
            (_, Some(_)) if frames.iter().rev().any(is_beneath) => Presence::Known,
            (Some(true), Some(_)) => Presence::Open,
            (None, Some(_)) => Presence::Gone,
        }
    }

    /// Whether such a stack is there when a call is made in it at `sp`, as far as is known.
    pub fn is_there(&self, inner: &Inner, sp: u64) -> bool {
        matches!(
            self.presence(inner, sp),
            Presence::Known | Presence::Assumed
        )
    }

    /// Whether such a stack, in which a call is made now, is not in the frame of the call below,
    /// because that has ended.
    pub fn outlives_below(&self, inner: &Inner) -> bool {
        let ended = |call| !self.is_open(inner.own, call);
        inner.around.is_some() && inner.below.is_some_and(ended)
    }

    fn is_open(&self, stack: u32, call: OpenCall) -> bool {
        let mut calls = self.stacks[stack].frames.iter();
        calls.any(|frame| OpenCall::of(frame) == call)
    }

    /// Where a fiber's stack is that begins at `sp`, within this stack of a thread. A function's
    /// stack pointer is above its arrays by `-mfentry`. By `-finstrument-functions`, it is below
    /// them, but above what its frame has grown by since (`alloca`): so the array may be in the
    /// frame of the call below or of the one around. Where the two are one frame, it has grown.
    pub fn place_within(&self, own: u32, sp: u64) -> Inner {
        let frames = &self.stacks[own].frames;
        let (around, below) = frames.split_at(frames.partition_point(|frame| frame.sp > sp));
        let around = around.last();
        let may_hold = |frame: &&Frame| {
            let is_inlined = around.is_some_and(|around| {
                frame.is(Frame::INLINED)
                    && !around.is(Frame::ENTRY)
                    && frame.caller == around.caller
            });
            !frame.is(Frame::ENTRY) && !is_inlined
        };
        let first = below.first();
        Inner {
            own,
            low: first.map_or(sp.saturating_sub(MOST), |first| first.sp),
            beneath: sp,
            around: around.map(OpenCall::of),
            below: first.filter(may_hold).map(OpenCall::of),
        }
    }

    /// A call is made on this stack of a thread at `sp`: the fibers' stacks within are above.
    pub fn calls_below_inner(&mut self, own: u32, sp: u64) {
        for index in 0..self.stacks.inner().len() {
            let stack = self.stacks.inner()[index];
            let state = &mut self.stacks[stack];
            let base = state.base;
            if let Some(inner) = &mut state.inner
                && inner.own == own
                && sp < base
            {
                inner.low = inner.low.max(sp);
            }
        }
    }

    /// The stack whose innermost call is next above `sp`, of those that rest, and of those that
    /// other threads run as far as was heard: they may have left them meanwhile.
    pub fn next_above(&self, context: usize, sp: u64) -> Option<(u64, u32)> {
        let current = self.threads[context].current;
        let left = self.threads.running().filter_map(|stack| {
            let top = self.stacks[stack].top()?.sp;
            (Some(stack) != current && top >= sp).then_some((top, stack))
        });
        self.stacks.above(sp).into_iter().chain(left).min()
    }

    /// Whether `sp` is right below what is open on this stack, with nothing between.
    pub fn is_next_on(&self, context: usize, stack: u32, sp: u64) -> bool {
        let Some(top) = self.stacks[stack].top() else {
            return false;
        };
        let above = self.next_above(context, sp);
        let between = above.is_some_and(|(other, _)| other < top.sp);
        sp < top.sp && !between
    }

    /// The activation that ended with the event before, in whose place this begins: it may have
    /// called this by a tail call, or whatever called it calls this next.
    pub fn left_here(&self, context: usize, new: &Entered) -> Option<&Left> {
        let thread = &self.threads[context];
        let left = thread.left.as_ref()?;
        let here = left.sp == new.sp && left.caller == new.caller;
        (here && left.event + 1 == thread.events).then_some(left)
    }

    /// The stacks that are kept where `stack` has its open calls, from `low` to `high`, and do not
    /// run.
    pub fn resting_within(&self, low: u64, high: u64, stack: u32) -> Vec<u32> {
        let there = self.stacks.resting().above(low);
        let there = there.take_while(|&(top, _)| top <= high);
        there
            .map(|(_, other)| other)
            .filter(|&other| {
                let state = &self.stacks[other];
                other != stack && !state.running && state.inner.is_none()
            })
            .collect()
    }
}

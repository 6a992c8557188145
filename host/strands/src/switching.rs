//! Threads go from stack to stack: which runs, which rests, and which is gone because its memory is another's.

use crate::Kind;
use crate::decoder::Decoder;
use crate::sink::Sink;
use crate::stacks::{Frame, Stack};
use heddle_calls::End;
use heddle_trace_file::{Addr, Nanos};

impl<S: Sink> Decoder<'_, S> {
    /// Has the thread run `stack` from `time` on.
    pub fn run(&mut self, context: usize, stack: u32, time: u64) {
        let previous = self.contexts[context].current;
        if previous == Some(stack) {
            return;
        }
        let by = previous.map(|previous| {
            let slot = self.stacks[previous as usize].innermost();
            self.slots[slot].strand.id
        });
        // Before the other rests, which ends what is in its place and does not run.
        let ran = std::mem::replace(&mut self.stacks[stack as usize].running, true);
        if let Some(previous) = previous {
            self.rest(previous, time);
        }
        let of = &mut self.stacks[stack as usize];
        if ran {
            // It went away from a thread that has not been heard of since.
            self.contexts[of.thread].current = None;
        } else {
            of.away += time.saturating_sub(of.since);
            if of.frames.is_empty() && self.resting.empty.get(&of.base) == Some(&stack) {
                self.resting.empty.remove(&of.base);
            }
        }
        let of = &mut self.stacks[stack as usize];
        of.thread = context;
        self.contexts[context].current = Some(stack);
        let (slot, own) = (of.innermost(), of.slot);
        let thread = self.thread(context);
        self.slots[own].run_on(thread);
        let strand = &mut self.slots[slot].strand;
        strand.resumer = strand.resumer.or(by);
        self.sink.resumed(strand.id, by, thread, Nanos(time));
    }

    /// Index among the process's threads.
    pub fn thread(&self, context: usize) -> usize {
        self.contexts[context].thread
    }

    /// Has nobody run `stack` from `time` on. Whatever else is kept in its place is gone.
    pub fn rest(&mut self, stack: u32, time: u64) {
        let of = &mut self.stacks[stack as usize];
        of.running = false;
        of.since = time;
        let (slot, thread) = (of.innermost(), of.thread);
        let (base, owner) = (of.base, of.owner);
        let top = of.top().map(|top| (top.sp, top.function));
        let outermost = of.frames.first().map_or(base, |frame| frame.sp);
        let id = self.slots[slot].strand.id;
        if let Some((sp, function)) = top {
            let of = &mut self.stacks[stack as usize];
            let (own, kept) = (of.slot, of.kept_at.replace(sp));
            self.slots[own].strand.leaves_at(Addr(function));
            if kept != Some(sp) {
                if let Some(kept) = kept {
                    self.resting.forget(kept);
                }
                self.clear(sp, outermost, stack);
                if let Some(other) = self.resting.keep(sp, stack) {
                    self.stacks[other as usize].kept_at = None;
                }
            }
        } else {
            if let Some(kept) = self.stacks[stack as usize].kept_at.take() {
                self.resting.forget(kept);
            }
            if owner.is_none()
                && let Some(other) = self.resting.empty.insert(base, stack)
                && other != stack
                && !self.stacks[other as usize].running
            {
                self.discard(other);
            }
        }
        let thread = self.thread(thread);
        self.sink.suspended(id, thread, Nanos(time));
    }

    /// The stack that does not run whose innermost call is at or next above `sp`, and where.
    pub fn above(&self, sp: u64) -> Option<(u64, u32)> {
        let mut kept = self.resting.above(sp);
        kept.find(|&(_, stack)| !self.stacks[stack as usize].running)
    }

    /// The stack that does not run whose innermost call is next below `sp`, and where.
    pub fn below(&self, sp: u64) -> Option<(u64, u32)> {
        let mut kept = self.resting.below(sp);
        kept.find(|&(_, stack)| !self.stacks[stack as usize].running)
    }

    /// The stack that does not run whose innermost call is at `sp`.
    #[inline]
    pub fn resting_at(&self, sp: u64) -> Option<u32> {
        let kept = self.resting.at(sp);
        kept.filter(|&stack| !self.stacks[stack as usize].running)
    }

    /// Ends stacks that have open calls from `low` to `high`, where `stack` has its own.
    pub fn clear(&mut self, low: u64, high: u64, stack: u32) {
        let there = self.resting.above(low);
        let there = there.take_while(|&(top, _)| top <= high);
        let others: Vec<u32> = there
            .map(|(_, other)| other)
            .filter(|&other| other != stack && !self.stacks[other as usize].running)
            .collect();
        for other in others {
            self.discard(other);
        }
        if let Some((_, other)) = self.below(low)
            && other != stack
            && self.stacks[other as usize].owner.is_none()
            && self.stacks[other as usize]
                .frames
                .first()
                .is_some_and(|outermost| outermost.sp >= low && !outermost.is(Frame::HANDLER))
        {
            self.discard(other);
        }
    }

    /// Ends a stack that does not run: its memory is another's now.
    pub fn discard(&mut self, stack: u32) {
        let of = &mut self.stacks[stack as usize];
        if let Some(kept) = of.kept_at.take() {
            self.resting.forget(kept);
        }
        if of.frames.is_empty() && self.resting.empty.get(&of.base) == Some(&stack) {
            self.resting.empty.remove(&of.base);
        }
        if of.owner.is_some() {
            // A thread's stack: its calls are gone, itself is not.
            while self.close(stack, End::Unwound).is_some() {}
            return;
        }
        while self.close(stack, End::Unwound).is_some() {}
        let of = &mut self.stacks[stack as usize];
        let (slot, away) = (of.slot, of.away);
        let last = of.since;
        let spent = Stack {
            slot: Stack::SPENT,
            frames: std::mem::take(&mut of.frames),
            activations: std::mem::take(&mut of.activations),
            ..Stack::default()
        };
        let nested = of.nested;
        *of = spent;
        self.free.push(stack);
        let live = &mut self.slots[slot];
        live.account(last, away, nested);
        self.slots.end(slot, last, &mut self.sink);
    }

    /// A stack for a new fiber that begins with a call of `function`; 0: with one that was not seen. Its parent is who ran before it; or if that is a fiber that began in the same function, who made that: a scheduler that is not traced
    /// runs them one after another. Where that fiber was made on another thread and has moved, it is this thread, whose scheduler it is.
    pub fn new_stack(&mut self, context: usize, function: Addr, time: u64) -> u32 {
        let thread = self.thread(context);
        let slot = self.slots.add(Kind::Fiber, thread, Nanos(time));
        let own = &self.slots[self.stacks[self.contexts[context].own as usize].innermost()].strand;
        let before = &self.slots[self.innermost(context)].strand;
        let begun = before.entry().map(|(function, _)| function);
        let sibling = before.kind == Kind::Fiber && begun == Some(function);
        let parent = match before.parent {
            Some(maker) if sibling && before.thread() == thread => maker,
            Some(_) if sibling => own.id,
            _ => before.id,
        };
        let strand = &mut self.slots[slot].strand;
        strand.parent = Some(parent);
        strand.begins_with(function);
        self.sink.born(strand);
        let stack = self.free.pop().unwrap_or_else(|| {
            self.stacks.push(Stack::default());
            self.stacks.len() as u32 - 1
        });
        let of = &mut self.stacks[stack as usize];
        of.slot = slot;
        of.thread = context;
        of.since = time;
        stack
    }
}

//! Ends the calls that a `longjmp` or an exception leaves.
//!
//! Fibers may be switched by `longjmp`, too: then none of the calls on the stack that is left is
//! over. Where a thread's own stack is is known; of a fiber's, that what is between two of its open
//! calls is its own.

use super::Decoder;
use crate::jump::{Jump, Left};
use crate::sink::Sink;
use crate::stacks::{Frame, REACH};

impl Left for Frame {
    fn place(&self) -> (u64, bool) {
        (self.sp, self.is(Frame::INLINED))
    }
}

impl<S: Sink> Decoder<'_, S> {
    /// The thread calls `longjmp`, or lands in a function that handles an exception or destroys its
    /// variables.
    pub fn jump(&mut self, context: usize, jump: Jump, time: u64) {
        let map = self.running.map();
        let thread = &map.threads[context];
        let is_handler = |frame: &Frame| frame.is(Frame::HANDLER);
        if map.threads.owns(context, jump.to) {
            // Within it, a fiber's stack may be an array.
            if map.inner_at(jump.to).is_some() {
                return;
            }
            let own = thread.own;
            let rests = thread.current != Some(own);
            let jump = Jump {
                downwards: jump.downwards && !rests,
                ..jump
            };
            if let Some(kept) = jump.kept(&map.stacks[own].frames, is_handler) {
                self.lose_above(own, kept, None);
                self.running.calls.were_open(own, kept, jump.is_landing());
                self.running.calls.unwind(own, kept);
            }
            return;
        }
        let Some(stack) = self.left_stack(context, jump) else {
            return;
        };
        let frames = &map.stacks[stack].frames;
        let kept = jump.kept(frames, is_handler);
        let Some(kept) = kept.filter(|&kept| kept < frames.len()) else {
            return;
        };
        // The last of those that go on has called setjmp, or has called what did. Where an
        // exception lands in code without hooks, that may have made the outermost one.
        let sp = match kept.checked_sub(1) {
            Some(last) => frames[last].sp,
            None if jump.is_landing() => frames[0].sp,
            None => return,
        };
        if map.threads.owns(context, sp) || sp.abs_diff(jump.to) >= REACH {
            return;
        }
        self.running.run(context, stack, time);
        self.running.leave_by_jump(stack, kept, jump.is_landing());
    }
    /// The stack of a fiber whose calls the jump may leave: the one that the thread runs, as far as
    /// was heard of it; or, where none of its calls is where an exception passes, one that rests
    /// there. The thread has gone on with that, and the first it has done was to throw.
    fn left_stack(&self, context: usize, jump: Jump) -> Option<u32> {
        let current = self.running.thread(context).current;
        let stacks = self.running.stacks();
        let passes = |stack: u32| {
            let mut calls = self.running.stack(stack).frames.iter();
            calls.any(|call| jump.is_over(call))
        };
        if !jump.is_landing() || current.is_some_and(passes) {
            return current;
        }
        let above = stacks.resting().above(jump.lowest).next();
        let resting = above.filter(|&(top, stack)| top < jump.to && passes(stack));
        resting.map(|(_, stack)| stack).or(current)
    }
}

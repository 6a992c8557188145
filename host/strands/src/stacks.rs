//! The stacks of a group of threads: which calls are open on each, and where in memory that is.

use crate::address_map::AddressMap;
pub(crate) use crate::frame_list::Frame;
use crate::frame_list::FrameList;
use std::ops::{Index, IndexMut, Range};

/// Bytes by which the first stack pointers of two outermost calls on one stack may differ: their
/// frames' sizes.
pub(crate) const BASE: u64 = 2048;

/// Bytes between a callback and the call around it: a fiber's stack is seldom deeper, and
/// uninstrumented code seldom takes more.
pub(crate) const REACH: u64 = 64 << 10;

/// Bytes by which the frames of two functions differ, hardly ever more.
pub(crate) const FRAMES: u64 = 512;
/// Bytes by which two calls of one stack often differ, and those of two stacks hardly ever.
pub(crate) const LITTLE: u64 = 1024;

/// Bytes between a call and its caller that few frames have: where the recording does not have all
/// calls, the caller may be another.
pub(crate) const DOUBTFUL: u64 = 4096;

/// One stack.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stack {
    /// Outermost first.
    pub frames: FrameList,
    /// Its open activations, if it ever had any: few fibers run coroutines.
    pub activations: Option<Box<Activations>>,
    /// Slot of the strand whose stack it is.
    pub slot: u32,
    /// The thread whose own stack it is.
    pub owner: Option<u32>,
    /// The thread that runs it, or ran it last: its index in the group.
    pub thread: u32,
    pub running: bool,
    /// Where it is in [`Resting`]: it stays there while it runs, because it often comes back to
    /// where it was.
    pub kept_at: Place,
    /// Time that it did not run, up to when it ran last.
    pub suspended: u64,
    /// The part of the time since its first call in which it was suspended and the fiber that ran
    /// had no call open: that time is counted to its own calls.
    pub idle: u64,
    /// Since when it does not run.
    pub since: u64,
    /// Stack pointer of its latest outermost call.
    pub base: u64,
    /// The function from which its first outermost call was made, where a symbol says so.
    pub root: FunctionNumber,
    /// Call site of its latest outermost call.
    pub root_site: u64,
    /// Call site of its first outermost call.
    pub first_site: Place,
    /// Call site of the call that ended last on it.
    pub ended_site: u64,
    /// Calls were open on it before the first that was seen.
    pub begun_before: bool,
    /// The program was seen to make it: where it is in memory is known.
    pub is_made: bool,
    /// If it lies within a thread's own stack, as few do: where.
    pub inner: Option<Box<Inner>>,
}

// Hundreds of thousands of fibers may be alive at once.
const _: () = assert!(size_of::<Stack>() <= 280);

/// An address or none, in eight bytes: the highest address is no call's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place(u64);

impl Default for Place {
    fn default() -> Self {
        Place(u64::MAX)
    }
}

impl Place {
    pub fn get(self) -> Option<u64> {
        Some(self.0).filter(|&address| address != u64::MAX)
    }

    /// Has it be this address; gives what it was before.
    pub fn replace(&mut self, address: u64) -> Option<u64> {
        std::mem::replace(self, Place(address)).get()
    }

    /// Has it be none; gives what it was before.
    pub fn take(&mut self) -> Option<u64> {
        std::mem::take(self).get()
    }
}

/// A function's number or none, in four bytes: none has the highest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FunctionNumber(u32);

impl Default for FunctionNumber {
    fn default() -> Self {
        FunctionNumber(u32::MAX)
    }
}

impl FunctionNumber {
    pub fn get(self) -> Option<u32> {
        Some(self.0).filter(|&number| number != u32::MAX)
    }

    /// Has it be this number, if it is none.
    pub fn set_first(&mut self, number: Option<u32>) {
        self.0 = self.get().or(number).unwrap_or(u32::MAX);
    }
}

/// The activations of coroutines on a stack, and the time of others that each of them resumed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Activations {
    /// The time that each open activation resumed others for, the outermost first.
    open: Vec<u64>,
    /// The time that the strand whose stack it is resumed others for.
    own: u64,
}

impl Activations {
    /// One begins, within those that are open.
    pub fn begin(&mut self) {
        self.open.push(0);
    }

    /// The innermost ends, which `ran` so long, others that it resumed included: gives the time of
    /// those.
    pub fn end(&mut self, ran: u64) -> u64 {
        let nested = self.open.pop();
        *self.open.last_mut().unwrap_or(&mut self.own) += ran;
        nested.unwrap_or(0)
    }

    /// The same of the outermost, within which others may be open.
    pub fn end_outermost(&mut self, ran: u64) -> u64 {
        self.own += ran;
        match self.open.is_empty() {
            true => 0,
            false => self.open.remove(0),
        }
    }
}

/// Where a fiber's stack is that lies within a thread's own: it is an array of a function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inner {
    /// The thread's own stack.
    pub own: u32,
    /// All its calls are above.
    pub low: u64,
    /// The thread's own calls that are open while it runs are here or lower.
    pub beneath: u64,
    /// The innermost open call around it, if one was recorded: with that, the stack is gone.
    pub around: Option<OpenCall>,
    /// The call next below, if the array may be in its frame: then the stack is gone with that.
    pub below: Option<OpenCall>,
}

/// An open call, by its stack pointer and its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OpenCall {
    pub sp: u64,
    pub enter: u64,
}

impl OpenCall {
    pub fn of(frame: &Frame) -> Self {
        OpenCall {
            sp: frame.sp,
            enter: frame.enter,
        }
    }
}

/// Whether a stack that lies within a thread's own is there still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Presence {
    /// It is: the function is open that has the array.
    Known,
    /// It may be: the function that has the array was not recorded.
    Assumed,
    /// It is if the array is the function's around it, which is open, and not if it is that of the
    /// function below, which has returned.
    Open,
    /// It is not: the function that has the array has returned.
    Gone,
}

impl Stack {
    /// The slot of a stack that no strand has any more.
    pub const SPENT: u32 = u32::MAX;

    #[inline]
    pub fn top(&self) -> Option<&Frame> {
        self.frames.last()
    }

    /// Whether `sp` is where its outermost call is, give or take the difference of two functions'
    /// frames, so that another call there is one of another fiber's.
    pub fn begins_near(&self, sp: u64) -> bool {
        let (first, last) = (self.frames.first(), self.frames.last());
        first.is_some_and(|first| first.sp.abs_diff(sp) < FRAMES)
            && last.is_some_and(|last| last.sp <= sp)
    }

    /// Whether `sp` lies among its open calls, and not near the outermost: those below have been
    /// left by an exception.
    pub fn is_unwound_to(&self, sp: u64) -> bool {
        let (first, last) = (self.frames.first(), self.frames.last());
        first.is_some_and(|first| sp < first.sp)
            && last.is_some_and(|last| last.sp <= sp)
            && !self.begins_near(sp)
    }

    /// Time that coroutines took which it resumed itself.
    pub fn nested(&self) -> u64 {
        self.activations.as_ref().map_or(0, |all| all.own)
    }

    /// The memory of its lists, for another stack.
    fn take_lists(&mut self) -> (FrameList, Option<Box<Activations>>) {
        let mut activations = self.activations.take();
        if let Some(all) = &mut activations {
            all.own = 0;
        }
        (std::mem::take(&mut self.frames), activations)
    }

    /// Whether a coroutine runs on it.
    pub fn runs_coroutine(&self) -> bool {
        self.innermost() != self.slot
    }

    /// The slot of the strand that runs on it.
    #[inline]
    pub fn innermost(&self) -> u32 {
        self.frames.last().map_or(self.slot, |frame| frame.slot)
    }
}

/// All stacks, by number. When no strand has a stack any more, its number is given to another one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stacks {
    all: Vec<Stack>,
    free: Vec<u32>,
    resting: Resting,
    /// The stacks that lie within threads' own.
    inner: Vec<u32>,
}

impl Index<u32> for Stacks {
    type Output = Stack;

    #[inline]
    fn index(&self, stack: u32) -> &Stack {
        &self.all[stack as usize]
    }
}

impl IndexMut<u32> for Stacks {
    #[inline]
    fn index_mut(&mut self, stack: u32) -> &mut Stack {
        &mut self.all[stack as usize]
    }
}

impl Stacks {
    /// Adds a stack: gives its number.
    pub fn add(&mut self, new: Stack) -> u32 {
        let Some(stack) = self.free.pop() else {
            self.all.push(new);
            return self.all.len() as u32 - 1;
        };
        let spent = &mut self[stack];
        let (frames, activations) = spent.take_lists();
        *spent = Stack {
            frames,
            activations,
            ..new
        };
        stack
    }

    /// Frees a stack without open calls: no strand has it any more.
    pub fn remove(&mut self, stack: u32) {
        if self[stack].inner.is_some() {
            self.inner.retain(|&inner| inner != stack);
        }
        let state = &mut self[stack];
        let (frames, activations) = state.take_lists();
        *state = Stack {
            slot: Stack::SPENT,
            frames,
            activations,
            ..Stack::default()
        };
        self.free.push(stack);
    }

    /// A stack lies within a thread's own.
    pub fn lies_within(&mut self, stack: u32, inner: Inner) {
        self[stack].inner = Some(Box::new(inner));
        self.inner.push(stack);
    }

    /// The stacks that lie within threads' own.
    pub fn inner(&self) -> &[u32] {
        &self.inner
    }

    /// The number of stacks, those that no strand has any more included.
    pub fn len(&self) -> u32 {
        self.all.len() as u32
    }

    /// The stack that does not run whose innermost call is at or next above `sp`, and where.
    #[inline]
    pub fn above(&self, sp: u64) -> Option<(u64, u32)> {
        self.resting
            .above(sp)
            .find(|&(_, stack)| !self[stack].running)
    }

    /// The stack that does not run whose innermost call is next below `sp`, and where.
    #[inline]
    pub fn below(&self, sp: u64) -> Option<(u64, u32)> {
        self.resting
            .below(sp)
            .find(|&(_, stack)| !self[stack].running)
    }

    /// [`Stacks::below`] and [`Stacks::above`].
    #[inline]
    pub fn around(&self, sp: u64) -> [Option<(u64, u32)>; 2] {
        let nearest = self.resting.open.around(sp);
        let [below, above] = nearest.map(|entry| entry.map(|(top, &stack)| (top, stack)));
        let runs = |entry: Option<(u64, u32)>| entry.is_some_and(|(_, stack)| self[stack].running);
        [
            if runs(below) { self.below(sp) } else { below },
            if runs(above) { self.above(sp) } else { above },
        ]
    }

    /// The stack that does not run whose innermost call is at `sp`.
    #[inline]
    pub fn resting_at(&self, sp: u64) -> Option<u32> {
        let kept = self.resting.at(sp);
        kept.filter(|&stack| !self[stack].running)
    }

    /// Where stacks are that do not run.
    pub fn resting(&self) -> &Resting {
        &self.resting
    }

    /// Has `stack` be kept at `sp`. Whether it was not kept there before: then what is in its place
    /// is to be cleared, and [`Stacks::keep`] called.
    #[inline]
    pub fn moves_to(&mut self, stack: u32, sp: u64) -> bool {
        let kept = self[stack].kept_at.replace(sp);
        if let Some(kept) = kept.filter(|&kept| kept != sp) {
            self.resting.forget(kept);
        }
        kept != Some(sp)
    }

    /// Keeps `stack` at `sp`, instead of what was there.
    #[inline]
    pub fn keep(&mut self, stack: u32, sp: u64) {
        if let Some(other) = self.resting.keep(sp, stack) {
            self[other].kept_at = Place::default();
        }
    }

    /// Does not keep `stack` any more.
    pub fn forget(&mut self, stack: u32) {
        if let Some(kept) = self[stack].kept_at.take() {
            self.resting.forget(kept);
        }
    }

    /// Keeps `stack`, which has no calls, where it began; gives another that does not run and was
    /// there.
    pub fn keep_empty(&mut self, stack: u32) -> Option<u32> {
        let other = self.resting.empty.insert(self[stack].base, stack);
        other.filter(|&other| other != stack && !self[other].running)
    }

    /// Does not keep `stack` any more if it has no calls.
    #[inline]
    pub fn forget_empty(&mut self, stack: u32) {
        // In most programs, fibers rest within a call, so that this map has no entries.
        if self.resting.empty.is_empty() {
            return;
        }
        let state = &self[stack];
        if state.frames.is_empty() && self.resting.empty.get(state.base) == Some(&stack) {
            let base = state.base;
            self.resting.empty.remove(base);
        }
    }
}

/// The suspended stacks by the stack pointers of their innermost calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct Resting {
    /// Stacks with open calls, also those that run again: these stay where they rested last.
    open: AddressMap<u32>,
    /// Stacks whose outermost call has ended, by its stack pointer. Their code may call again, or
    /// be gone.
    empty: AddressMap<u32>,
}

impl Resting {
    /// Keeps `stack` at `sp`; returns the stack that was kept there before.
    #[inline]
    pub fn keep(&mut self, sp: u64, stack: u32) -> Option<u32> {
        self.open.insert(sp, stack)
    }

    /// Does not keep anything at `sp`.
    pub fn forget(&mut self, sp: u64) {
        self.open.remove(sp);
    }

    /// The stack that is kept at `sp`.
    #[inline]
    pub fn at(&self, sp: u64) -> Option<u32> {
        self.open.get(sp).copied()
    }

    /// The stacks that are kept at and above `sp`, the nearest first.
    pub fn above(&self, sp: u64) -> impl Iterator<Item = (u64, u32)> + '_ {
        self.open.from(sp).map(|(top, &stack)| (top, stack))
    }

    /// The stacks that are kept below `sp`, the nearest first.
    pub fn below(&self, sp: u64) -> impl Iterator<Item = (u64, u32)> + '_ {
        self.open.below(sp).map(|(top, &stack)| (top, stack))
    }

    /// The stacks that are kept in this place, with open calls or without.
    pub fn within(&self, place: &Range<u64>) -> impl Iterator<Item = u32> + '_ {
        let Range { start, end } = *place;
        let kept = [&self.open, &self.empty].into_iter().flat_map(move |kept| {
            let above = kept.from(start);
            above.take_while(move |&(at, _)| at < end)
        });
        kept.map(|(_, &stack)| stack)
    }

    /// The empty stack nearest to `sp`, within `reach`.
    #[inline]
    pub fn empty_near(&self, sp: u64, reach: u64) -> Option<u32> {
        if self.empty.is_empty() {
            return None;
        }
        let near = self.empty.from(sp.saturating_sub(reach));
        near.take_while(|&(base, _)| base <= sp.saturating_add(reach))
            .min_by_key(|(base, _)| base.abs_diff(sp))
            .map(|(_, &stack)| stack)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_an_activation_is_that_of_what_resumed_it() {
        let mut all = Activations::default();
        all.begin();
        all.begin();
        all.begin();
        assert_eq!(all.end(5), 0);
        assert_eq!(all.end(20), 5);
        assert_eq!(all.end(100), 20);
        assert_eq!((all.open.len(), all.own), (0, 100));
    }

    #[test]
    fn the_outermost_activation_may_end_before_one_that_it_resumed() {
        let mut all = Activations::default();
        all.begin();
        all.begin();
        assert_eq!(all.end_outermost(30), 0);
        assert_eq!((all.open.len(), all.own), (1, 30));
        assert_eq!(all.end(7), 0);
        assert_eq!(all.own, 37);
        assert_eq!(all.end_outermost(1), 0);
    }
}

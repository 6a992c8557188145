//! Calls that were taken for gone, though they had no exit.
//!
//! Where a thread's stack pointer is above an open call, that was left by an exception or
//! `longjmp`. But the memory above it may also be a fiber's stack: an array of a function that is
//! open. And where a fiber begins on a stack that another has calls on, that other one was
//! destroyed. But it may also have been copied to another place, or share the stack.
//!
//! In both cases, the call goes on later, and its exit comes, or a call that it makes: that tells
//! one from the other.

use crate::stacks::{BASE, Frame};
use heddle_trace_file::{Callee, Way};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, VecDeque};

/// So many of those on threads' own stacks are remembered: those that were left last.
const REMEMBERED: usize = 256;

/// With calls of fibers at so many places remembered, all are forgotten.
const PLACES: usize = 1 << 16;

/// A call that was taken for gone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gone {
    /// See [`Frame::function`].
    pub function: u64,
    /// The number of the function whose code it ran.
    pub body: u32,
    pub sp: u64,
    pub is_entry: bool,
    /// When it was entered.
    pub enter: u64,
    /// Gaps that its thread had had at its enter.
    pub gaps: u32,
}

impl Gone {
    fn new(frame: &Frame) -> Self {
        Gone {
            function: frame.function,
            body: frame.body,
            sp: frame.sp,
            is_entry: frame.is(Frame::ENTRY),
            enter: frame.enter,
            gaps: frame.gaps,
        }
    }

    /// Whether this exit can be its.
    fn fits(&self, function: Callee, sp: u64, way: Way) -> bool {
        self.sp == sp
            && match way {
                Way::Entry => self.is_entry,
                Way::Instrumented => {
                    !self.is_entry && function.may_be(heddle_trace_file::Addr(self.function))
                }
            }
    }
}

/// A call on a thread's own stack, or one within that. If it is not gone, a fiber has begun there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GoneWithin {
    pub call: Gone,
    /// The site of the call with which that fiber has begun.
    site: u64,
    /// It is the first call of those that were left with it that no instrumented function has made,
    /// or lies within that: it may be a fiber's. Others are left by exceptions and jumps alone.
    pub may_be_fibers: bool,
}

/// A call on a fiber's stack. If it is not gone, that fiber shares its stack with others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GoneOnFiber {
    pub call: Gone,
    /// Where the fiber's outermost call is.
    pub base: u64,
    pub fiber: u64,
}

/// The calls that were taken for gone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lost {
    /// The latest last.
    within: VecDeque<GoneWithin>,
    /// By stack pointer: the latest of each function.
    on_fibers: BTreeMap<u64, Vec<GoneOnFiber>>,
}

impl Lost {
    /// These calls on a thread's own stack, or one within that, are taken for gone. If they are
    /// not, a fiber has begun with a call from `site`. A fiber's may be those behind the first so
    /// many, `before`.
    pub fn add_within(&mut self, frames: &[Frame], site: u64, before: usize) {
        for (index, frame) in frames.iter().enumerate() {
            if self.within.len() == REMEMBERED {
                self.within.pop_front();
            }
            self.within.push_back(GoneWithin {
                call: Gone::new(frame),
                site,
                may_be_fibers: index >= before,
            });
        }
    }

    /// These calls of a fiber, which has its outermost call at `base`, are taken for gone.
    pub fn add_on_fiber(&mut self, frames: &[Frame], base: u64, fiber: u64) {
        for frame in frames {
            if self.on_fibers.len() >= PLACES {
                self.on_fibers.clear();
            }
            let call = Gone::new(frame);
            let at = self.on_fibers.entry(frame.sp).or_default();
            let same = |gone: &&mut GoneOnFiber| {
                gone.call.function == call.function && gone.call.is_entry == call.is_entry
            };
            let gone = GoneOnFiber { call, base, fiber };
            match at.iter_mut().find(same) {
                Some(before) => *before = gone,
                None => at.push(gone),
            }
        }
    }

    /// Whether none was on a thread's own stack.
    pub fn has_none_within(&self) -> bool {
        self.within.is_empty()
    }

    /// The site of the call with which a fiber has begun on a stack within a thread's own, if this
    /// exit is that of a call that was taken for gone there. See [`Lost::inner_site`] for `gaps`.
    pub fn left_within(&self, gaps: u32, function: Callee, sp: u64, way: Way) -> Option<u64> {
        self.inner_site(gaps, |gone| gone.call.fits(function, sp, way))
    }

    /// The calls of fibers that were taken for gone, and may have this exit.
    pub fn left_on_fibers(
        &self,
        function: Callee,
        sp: u64,
        way: Way,
    ) -> impl Iterator<Item = &GoneOnFiber> {
        let at = self.on_fibers.get(&sp).into_iter().flatten();
        at.filter(move |gone| gone.call.fits(function, sp, way))
    }

    /// The calls of fibers that were taken for gone, less than `bytes` above `sp`.
    pub fn above(&self, sp: u64, bytes: u64) -> impl Iterator<Item = &GoneOnFiber> {
        let above = self
            .on_fibers
            .range(sp.saturating_add(1)..sp.saturating_add(bytes));
        above.flat_map(|(_, gone)| gone)
    }

    /// The site of the call with which a fiber has begun on a stack within a thread's own, if one
    /// of the calls that were taken for gone there goes on for certain: `is_it`. Its thread has had
    /// so many `gaps`: what was left before the latest may be gone indeed, and another there.
    pub fn inner_site(&self, gaps: u32, is_it: impl Fn(&GoneWithin) -> bool) -> Option<u64> {
        let mut gone = self.within.iter().rev();
        let gone = gone.find(|gone| gone.call.gaps == gaps && is_it(gone));
        gone.map(|gone| gone.site)
    }
}

/// Calls of fibers that went on after they were taken for gone, by stack pointer and function: the
/// times between which one was entered and one went on. Where several were taken for gone, any of
/// them may have gone on.
#[derive(Clone, Debug, Default)]
pub(crate) struct WentOn(FxHashMap<(u64, u64), (u64, u64)>);

impl WentOn {
    /// This call was found to go on at `time`; those that were entered before it, too, unless
    /// `alone`.
    pub fn note(&mut self, call: &Gone, alone: bool, time: u64) {
        let from = if alone { call.enter } else { 0 };
        let (first, last) = self
            .0
            .entry((call.sp, call.function))
            .or_insert((from, time));
        (*first, *last) = (from.min(*first), time.max(*last));
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The time at which this call, or one like it, goes on last, though it is taken for gone at
    /// `now`.
    pub fn until(&self, frame: &Frame, now: u64) -> Option<u64> {
        let &(first, last) = self.0.get(&(frame.sp, frame.function))?;
        (first <= frame.enter && now < last).then_some(last)
    }
}

/// The stacks on which a fiber has begun though the one before goes on.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedStacks(Vec<SharedStack>);

/// Such a stack: from its lowest open call to its outermost one, up to some time.
#[derive(Clone, Copy, Debug)]
struct SharedStack {
    lowest: u64,
    base: u64,
    until: u64,
}

impl SharedStack {
    /// Another fiber that has this place shares it.
    fn extend(&mut self, other: &SharedStack) {
        self.lowest = self.lowest.min(other.lowest);
        self.base = self.base.max(other.base);
        self.until = self.until.max(other.until);
    }
}

impl SharedStacks {
    /// The fiber that has these calls on its stack is taken for gone at `now`, but goes on up to
    /// `until`.
    pub fn add(&mut self, frames: &[Frame], now: u64, until: u64) {
        let [first, ..] = frames else {
            return;
        };
        let lowest = frames.iter().map(|frame| frame.sp).min();
        let new = SharedStack {
            lowest: lowest.unwrap_or(first.sp),
            base: first.sp,
            until,
        };
        self.0.retain(|stack| now < stack.until);
        // Many fibers share a stack, and there are few such stacks.
        let mut stacks = self.0.iter_mut();
        match stacks.find(|stack| stack.lowest <= new.base && new.lowest <= stack.base) {
            Some(stack) => stack.extend(&new),
            None => self.0.push(new),
        }
    }

    /// Whether a fiber that has its outermost call at `sp` at `now` shares its stack.
    pub fn holds(&self, sp: u64, now: u64) -> bool {
        self.0.iter().any(|stack| {
            now < stack.until
                && stack.lowest.saturating_sub(BASE) < sp
                && sp < stack.base.saturating_add(BASE)
        })
    }
}

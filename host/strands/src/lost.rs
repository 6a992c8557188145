//! Calls that were taken for gone, though they had no exit.
//!
//! Where a thread's stack pointer is above an open call, that was left by an exception or
//! `longjmp`. But the memory above it may also be a fiber's stack: an array of a function that is
//! open. And where a fiber begins on a stack that another has calls on, that other one was
//! destroyed. But it may also have been copied to another place, or share the stack.
//!
//! In both cases, the call goes on later, and its exit comes, or a call that it makes: that tells
//! one from the other.

use crate::stacks::Frame;
use heddle_trace_file::{Callee, Way};
use std::collections::VecDeque;

/// So many of them are remembered: those that were left last.
const REMEMBERED: usize = 256;

/// A call that was taken for gone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gone {
    /// See [`Frame::function`].
    pub function: u64,
    /// The number of the function whose code it ran.
    pub body: u32,
    pub sp: u64,
    pub is_entry: bool,
    /// It is the first call of those that were left with it that no instrumented function has made,
    /// or lies within that: it may be a fiber's. Others are left by exceptions and jumps alone.
    pub may_be_fibers: bool,
    /// Gaps that its thread had had at its enter.
    gaps: u32,
    proves: Proof,
}

/// What the exit of a call that was taken for gone proves.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Proof {
    /// A fiber has begun on a stack within the thread's own, with a call from this site.
    Inner { site: u64 },
    /// This fiber shares the stack that has its outermost call here.
    Shared { base: u64, fiber: u64 },
}

/// The calls that were taken for gone, the latest last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lost(VecDeque<Gone>);

impl Lost {
    /// These calls are taken for gone; `proves`: what if they are not. A fiber's may be those
    /// behind the first so many, `before`.
    pub fn add(&mut self, frames: &[Frame], proves: Proof, before: usize) {
        for (index, frame) in frames.iter().enumerate() {
            if self.0.len() == REMEMBERED {
                self.0.pop_front();
            }
            self.0.push_back(Gone {
                function: frame.function,
                body: frame.body,
                sp: frame.sp,
                is_entry: frame.is(Frame::ENTRY),
                may_be_fibers: index >= before,
                gaps: frame.gaps,
                proves,
            });
        }
    }

    /// Whether there was none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What this exit proves, if it is that of a call that was taken for gone.
    pub fn proves(&self, function: Callee, sp: u64, way: Way) -> Option<Proof> {
        let is_it = |gone: &&Gone| {
            gone.sp == sp
                && match way {
                    Way::Entry => gone.is_entry,
                    Way::Instrumented => {
                        !gone.is_entry && function.may_be(heddle_trace_file::Addr(gone.function))
                    }
                }
        };
        let gone = self.0.iter().rev().find(is_it);
        gone.map(|gone| gone.proves)
    }

    /// The site of the call with which a fiber has begun on a stack within a thread's own, if one
    /// of the calls that were taken for gone there goes on for certain: `is_it`. Its thread has had
    /// so many `gaps`: what was left before the latest may be gone indeed, and another there.
    pub fn inner_site(&self, gaps: u32, is_it: impl Fn(&Gone) -> bool) -> Option<u64> {
        let gone = self.0.iter().rev();
        gone.filter(|gone| gone.gaps == gaps)
            .find_map(|gone| match gone.proves {
                Proof::Inner { site } if is_it(gone) => Some(site),
                _ => None,
            })
    }
}

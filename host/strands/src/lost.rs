//! Calls that were taken for gone, though they had no exit.
//!
//! Where a thread's stack pointer is above an open call, that was left by an exception or
//! `longjmp`. But the memory above it may also be a fiber's stack: an array of a function that is
//! open. And where a fiber begins on a stack that another has calls on, that other one was
//! destroyed. But it may also have been copied to another place, or share the stack.
//!
//! In both cases, the call goes on later, and its exit comes: that tells one from the other.

use crate::stacks::Frame;
use heddle_trace_file::{Callee, Way};
use std::collections::VecDeque;

/// So many of them are remembered: those that were left last.
const REMEMBERED: usize = 256;

/// A call that was taken for gone.
#[derive(Clone, Copy, Debug)]
struct Gone {
    function: u64,
    sp: u64,
    is_entry: bool,
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
    /// These calls are taken for gone; `proves`: what if they are not.
    pub fn add(&mut self, frames: &[Frame], proves: Proof) {
        for frame in frames {
            if self.0.len() == REMEMBERED {
                self.0.pop_front();
            }
            self.0.push_back(Gone {
                function: frame.function,
                sp: frame.sp,
                is_entry: frame.is(Frame::ENTRY),
                proves,
            });
        }
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
}

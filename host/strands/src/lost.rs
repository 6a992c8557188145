//! Calls on a thread's own stack that were taken for gone, though they had no exit.
//!
//! Where the stack pointer is above an open call, that was left by an exception or `longjmp`. But
//! the memory above it may also be a fiber's stack: an array of a function that is open. Then the
//! call goes on later, and its exit comes: that tells one from the other.

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
    /// The call site from which a fiber began, if it was not gone.
    site: u64,
}

/// The calls that were taken for gone, the latest last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lost(VecDeque<Gone>);

impl Lost {
    /// These calls are taken for gone; `site`: what has called a fiber's outermost call, if that is
    /// why they are not innermost any more.
    pub fn add(&mut self, frames: &[Frame], site: u64) {
        for frame in frames {
            if self.0.len() == REMEMBERED {
                self.0.pop_front();
            }
            self.0.push_back(Gone {
                function: frame.function,
                sp: frame.sp,
                is_entry: frame.is(Frame::ENTRY),
                site,
            });
        }
    }

    /// The call site from which a fiber began, if this exit is that of a call that was taken for
    /// gone.
    pub fn begun_from(&self, function: Callee, sp: u64, way: Way) -> Option<u64> {
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
        gone.map(|gone| gone.site)
    }
}

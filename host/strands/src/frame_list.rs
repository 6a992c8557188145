//! The open calls of one stack: few of them in place, because there may be a million stacks, and an
//! allocation for each would take as long as all the rest of its birth.

use std::ops::{Deref, DerefMut};

/// An open call. Times are nanoseconds, addresses are bare: there may be millions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Frame {
    pub function: u64,
    pub caller: u64,
    pub sp: u64,
    pub enter: u64,
    /// Time that its callees ran.
    pub callees: u64,
    /// Time that its stack had not run when it was entered.
    pub suspended: u64,
    /// The function whose machine code runs: an inlined call's is its container's.
    pub body: u32,
    /// The function's number.
    pub callee: u32,
    /// The strand's slot.
    pub slot: u32,
    pub depth: u32,
    /// Gaps that its thread had had by then.
    pub gaps: u32,
    pub flags: u16,
}

impl Frame {
    /// Told of by `-mfentry`.
    pub const ENTRY: u16 = 1;
    pub const INLINED: u16 = 2;
    /// A coroutine runs from its enter to its exit.
    pub const ACTIVATION: u16 = 4;
    /// It is the body of a coroutine.
    pub const COROUTINE: u16 = 8;
    /// It makes a coroutine, and none that was made in it has been seen yet.
    pub const RAMP: u16 = 16;
    /// It destroys its coroutine.
    pub const DESTROYS: u16 = 32;
    /// The call is a signal's handler, which may run on any stack.
    pub const HANDLER: u16 = 64;
    /// The call was taken for a callback: the first look counts how these end.
    pub const CALLBACK: u16 = 128;
    /// A call that was taken for one that this call made may be an outer call's of its function, or
    /// another fiber's, if this one was gone by then. Its exit shows that it was not.
    pub const PERHAPS_GONE: u16 = 256;
    /// The flags of calls whose end has to be looked at.
    pub const NOTED_AT_END: u16 =
        Self::ACTIVATION | Self::RAMP | Self::DESTROYS | Self::CALLBACK | Self::PERHAPS_GONE;

    pub fn is(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }
}

/// As many calls as most fibers have open when they are suspended.
const FEW: usize = 2;

/// Open calls, outermost first.
#[derive(Clone, Debug, Default)]
pub(crate) struct FrameList {
    /// All of them as long as `many` is empty; else none.
    few: [Frame; FEW],
    /// The number of those.
    len: u32,
    /// All of them once they were more, until the last has ended.
    many: Vec<Frame>,
}

impl FrameList {
    /// Adds a call, the innermost.
    #[inline]
    pub fn push(&mut self, frame: Frame) {
        match self.few.get_mut(self.len as usize) {
            Some(free) if self.many.is_empty() => {
                *free = frame;
                self.len += 1;
            }
            _ => self.push_to_many(frame),
        }
    }

    #[inline]
    fn push_to_many(&mut self, frame: Frame) {
        if self.many.is_empty() {
            self.spill();
        }
        self.many.push(frame);
    }

    #[cold]
    #[inline(never)]
    fn spill(&mut self) {
        self.many.extend_from_slice(&self.few);
        self.len = 0;
    }

    /// Removes all of them.
    pub fn clear(&mut self) {
        self.many.clear();
        self.len = 0;
    }

    /// Removes the innermost call, if there is one.
    #[inline]
    pub fn pop(&mut self) {
        if self.many.pop().is_none() {
            self.len = self.len.saturating_sub(1);
        }
    }
}

impl Deref for FrameList {
    type Target = [Frame];

    #[inline(always)]
    fn deref(&self) -> &[Frame] {
        match self.many.is_empty() {
            true => self.few.get(..self.len as usize).unwrap_or_default(),
            false => &self.many,
        }
    }
}

impl DerefMut for FrameList {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [Frame] {
        match self.many.is_empty() {
            true => self.few.get_mut(..self.len as usize).unwrap_or_default(),
            false => &mut self.many,
        }
    }
}

impl<'a> IntoIterator for &'a FrameList {
    type Item = &'a Frame;
    type IntoIter = std::slice::Iter<'a, Frame>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_kept_in_order_however_many_there_are() {
        let (mut list, mut plain, mut random) = (FrameList::default(), Vec::new(), 1_u64);
        for number in 0..10_000 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            if random >> 63 == 0 {
                list.push(Frame {
                    sp: number,
                    ..Frame::default()
                });
                plain.push(number);
            } else {
                list.pop();
                plain.pop();
            }
            assert!(list.iter().map(|frame| frame.sp).eq(plain.iter().copied()));
            if let (Some(last), Some(same)) = (list.last_mut(), plain.last_mut()) {
                (last.sp, *same) = (last.sp + 1, *same + 1);
            }
        }
    }
}

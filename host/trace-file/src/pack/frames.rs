//! The calls that are open, as far as predictions need them.

use crate::layout::FUNCTION_BITS;

/// An open call.
#[derive(Clone, Copy, Debug, Default)]
pub struct Frame {
    /// The stack pointer above the base, as the record has it.
    pub stack: u64,
    /// Index of its function and call site.
    pub pair: u32,
    bits: u16,
}

impl Frame {
    /// The bits of the function's address that its exit records.
    pub fn bits(&self, entry_way: bool) -> u64 {
        if entry_way { 0 } else { u64::from(self.bits) }
    }
}

/// A stack of them. Those that were left without an exit go when a call takes their place.
#[derive(Default)]
pub struct Frames {
    open: Vec<Frame>,
}

impl Frames {
    /// The latest; all zeros if there is none.
    pub fn top(&self) -> Frame {
        self.open.last().copied().unwrap_or_default()
    }

    /// A call with this second word.
    pub fn enter(&mut self, pair: u32, stack: u64, word: u64) {
        while self.open.last().is_some_and(|frame| frame.stack < stack) {
            self.open.pop();
        }
        let bits = (word >> (32 + 4) & ((1 << FUNCTION_BITS) - 1)) as u16;
        self.open.push(Frame { stack, pair, bits });
    }

    /// The latest is over.
    pub fn leave(&mut self) -> Option<Frame> {
        self.open.pop()
    }
}

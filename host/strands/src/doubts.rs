//! Why calls on a strand may be another strand's.

use std::ops::{BitOr, BitOrAssign};

/// The reasons to doubt that a strand is one strand, and has all its calls and no other's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Doubts(u16);

impl Doubts {
    /// No reason.
    pub const NONE: Doubts = Doubts(0);
    /// Calls were open on its stack before the first that was recorded: recording began inside
    /// them, or they have no hooks.
    pub const BEGUN_BEFORE: Doubts = Doubts(1);
    /// The caller of one of its calls is open nowhere, was found at an unusual distance, or may be
    /// another of its function's open calls, because one has no exit; or an exit among its calls
    /// belongs to none of them.
    pub const CALLER: Doubts = Doubts(2);
    /// Events are missing of a time when it was there.
    pub const GAP: Doubts = Doubts(4);
    /// Too little was seen of the call site that its outermost calls come from: it may be part of
    /// another fiber, or several fibers, one after another on one stack.
    pub const START: Doubts = Doubts(8);
    /// Too little was seen of a call site to say whether a call from there was a callback on this
    /// stack, or another fiber's outermost call.
    pub const CALLBACK: Doubts = Doubts(16);
    /// Others share its memory: fibers its stack, where they are copied or have calls at the same
    /// time; instances of its coroutine its frame, one after another. Or threads share the fiber,
    /// and in which order its calls on them were is not exact.
    pub const SHARED: Doubts = Doubts(32);
    /// The recording was filtered, and calls are missing that tell whose others are.
    pub const FILTERED: Doubts = Doubts(64);
    /// The program itself has said who runs: then nothing else matters, but that fibers share a
    /// stack, or what the filters of a recording have left out.
    pub(crate) const ANNOUNCED: Doubts = Doubts(128);
    /// No symbol says whose the function is that was taken for its body: it may be no coroutine's.
    /// Then there is no such instance, and its calls are those of the strand that ran it.
    pub const NO_SYMBOL: Doubts = Doubts(256);

    /// Every reason by itself, and that it was announced.
    #[cfg(test)]
    pub(crate) const ALL: [Doubts; Self::WORDS.len() + 1] = {
        let mut all = [Doubts::ANNOUNCED; Self::WORDS.len() + 1];
        let mut index = 0;
        while index < Self::WORDS.len() {
            all[index] = Self::WORDS[index].0;
            index += 1;
        }
        all
    };

    /// The reasons, each with its words, the weightiest first.
    const WORDS: [(Doubts, &'static str); 8] = [
        (
            Doubts::NO_SYMBOL,
            "its function has no symbol, and may be no coroutine's",
        ),
        (
            Doubts::FILTERED,
            "the recording was filtered, and lacks calls that tell",
        ),
        (
            Doubts::SHARED,
            "others share its stack or frame, or the order in which threads ran it is not exact",
        ),
        (
            Doubts::BEGUN_BEFORE,
            "its first recorded call was made inside others, which were not recorded",
        ),
        (
            Doubts::START,
            "too few fibers were seen to begin where it did",
        ),
        (
            Doubts::CALLBACK,
            "a call from uninstrumented code may be another fiber's",
        ),
        (
            Doubts::GAP,
            "events are missing of a time when it was there",
        ),
        (
            Doubts::CALLER,
            "which call made one of its calls, or has one of its exits, was not recorded",
        ),
    ];

    /// Whether there is no reason to doubt.
    pub fn is_none(self) -> bool {
        let weighty = Doubts::FILTERED | Doubts::SHARED;
        self.0 == 0 || (self.holds(Doubts::ANNOUNCED) && !self.holds(weighty))
    }

    /// The reasons as bits, of which the highest two are 0.
    #[inline]
    pub(crate) fn bits(self) -> u16 {
        self.0
    }

    /// The reasons that were given as bits.
    #[inline]
    pub(crate) fn of_bits(bits: u16) -> Self {
        Doubts(bits)
    }

    /// Whether this reason is among them.
    pub fn holds(self, reason: Doubts) -> bool {
        self.0 & reason.0 != 0
    }

    /// The weightiest reason in words; `None` if there is none.
    pub fn why(self) -> Option<&'static str> {
        let mut reasons = Self::WORDS.iter().filter(|(reason, _)| self.holds(*reason));
        let first = reasons.next().filter(|_| !self.is_none());
        first.map(|&(_, words)| words)
    }
}

impl BitOr for Doubts {
    type Output = Doubts;

    fn bitor(self, other: Doubts) -> Doubts {
        Doubts(self.0 | other.0)
    }
}

impl BitOrAssign for Doubts {
    fn bitor_assign(&mut self, other: Doubts) {
        self.0 |= other.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_weightiest_reason_is_told_and_none_of_an_announced_strand() {
        let doubts = Doubts::CALLER | Doubts::START;
        assert_eq!(doubts.why(), Doubts::START.why());
        assert!(!doubts.is_none() && Doubts::NONE.is_none());
        let announced = doubts | Doubts::ANNOUNCED;
        assert!(announced.is_none() && announced.why().is_none());
        assert_eq!(Doubts::NONE.why(), None);
    }
}

//! Captures on their way to their enters.
//!
//! A capture is stored right before the enter that it belongs to, but a signal handler's calls,
//! with captures of their own, may come between: so they nest. One whose enter was never recorded
//! (a filter left it out) stays until an outer one is taken, or until newer ones push it out. Where
//! a run begins, only a capture that was the last record of the run before it counts: so a run that
//! is decoded on its own gives the same events.

use crate::CoroutineFrame;

/// The most captures that are kept. Handlers may nest as deep as there are signals, but in practice
/// they nest two or three deep.
const MOST: usize = 16;

/// The captures whose enter has not come, oldest first, each with the low half of its function's
/// address.
#[derive(Clone, Debug, Default)]
pub struct Captures {
    pending: Vec<(u32, CoroutineFrame)>,
}

impl Captures {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    /// A capture in the function with these low bits of its address.
    pub fn push(&mut self, function: u32, frame: CoroutineFrame) {
        if self.pending.len() >= MOST {
            self.pending.remove(0);
        }
        self.pending.push((function, frame));
    }

    /// The capture that belongs to the enter of this function. Later captures have lost their
    /// enters.
    #[cold]
    #[inline(never)]
    pub fn take(&mut self, function: u32) -> Option<CoroutineFrame> {
        let index = self
            .pending
            .iter()
            .rposition(|(captured, _)| *captured == function)?;
        let frame = self.pending[index].1;
        self.pending.truncate(index);
        Some(frame)
    }

    /// Forgets all but what the run before ended with.
    pub fn begin_run(&mut self, last: Option<(u32, CoroutineFrame)>) {
        self.pending.clear();
        self.pending.extend(last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handlers_nest_and_what_lost_its_enter_is_forgotten() {
        let frame = |number: u64| CoroutineFrame::from_word(number).unwrap();
        let mut captures = Captures::default();
        captures.push(1, frame(0x10));
        captures.push(2, frame(0x20)); // its enter is missing
        captures.push(3, frame(0x30));
        assert_eq!(captures.take(4), None);
        assert_eq!(captures.take(3), Some(frame(0x30)));
        assert_eq!(captures.take(1), Some(frame(0x10)));
        assert_eq!(captures.take(2), None);
        assert!(captures.is_empty());
        for number in 1..=20 {
            captures.push(number, frame(u64::from(number)));
        }
        assert_eq!(captures.take(4), None);
        assert_eq!(captures.take(5), Some(frame(5)));
    }
}

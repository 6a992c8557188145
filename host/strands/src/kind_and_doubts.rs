//! What kind of strand one is and why it is doubted, in two bytes, where there may be millions.

use crate::doubts::Doubts;
use crate::strand::Kind;
use std::num::NonZeroU16;

/// The bits that hold the kind, as its number and 1: an `Option` takes no more memory.
const KIND: u16 = 3;

/// A kind and doubts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KindAndDoubts(NonZeroU16);

impl KindAndDoubts {
    /// Each reason to doubt fits beside the kind.
    #[inline]
    pub fn new(kind: Kind, doubts: Doubts) -> Self {
        let kind = NonZeroU16::MIN.saturating_add(kind as u16);
        KindAndDoubts(kind | doubts.bits() << KIND.count_ones())
    }

    /// The kind.
    #[inline]
    pub fn kind(self) -> Kind {
        match (self.0.get() & KIND) - 1 {
            0 => Kind::Thread,
            1 => Kind::Fiber,
            _ => Kind::Coroutine,
        }
    }

    /// The doubts.
    #[inline]
    pub fn doubts(self) -> Doubts {
        Doubts::of_bits(self.0.get() >> KIND.count_ones())
    }

    /// There is one more reason to doubt, or more.
    #[inline]
    pub fn doubt(&mut self, reasons: Doubts) {
        *self = Self::new(self.kind(), self.doubts() | reasons);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_keeps_every_doubt() {
        for kind in [Kind::Thread, Kind::Fiber, Kind::Coroutine] {
            for reason in Doubts::ALL {
                let mut both = KindAndDoubts::new(kind, Doubts::NONE);
                assert_eq!((both.kind(), both.doubts()), (kind, Doubts::NONE));
                both.doubt(reason);
                assert_eq!((both.kind(), both.doubts()), (kind, reason));
                both.doubt(Doubts::CALLER);
                assert_eq!(both.doubts(), reason | Doubts::CALLER);
            }
        }
    }
}

//! Numbers in six bytes, where there may be millions.

/// A number below 2^48. As nanoseconds, that is 78 hours; as an address, what a program on x86-64
/// has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Short([u16; 3]);

impl Short {
    /// `None` if it is too large.
    #[inline]
    pub fn new(number: u64) -> Option<Self> {
        let parts = [number as u16, (number >> 16) as u16, (number >> 32) as u16];
        (number >> 48 == 0).then_some(Short(parts))
    }

    /// The number.
    #[inline]
    pub fn get(self) -> u64 {
        let [low, middle, high] = self.0;
        u64::from(low) | u64::from(middle) << 16 | u64::from(high) << 32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_kept_or_refused() {
        for number in [0, 1, 0xffff, 0x1_0000, 0x7ffd_1234_5678, (1 << 48) - 1] {
            assert_eq!(Short::new(number).map(Short::get), Some(number));
        }
        assert_eq!(Short::new(1 << 48), None);
        assert_eq!(Short::new(u64::MAX), None);
    }
}

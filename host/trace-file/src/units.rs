//! Numbers that must not be mixed up.

use std::fmt;
use std::ops::Sub;

/// Nanoseconds: a duration, or a time since the trace's first stamp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub u64);

/// A reading of the clock that the process header names, in its own unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticks(pub u64);

/// An address in the traced process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Addr(pub u64);

/// The time from `earlier` to `self`; zero where `earlier` is later.
impl Sub for Nanos {
    type Output = Nanos;

    fn sub(self, earlier: Nanos) -> Nanos {
        Nanos(self.0.saturating_sub(earlier.0))
    }
}

/// The shortest of ns, µs, ms and s that shows four digits: `812 ns`, `1.500 ms`.
impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self.0 {
            n @ 0..1_000 => format!("{n} ns"),
            n @ 1_000..1_000_000 => format!("{}.{:03} µs", n / 1_000, n % 1_000),
            n @ 1_000_000..1_000_000_000 => {
                format!("{}.{:03} ms", n / 1_000_000, n / 1_000 % 1_000)
            }
            n => format!("{}.{:03} s", n / 1_000_000_000, n / 1_000_000 % 1_000),
        };
        f.pad(&text)
    }
}

impl fmt::Display for Addr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{:#x}", self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_print_in_the_unit_that_fits() {
        let shown: Vec<String> = [0, 999, 1_000, 1_234_567, 61_000_000_000]
            .map(|n| Nanos(n).to_string())
            .into();
        assert_eq!(
            shown,
            ["0 ns", "999 ns", "1.000 µs", "1.234 ms", "61.000 s"]
        );
    }
}

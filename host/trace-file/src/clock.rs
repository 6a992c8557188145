//! From ticks to nanoseconds.

use crate::layout::StampBytes;
use crate::{Nanos, Ticks};
use std::time::Duration;

/// One reading of three clocks as close together as possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The trace's clock.
    pub ticks: Ticks,
    /// CLOCK_REALTIME, ns since 1970.
    pub realtime: Nanos,
    /// CLOCK_MONOTONIC_RAW.
    pub monotonic_raw: Nanos,
}

/// The clock that counts the ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockKind {
    /// The processor's time-stamp counter.
    Tsc,
    /// CLOCK_MONOTONIC_RAW, in ns.
    MonotonicRaw,
}

impl ClockKind {
    pub(crate) fn from_number(number: u32) -> Option<Self> {
        match number {
            1 => Some(ClockKind::Tsc),
            2 => Some(ClockKind::MonotonicRaw),
            _ => None,
        }
    }
}

impl From<StampBytes> for Stamp {
    fn from(bytes: StampBytes) -> Self {
        Stamp {
            ticks: Ticks(bytes.ticks.get()),
            realtime: Nanos(bytes.realtime.get()),
            monotonic_raw: Nanos(bytes.monotonic_raw.get()),
        }
    }
}

impl From<Stamp> for StampBytes {
    fn from(stamp: Stamp) -> Self {
        StampBytes {
            ticks: stamp.ticks.0.into(),
            realtime: stamp.realtime.0.into(),
            monotonic_raw: stamp.monotonic_raw.0.into(),
        }
    }
}

impl Stamp {
    /// Reads the clocks now; `None` where this machine does not have the clock.
    pub fn now(clock: ClockKind) -> Option<Self> {
        let monotonic_raw = Self::monotonic_raw_now();
        let ticks = match clock {
            ClockKind::MonotonicRaw => Ticks(monotonic_raw.0),
            ClockKind::Tsc => tsc()?,
        };
        Some(Stamp {
            ticks,
            realtime: read(libc::CLOCK_REALTIME),
            monotonic_raw,
        })
    }

    /// One that is long enough after this one to give the rate: in a program's first milliseconds,
    /// it is waited for.
    pub(crate) fn later(self, clock: ClockKind) -> Option<Self> {
        let age = Self::monotonic_raw_now()
            .0
            .saturating_sub(self.monotonic_raw.0);
        std::thread::sleep(Duration::from_nanos(ENOUGH.0.saturating_sub(age)));
        Self::now(clock)
    }

    /// Whether no clock takes this stamp to a later one of its process: one of them is damaged.
    pub(crate) fn contradicts(self, later: Stamp) -> bool {
        let nanos = u128::from(later.monotonic_raw.0.abs_diff(self.monotonic_raw.0));
        let ticks = u128::from(later.ticks.0.abs_diff(self.ticks.0));
        // Counters of two processors may differ by a little.
        let slack = u128::from(ENOUGH.0);
        ticks / MOST_TICKS > nanos + slack
            || nanos > ticks * LONGEST_TICK + slack
            || self.monotonic_raw.0 > later.monotonic_raw.0.saturating_add(ENOUGH.0)
    }

    /// CLOCK_MONOTONIC_RAW now.
    pub(crate) fn monotonic_raw_now() -> Nanos {
        read(libc::CLOCK_MONOTONIC_RAW)
    }
}

fn read(clock: libc::clockid_t) -> Nanos {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid timespec to write to.
    unsafe { libc::clock_gettime(clock, &mut time) };
    Nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

#[cfg(target_arch = "x86_64")]
fn tsc() -> Option<Ticks> {
    // SAFETY: every x86-64 processor has the instruction, and Linux lets programs use it.
    Some(Ticks(unsafe { core::arch::x86_64::_rdtsc() }))
}

#[cfg(not(target_arch = "x86_64"))]
fn tsc() -> Option<Ticks> {
    None
}

/// How long a tick is: a fixed-point number of ns with 32 bits behind the point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    ns_per_tick: u128,
}

/// Two stamps closer than this give the rate too badly (a stamp is good to about 100 ns).
pub(crate) const ENOUGH: Nanos = Nanos(10_000_000);

/// What no clock exceeds, 1 THz, in ticks a nanosecond.
const MOST_TICKS: u128 = 1000;
/// And 1 kHz, in nanoseconds.
const LONGEST_TICK: u128 = 1_000_000;

impl Rate {
    /// One tick is one nanosecond.
    pub const NANOSECOND: Rate = Rate {
        ns_per_tick: 1 << 32,
    };

    /// The rate that takes `first` to `last`; `None` if that is not between 1 kHz and 1 THz, as no
    /// clock is.
    pub fn between(first: Stamp, last: Stamp) -> Option<Self> {
        let ticks = last.ticks.0.checked_sub(first.ticks.0)?;
        let nanos = last.monotonic_raw.0.checked_sub(first.monotonic_raw.0)?;
        Self::of(ticks, nanos)
    }

    /// A clock of `frequency` ticks per second.
    pub fn per_second(frequency: u64) -> Option<Self> {
        Self::of(frequency, 1_000_000_000)
    }

    fn of(ticks: u64, nanos: u64) -> Option<Self> {
        let ns_per_tick = (u128::from(nanos) << 32).checked_div(ticks.into())?;
        ((1 << 32) / MOST_TICKS..=LONGEST_TICK << 32)
            .contains(&ns_per_tick)
            .then_some(Rate { ns_per_tick })
    }

    /// Ticks per second.
    pub fn frequency(self) -> f64 {
        1e9 / (self.ns_per_tick as f64 / 4_294_967_296.0)
    }

    /// The time that `ticks` ticks take.
    #[inline]
    pub fn nanos(self, ticks: u64) -> Nanos {
        // At most 2⁶⁴ × 2⁵²; a result beyond 584 years is cut to that.
        Nanos(u64::try_from((u128::from(ticks) * self.ns_per_tick) >> 32).unwrap_or(u64::MAX))
    }
}

/// The trace's time line: where zero is, and how fast it runs. One for all processes of a trace.
#[derive(Clone, Copy, Debug)]
pub struct TimeLine {
    pub start: Ticks,
    pub rate: Rate,
    /// CLOCK_REALTIME at zero, ns since 1970; 0: not known.
    pub epoch: Nanos,
}

impl TimeLine {
    /// Takes ticks for nanoseconds, for callers to whom times don't matter.
    pub const TICKS: TimeLine = TimeLine {
        start: Ticks(0),
        rate: Rate::NANOSECOND,
        epoch: Nanos(0),
    };

    /// Ticks before the first stamp count as zero.
    #[inline]
    pub fn at(self, ticks: Ticks) -> Nanos {
        self.rate.nanos(ticks.0.saturating_sub(self.start.0))
    }

    /// The wall-clock time then, ns since 1970; `None` if it is not known.
    pub fn wall(self, ticks: Ticks) -> Option<Nanos> {
        let wall = Nanos(self.epoch.0.saturating_add(self.at(ticks).0));
        (self.epoch != Nanos(0)).then_some(wall)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(ticks: u64, nanos: u64) -> Stamp {
        Stamp {
            ticks: Ticks(ticks),
            realtime: Nanos(0),
            monotonic_raw: Nanos(nanos),
        }
    }

    #[test]
    fn a_day_of_a_2_1_ghz_clock_is_off_by_less_than_a_microsecond_a_second() {
        let rate = Rate::between(stamp(7, 0), stamp(7 + 2_100_000_000, 1_000_000_000)).unwrap();
        let day = 86_400;
        let error = rate
            .nanos(2_100_000_000 * day)
            .0
            .abs_diff(day * 1_000_000_000);
        assert!(error < day * 1_000, "{error} ns");
    }

    #[test]
    fn stamps_that_no_clock_can_give_are_no_rate() {
        assert_eq!(Rate::between(stamp(5, 5), stamp(5, 100)), None);
        assert_eq!(Rate::between(stamp(5, 5), stamp(4, 100)), None);
        assert_eq!(Rate::between(stamp(0, 0), stamp(u64::MAX, 1)), None);
    }
}

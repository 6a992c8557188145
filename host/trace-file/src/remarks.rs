//! What is to be said about a walk over events, beside the events.

use crate::{Damages, Nanos};
use std::ops::AddAssign;

/// What a walk over events has found beside them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remarks {
    /// Events lost for lack of space or memory.
    pub dropped: u64,
    /// Stretches in which recording was paused.
    pub pauses: u64,
    /// How well the times of events are known.
    pub uncertainty: Uncertainty,
    /// Records of values whose shape the trace does not have: what they are is not known.
    pub shapeless: u64,
    /// Records that cannot be read, each with what is behind it in its run.
    pub damages: Damages,
}

impl AddAssign<&Remarks> for Remarks {
    fn add_assign(&mut self, other: &Remarks) {
        self.dropped = self.dropped.saturating_add(other.dropped);
        self.pauses = self.pauses.saturating_add(other.pauses);
        self.shapeless = self.shapeless.saturating_add(other.shapeless);
        self.uncertainty += &other.uncertainty;
        self.damages += &other.damages;
    }
}

/// How far the given time of an event may be from the true one, over events: 0 where the clock was
/// read; where it was not (`--clock sparse`), the distance to the farther of the two neighbours
/// between which it lies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uncertainty {
    largest: Nanos,
    /// Events by the size of their bound, [`STEPS`] classes to a power of two. Empty while the
    /// clock was always read.
    classes: Vec<u64>,
}

/// Classes to a power of two: a bound is known to 1/8 of itself.
const STEPS: u32 = 8;

impl Uncertainty {
    /// The largest of all events.
    pub fn largest(&self) -> Nanos {
        self.largest
    }

    /// An upper bound of the uncertainty of this share of the events whose clock was not read; 0 if
    /// every event read it.
    pub fn quantile(&self, share: f64) -> Nanos {
        let all: u64 = self.classes.iter().sum();
        let wanted = (all as f64 * share).ceil() as u64;
        let mut below = 0;
        for (class, &events) in self.classes.iter().enumerate() {
            below += events;
            if below >= wanted && below > 0 {
                return upper(class as u32).min(self.largest);
            }
        }
        self.largest
    }

    /// Events whose clock was not read.
    pub fn events(&self) -> u64 {
        self.classes.iter().sum()
    }

    pub(crate) fn add(&mut self, bound: Nanos) {
        self.largest = self.largest.max(bound);
        let class = class(bound) as usize;
        if self.classes.len() <= class {
            self.classes.resize(class + 1, 0);
        }
        self.classes[class] += 1;
    }
}

impl AddAssign<&Uncertainty> for Uncertainty {
    fn add_assign(&mut self, other: &Uncertainty) {
        self.largest = self.largest.max(other.largest);
        if self.classes.len() < other.classes.len() {
            self.classes.resize(other.classes.len(), 0);
        }
        for (mine, others) in self.classes.iter_mut().zip(&other.classes) {
            *mine += others;
        }
    }
}

/// Bounds below [`STEPS`] have a class each; above, a class is 1/8 of a power of two.
fn class(bound: Nanos) -> u32 {
    match bound.0.checked_ilog2() {
        Some(power) if power >= 3 => (power - 2) * STEPS + (bound.0 >> (power - 3) & 7) as u32,
        _ => bound.0 as u32,
    }
}

/// The largest bound of a class.
fn upper(class: u32) -> Nanos {
    if class < STEPS {
        return Nanos(class.into());
    }
    let (power, step) = (class / STEPS + 2, u128::from(class % STEPS));
    let end = (u128::from(STEPS) + step + 1) << (power - 3);
    Nanos(u64::try_from(end - 1).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bound_is_in_a_class_that_ends_at_most_an_eighth_above_it() {
        for bound in (0..5_000).chain([1 << 40, (1 << 40) + 12_345, u64::MAX - 1, u64::MAX]) {
            let end = upper(class(Nanos(bound))).0;
            assert!(end >= bound && end - bound <= bound / 8, "{bound}: {end}");
        }
    }

    #[test]
    fn quantiles_are_those_of_the_events() {
        let mut uncertainty = Uncertainty::default();
        assert_eq!(uncertainty.quantile(0.99), Nanos(0));
        (1..=100).for_each(|bound| uncertainty.add(Nanos(bound)));
        assert_eq!(uncertainty.largest(), Nanos(100));
        let (half, most) = (uncertainty.quantile(0.5).0, uncertainty.quantile(0.99).0);
        assert!(
            (50..=56).contains(&half) && (99..=100).contains(&most),
            "{half} {most}"
        );
        let mut twice = uncertainty.clone();
        twice += &uncertainty;
        assert_eq!(
            (twice.events(), twice.quantile(0.5)),
            (200, uncertainty.quantile(0.5))
        );
    }
}

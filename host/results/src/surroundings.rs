//! What the machine was like over a whole run.

use crate::{Around, Sample};
use serde::{Deserialize, Serialize};

/// Where nine tenths of some values lie, and the middle one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// A twentieth lies below.
    pub low: f64,
    /// The median.
    pub median: f64,
    /// A twentieth lies above.
    pub high: f64,
}

/// What was measured beside the samples of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Surroundings {
    /// What it cost to wake a thread on another processor, ns.
    pub wake_ns: Option<Spread>,
    /// The clock rate, cycles a ns.
    pub ghz: Option<Spread>,
    /// The share of the processors' time that the host gave to others, in the mean.
    pub steal: Option<f64>,
}

impl Surroundings {
    /// Those of these samples; none where nothing was measured beside them.
    pub fn of<'a>(samples: impl IntoIterator<Item = &'a Sample>) -> Option<Self> {
        let samples = samples.into_iter().filter_map(|sample| sample.around);
        let all: Vec<Around> = samples.collect();
        let of = |value: fn(&Around) -> Option<f64>| all.iter().filter_map(value);
        let steal: Vec<f64> = of(|around| around.steal).collect();
        let found = Self {
            wake_ns: Spread::of(of(|around| around.wake_ns)),
            ghz: Spread::of(of(|around| around.ghz)),
            steal: (!steal.is_empty()).then(|| steal.iter().sum::<f64>() / steal.len() as f64),
        };
        (found != Self::default()).then_some(found)
    }
}

impl Spread {
    /// That of these values; none of none.
    pub fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.collect();
        values.sort_unstable_by(f64::total_cmp);
        let last = values.len().checked_sub(1)?;
        let at = |share: f64| values[(last as f64 * share).round() as usize];
        Some(Self {
            low: at(0.05),
            median: at(0.5),
            high: at(0.95),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nine_tenths_lie_within_a_spread() {
        let spread = Spread::of((0..=100).rev().map(f64::from)).unwrap();
        assert_eq!([spread.low, spread.median, spread.high], [5.0, 50.0, 95.0]);
        assert_eq!(Spread::of(std::iter::empty()), None);
        assert_eq!(Surroundings::of([]), None);
    }
}

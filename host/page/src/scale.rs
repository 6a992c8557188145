//! From values to places in a plot, and the ticks of an axis.

/// How many times the largest value exceeds the smallest from which an axis is logarithmic: a
/// decade.
const DECADE: f64 = 10.0;

/// A mapping of values to user units of an SVG, linear or logarithmic.
///
/// Invariants: `low < high`, both finite; on a logarithmic scale `low > 0`.
#[derive(Clone, Debug)]
pub(crate) struct Scale {
    pub(crate) logarithmic: bool,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    /// A scale that shows all `values` between `from` and `to`: logarithmic where they span a
    /// decade or more and none is ≤ 0; else linear, from zero where that does not squeeze the
    /// differences into less than half of the axis. Values that are not finite are left out.
    pub(crate) fn fit(values: impl IntoIterator<Item = f64>, from: f64, to: f64) -> Self {
        // Beyond 1e300 the differences of two values would not be finite.
        let mut known = values
            .into_iter()
            .filter(|value| value.is_finite())
            .map(|value| value.clamp(-1e300, 1e300));
        let Some(first) = known.next() else {
            return Self {
                logarithmic: false,
                low: 0.0,
                high: 1.0,
                from,
                to,
            };
        };
        let (low, high) = known.fold((first, first), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        // A smallest normal number or below counts as zero: its logarithm says nothing.
        if low > f64::MIN_POSITIVE && high.log10() - low.log10() >= DECADE.log10() {
            let margin = (high.log10() - low.log10()) * 0.05;
            // At the ends of what a number can hold there is no room for a margin.
            let (low, high) = (
                10_f64.powf(low.log10() - margin).max(f64::MIN_POSITIVE),
                10_f64.powf(high.log10() + margin).min(f64::MAX),
            );
            return Self {
                logarithmic: true,
                low,
                high,
                from,
                to,
            };
        }
        let span = if high > low {
            high - low
        } else {
            high.abs().max(1e-300) * 0.1
        };
        let from_zero =
            low >= 0.0 && high > 0.0 && high - low >= high / 2.0 || high == 0.0 && low == 0.0;
        let (low, high) = match (low, high) {
            (0.0, 0.0) => (0.0, 1.0),
            _ if from_zero => (0.0, high + span * 0.06),
            _ => (low - span * 0.08, high + span * 0.08),
        };
        Self {
            logarithmic: false,
            low,
            high,
            from,
            to,
        }
    }

    /// Where a value lies; beyond the ends, at the end.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let part = match self.logarithmic {
            true if value <= 0.0 => 0.0,
            true => (value.log10() - self.low.log10()) / (self.high.log10() - self.low.log10()),
            false => (value - self.low) / (self.high - self.low),
        };
        let part = if part.is_nan() {
            0.0
        } else {
            part.clamp(0.0, 1.0)
        };
        self.from + part * (self.to - self.from)
    }

    /// Whether a reader may compare lengths: a linear axis that begins at zero.
    pub(crate) fn begins_at_zero(&self) -> bool {
        !self.logarithmic && self.low == 0.0
    }

    /// At most `most` (≥ 2) round values inside the scale, in rising order.
    pub(crate) fn ticks(&self, most: usize) -> Vec<f64> {
        if self.logarithmic {
            self.decades(most)
        } else {
            self.steps(most)
        }
    }

    fn decades(&self, most: usize) -> Vec<f64> {
        let (first, last) = (
            self.low.log10().floor() as i32,
            self.high.log10().ceil() as i32,
        );
        let marks = |mantissas: &[f64], every: usize| -> Vec<f64> {
            (first..=last)
                .filter(|power| power.rem_euclid(every as i32) == 0)
                // Parsed, not computed: 10^-3 is then the same number as the literal.
                .flat_map(|power| {
                    mantissas
                        .iter()
                        .filter_map(move |mantissa| format!("{mantissa}e{power}").parse().ok())
                })
                .filter(|&value: &f64| (self.low..=self.high).contains(&value))
                .collect()
        };
        let mut choices = [marks(&[1.0, 2.0, 5.0], 1), marks(&[1.0, 3.0], 1)]
            .into_iter()
            .chain((1..=700).map(|every| marks(&[1.0], every)));
        choices
            .find(|ticks| ticks.len() <= most.max(2))
            .unwrap_or_default()
    }

    fn steps(&self, most: usize) -> Vec<f64> {
        let rough = (self.high - self.low) / most.max(2) as f64;
        let power = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .into_iter()
            .map(|factor| factor * power)
            .find(|&step| step >= rough)
            .unwrap_or(10.0 * power);
        let (first, last) = ((self.low / step).ceil(), (self.high / step).floor());
        // Beyond 2^53 neighbouring multiples are the same number.
        if !step.is_normal() || first.abs().max(last.abs()) > 9e15 {
            return vec![];
        }
        (first as i64..=last as i64)
            .map(|multiple| multiple as f64 * step)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fit(values: &[f64]) -> Scale {
        Scale::fit(values.iter().copied(), 0.0, 100.0)
    }

    #[test]
    fn a_decade_makes_the_axis_logarithmic_and_zero_forbids_it() {
        assert!(fit(&[1.0, 10.0]).logarithmic);
        assert!(!fit(&[1.0, 9.9]).logarithmic);
        assert!(!fit(&[0.0, 1e6]).logarithmic);
        assert!(!fit(&[-1.0, 1e6]).logarithmic);
    }

    #[test]
    fn a_linear_axis_begins_at_zero_unless_that_hides_the_differences() {
        assert!(fit(&[4.0, 10.0]).begins_at_zero());
        assert!(!fit(&[100.0, 103.0]).begins_at_zero());
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(
            fit(&[0.0, 100.0]).ticks(6),
            [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]
        );
        assert_eq!(fit(&[1.0, 1000.0]).ticks(5), [1.0, 10.0, 100.0, 1000.0]);
        assert_eq!(fit(&[1.5, 15.5]).ticks(6), [2.0, 5.0, 10.0]);
        assert!(fit(&[1e-300, 1e300]).ticks(6).len() >= 3);
    }

    proptest! {
        #[test]
        fn any_positive_values_have_ticks(
            values in prop::collection::vec(prop::num::f64::POSITIVE, 1..8),
            most in 2_usize..12,
        ) {
            let scale = fit(&values);
            let ticks = scale.ticks(most);
            prop_assert!(ticks.len() <= most + 1, "{} ticks", ticks.len());
            let inside = |value: &f64| (0.0..=100.0).contains(&scale.at(*value));
            prop_assert!(values.iter().chain(&ticks).all(inside));
        }

        #[test]
        fn any_values_find_their_place(
            values in prop::collection::vec(any::<f64>(), 0..8),
            most in 2_usize..12,
        ) {
            let scale = fit(&values);
            let ticks = scale.ticks(most);
            prop_assert!(ticks.len() <= most + 1, "{} ticks", ticks.len());
            prop_assert!(ticks.windows(2).all(|pair| pair[0] < pair[1]));
            for value in values.iter().chain(&ticks) {
                prop_assert!((0.0..=100.0).contains(&scale.at(*value)));
            }
            let mut known = values;
            known.retain(|value| value.is_finite());
            known.sort_by(f64::total_cmp);
            prop_assert!(known.windows(2).all(|pair| scale.at(pair[0]) <= scale.at(pair[1])));
        }
    }
}

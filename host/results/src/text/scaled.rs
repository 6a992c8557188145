//! Values that stand beside each other in one unit, and values that are below the noise.

use super::{number, range};
use crate::Estimate;

/// A value that needs more digits than this before its point gets a larger unit.
const WIDEST: f64 = 1e5;

/// A unit with the factor of its prefix: the KB of bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scaled<'a> {
    divisor: f64,
    name: &'a str,
}

/// Factors and names of a unit, largest first; the last one has factor 1.
pub fn prefixes(unit: &str) -> &'static [(f64, &'static str)] {
    match unit {
        "ns" => &[(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")],
        "bytes" => &[(1e9, "GB"), (1e6, "MB"), (1e3, "KB"), (1.0, "bytes")],
        "per_s" => &[(1e9, "G/s"), (1e6, "M/s"), (1e3, "k/s"), (1.0, "/s")],
        _ => &[],
    }
}

impl<'a> Scaled<'a> {
    /// The unit in which all of these values can be read beside each other: that of the smallest,
    /// unless the largest would be too long in it.
    ///
    /// ```
    /// use heddle_results::text::Scaled;
    /// let unit = Scaled::of([12_700.0, 8e6], "bytes");
    /// assert_eq!(unit.text(12_700.0), "12.7 KB");
    /// assert_eq!(unit.text(8e6), "8\u{202f}000 KB");
    /// assert_eq!(Scaled::of([640.0, 2e9], "bytes").text(2e9), "2\u{202f}000 MB");
    /// ```
    pub fn of(values: impl IntoIterator<Item = f64>, unit: &'a str) -> Self {
        let sizes = values.into_iter().map(f64::abs);
        let sizes = sizes.filter(|size| size.is_finite() && *size > 0.0);
        let (least, most) = sizes.fold((f64::INFINITY, 0.0_f64), |(least, most), size| {
            (least.min(size), most.max(size))
        });
        let mut suitable = prefixes(unit)
            .iter()
            .rev()
            .skip_while(|(divisor, _)| most / divisor >= WIDEST);
        let first = suitable.clone().next();
        // 999.96 ns is 1.00 µs.
        let suits = |(divisor, _): &&(f64, &str)| least * 1.0005 >= *divisor && least.is_finite();
        let best = suitable.by_ref().take_while(suits).last();
        match best.or(first).or(prefixes(unit).first()) {
            Some(&(divisor, name)) => Self { divisor, name },
            None => Self {
                divisor: 1.0,
                name: unit,
            },
        }
    }

    /// The number alone.
    pub fn number(self, value: f64) -> String {
        number(value / self.divisor)
    }

    /// The number with the unit.
    pub fn text(self, value: f64) -> String {
        self.name(&self.number(value))
    }

    /// A number's text with the unit.
    pub fn name(self, number: &str) -> String {
        match self.name {
            "" => number.to_owned(),
            name if name.starts_with('/') => format!("{number}{name}"),
            name => format!("{number} {name}"),
        }
    }

    /// Both ends of an interval, without the unit.
    pub fn ends(self, estimate: Estimate) -> String {
        range(&self.number(estimate.low), &self.number(estimate.high))
    }
}

/// Whether what was measured cannot be told from nothing: a time, a size or a rate cannot be below
/// zero, and the interval of this one says that it may be.
///
/// ```
/// use heddle_results::Estimate;
/// use heddle_results::text::below_noise;
/// let growth = Estimate { value: -2790.0, low: -8000.0, high: 1200.0 };
/// assert!(below_noise(growth, "bytes") && !below_noise(growth, "points"));
/// assert!(!below_noise(Estimate { value: 0.0, low: 0.0, high: 0.0 }, "bytes"));
/// ```
pub fn below_noise(estimate: Estimate, unit: &str) -> bool {
    !prefixes(unit).is_empty() && estimate.low < 0.0
}

/// What stands where [`below_noise`] a number would say too much.
pub const BELOW_NOISE: &str = "below noise";

/// A median in the unit that suits it, or that it is below the noise.
pub fn measured(estimate: Estimate, unit: &str) -> String {
    if below_noise(estimate, unit) {
        return BELOW_NOISE.to_owned();
    }
    super::quantity(estimate.value, unit)
}

use heddle_results::text::minus;
use heddle_results::{Value, Values};
use serde::Deserialize;
use std::collections::BTreeMap;

/// A sentence of a source that a measurement can confirm or refute.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Id.
    pub id: String,
    /// The source's words, verbatim.
    pub words: String,
    /// An excerpt of the words, for where there is little room: its pieces between `…` are in the words, in this order.
    pub short: Option<String>,
    /// What the source prints, if it prints a figure.
    pub figure: Option<String>,
    /// What is computed.
    pub form: Form,
    /// The metric or counter that is meant; unset: the experiment's metric.
    pub metric: Option<String>,
    /// The model above the line: ratio, crossover, lines, slope of a ratio.
    pub numerator: Option<String>,
    /// The model below the line.
    pub denominator: Option<String>,
    /// The model whose slope or value is meant, or that is set against itself.
    pub model: Option<String>,
    /// Lines: the numerator without a part of what each unit costs.
    pub without: Option<String>,
    /// Lines: what the source calls the numerator's cost once, the part of its cost of each unit that `without` does not
    /// have, the rest of it, and the denominator's cost once. Account: the counters whose costs are fitted.
    #[serde(default)]
    pub terms: Vec<String>,
    /// The swept parameter that a slope, a crossover or lines go along.
    pub along: Option<String>,
    /// Values of swept parameters.
    #[serde(default)]
    pub at: Values,
    /// Ratio of a model to itself: the parameters that are others below the line.
    #[serde(default)]
    pub against: Values,
    /// Ranges of swept parameters.
    #[serde(default)]
    pub over: BTreeMap<String, Range>,
    /// Where the claim holds.
    pub bound: Bound,
    /// Counters to print beside the verdict.
    #[serde(default)]
    pub why: Vec<String>,
}

/// The forms of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// Ratio of two models' medians, or of one's under two settings, at a point or over a range.
    Ratio,
    /// A model's median itself, in the metric's unit: sizes and counts, which do not depend on the machine.
    Value,
    /// Slope of log(metric) over log(parameter), of a model or of the ratio of two.
    Slope,
    /// The size where two models swap.
    Crossover,
    /// The size from which on one model's line, cost once + cost of each · size, is above another's.
    Lines,
    /// How much of the difference between two models an account explains, cost of each · count for each of some counters.
    Account,
}

/// A range of a swept parameter, ends included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// Lower end.
    pub min: Option<f64>,
    /// Upper end.
    pub max: Option<f64>,
}

/// Where a claim holds, ends included.
pub type Bound = Range;

impl Range {
    /// Whether a parameter's value lies inside; words never do.
    pub fn holds(&self, value: &Value) -> bool {
        value.as_f64().is_some_and(|value| self.contains(value))
    }

    /// Whether a number lies inside.
    pub fn contains(&self, value: f64) -> bool {
        self.min.is_none_or(|min| min <= value) && self.max.is_none_or(|max| value <= max)
    }

    /// Whether an interval lies wholly inside (`Some(true)`), wholly outside (`Some(false)`) or across an end.
    pub fn judge(&self, low: f64, high: f64) -> Option<bool> {
        if self.contains(low) && self.contains(high) {
            Some(true)
        } else if self.min.is_some_and(|min| high < min) || self.max.is_some_and(|max| low > max) {
            Some(false)
        } else {
            None
        }
    }
}

impl std::fmt::Display for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let end = |end: f64| minus(&end.to_string());
        match (self.min.map(end), self.max.map(end)) {
            (Some(min), Some(max)) => write!(f, "{min} … {max}"),
            (Some(min), None) => write!(f, "≥ {min}"),
            (None, Some(max)) => write!(f, "≤ {max}"),
            (None, None) => write!(f, "any"),
        }
    }
}

impl Claim {
    /// The models that it speaks of.
    pub fn models(&self) -> impl Iterator<Item = &str> {
        [
            &self.numerator,
            &self.denominator,
            &self.model,
            &self.without,
        ]
        .into_iter()
        .flatten()
        .map(String::as_str)
    }

    /// Whether a point of the sweep belongs to the claim.
    pub fn covers(&self, point: &Values) -> bool {
        has(point, &self.at)
            && self
                .over
                .iter()
                .all(|(name, range)| point.get(name).is_some_and(|value| range.holds(value)))
    }

    /// The point of a sweep that is below the line where `point` is above it: the same but for `against`.
    pub fn partner(&self, point: &Values, sweep: &[Values]) -> Option<Values> {
        let mut other = point.clone();
        other.extend(self.against.clone());
        sweep.iter().find(|point| same(point, &other)).cloned()
    }
}

/// Whether a point has these values.
pub(super) fn has(point: &Values, values: &Values) -> bool {
    values
        .iter()
        .all(|(name, value)| point.get(name).is_some_and(|other| equal(other, value)))
}

/// Whether two points have the same values.
fn same(a: &Values, b: &Values) -> bool {
    a.len() == b.len() && has(b, a)
}

/// Whether two parameter values are the same: 1000 is 1000.0.
pub(crate) fn equal(a: &Value, b: &Value) -> bool {
    a == b || matches!((a.as_f64(), b.as_f64()), (Some(a), Some(b)) if a == b)
}

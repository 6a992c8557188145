use heddle_results::Value;
use heddle_results::text::minus;
use serde::Deserialize;

/// A range with one finite end at least, ends included; the lower one is no greater than the upper.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "Ends")]
pub struct Range {
    /// Lower end.
    pub min: Option<f64>,
    /// Upper end.
    pub max: Option<f64>,
}

/// A range as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ends {
    min: Option<f64>,
    max: Option<f64>,
}

impl TryFrom<Ends> for Range {
    type Error = &'static str;

    fn try_from(Ends { min, max }: Ends) -> Result<Self, Self::Error> {
        Self::new(min, max)
    }
}

impl Range {
    /// From its ends.
    ///
    /// # Errors
    /// If there is none, if one is not finite, or if they are the wrong way round.
    pub fn new(min: Option<f64>, max: Option<f64>) -> Result<Self, &'static str> {
        if min.is_none() && max.is_none() {
            return Err("a range needs min, max or both");
        }
        let finite = [min, max].into_iter().flatten().all(f64::is_finite);
        if !finite || min.zip(max).is_some_and(|(min, max)| min > max) {
            return Err("a range must have finite ends, min no greater than max");
        }
        Ok(Self { min, max })
    }

    /// The ends that there are.
    pub fn ends(&self) -> impl Iterator<Item = f64> {
        [self.min, self.max].into_iter().flatten()
    }

    /// Whether a parameter's value lies inside; words never do.
    pub fn holds(&self, value: &Value) -> bool {
        value.as_f64().is_some_and(|value| self.contains(value))
    }

    /// Whether a number lies inside.
    pub fn contains(&self, value: f64) -> bool {
        self.min.is_none_or(|min| min <= value) && self.max.is_none_or(|max| value <= max)
    }

    /// Whether an interval lies wholly inside (`Some(true)`), wholly outside (`Some(false)`) or
    /// across an end.
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

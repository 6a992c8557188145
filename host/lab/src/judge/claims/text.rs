use super::Case;
use crate::experiment::{Form, Mode};
use crate::judge::cells::label;
use crate::judge::sentences::{plain_number, ratio};
use heddle_results::text::{counter, quantity, range, times, words};
use heddle_results::{Estimate, Values};

impl Case<'_> {
    /// A number at a point, for people: a ratio as `1.30×`, a value with its unit.
    pub(super) fn text(&self, value: f64) -> String {
        match self.claim.form {
            Form::Value if self.claim.metric.is_none() => {
                quantity(value, &self.experiment.metric.unit)
            }
            Form::Value => counter(self.metric(), value),
            _ => times(value),
        }
    }

    pub(super) fn estimate_text(&self, estimate: Estimate) -> String {
        match self.claim.form {
            Form::Value => {
                let [value, low, high] =
                    [estimate.value, estimate.low, estimate.high].map(|value| self.text(value));
                format!("{value} (95 % {})", range(&low, &high))
            }
            _ => ratio(estimate),
        }
    }

    /// The claim's bound: of a value in its unit, as the value beside it; of anything else the bare numbers.
    pub(super) fn bound_text(&self) -> String {
        let bound = self.claim.bound;
        if self.claim.form != Form::Value {
            return bound.to_string();
        }
        match (bound.min, bound.max) {
            (Some(min), Some(max)) => format!("{} … {}", self.text(min), self.text(max)),
            (Some(min), None) => format!("≥ {}", self.text(min)),
            (None, Some(max)) => format!("≤ {}", self.text(max)),
            (None, None) => bound.to_string(),
        }
    }

    /// Where the full sweep has more of the claim's points than this one.
    pub(super) fn partly(&self, have: usize) -> Option<String> {
        let all = self
            .experiment
            .points(Mode::Full)
            .iter()
            .filter(|point| self.claim.covers(point))
            .count();
        (self.mode == Mode::Quick && all > have)
            .then(|| format!("{have} of the {all} points that --full has"))
    }

    /// `thread ÷ stackless at -O0, n ≥ 1000`.
    pub(super) fn computed(&self) -> String {
        let claim = self.claim;
        let what = match (&claim.model, &claim.along) {
            (Some(model), Some(along)) => format!("slope of log({model}) over log({along})"),
            (Some(model), None) if claim.form == Form::Ratio => {
                let other = label(&claim.against);
                format!("{model} ÷ the same with {other}")
            }
            (Some(model), None) => format!("{} of {model}", words(self.metric())),
            (None, Some(along)) if claim.form == Form::Slope => {
                format!(
                    "slope of log({} ÷ {}) over log({along})",
                    self.name(0),
                    self.name(1)
                )
            }
            (None, Some(along)) if claim.form == Form::Lines => {
                let (more, less) = (self.name(0), self.name(1));
                format!(
                    "{along} from which on {more} is above {less}, by lines of cost once + cost each · {along}"
                )
            }
            (None, None) if claim.form == Form::Account => {
                let terms: Vec<String> = claim.terms.iter().map(|term| words(term)).collect();
                let (more, less) = (self.name(0), self.name(1));
                format!(
                    "share of {more} − {less} that an account of {} explains",
                    terms.join(", ")
                )
            }
            (None, Some(along)) => {
                format!("{along} where {} ÷ {} passes 1", self.name(0), self.name(1))
            }
            _ => format!("{} ÷ {}", self.name(0), self.name(1)),
        };
        let what = match (&claim.metric, claim.form) {
            (
                Some(metric),
                Form::Ratio | Form::Slope | Form::Crossover | Form::Lines | Form::Account,
            ) => {
                format!("{what} ({})", words(metric))
            }
            _ => what,
        };
        let mut places: Vec<String> = Vec::new();
        if !claim.at.is_empty() {
            places.push(label(&claim.at));
        }
        for (name, range) in &claim.over {
            let (min, max) = (range.min.map(plain_number), range.max.map(plain_number));
            places.push(match (min, max) {
                (Some(min), Some(max)) => format!("{name} {min} to {max}"),
                (Some(min), None) => format!("{name} ≥ {min}"),
                (None, Some(max)) => format!("{name} ≤ {max}"),
                (None, None) => name.clone(),
            });
        }
        if places.is_empty() {
            what
        } else {
            format!("{what} at {}", places.join(", "))
        }
    }
}

/// A point for people.
pub(super) fn place(point: &Values) -> String {
    match label(point) {
        label if label.is_empty() => "its only point".into(),
        label => label,
    }
}

pub(super) fn settle_note(taken: usize, needed: Option<usize>) -> String {
    match needed {
        Some(needed) if needed <= 10_000 => {
            format!(
                "about {needed} samples a cell would settle it (`-n {needed}`), {taken} were taken"
            )
        }
        Some(_) => format!(
            "more than 10 000 samples a cell would be needed to settle it, {taken} were taken"
        ),
        None => format!(
            "it lies on the bound: no number of samples would settle it, {taken} were taken"
        ),
    }
}

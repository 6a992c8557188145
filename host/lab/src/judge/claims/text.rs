use super::Case;
use crate::experiment::{Account, Form, Mode, Pair, Settings, Single, Slope, SplitLines, Trend};
use crate::judge::cells::label;
use crate::judge::sentences::{plain_number, ratio};
use heddle_results::text::{Scaled, count, range, times, unit_of, words};
use heddle_results::{Estimate, Values};

impl Case<'_> {
    /// The unit of a claim on a value, in which its bound, what was found and the interval stand;
    /// none for ratios, and for counts, which have no unit.
    fn unit(&self, found: Option<Estimate>) -> Option<Scaled<'_>> {
        let Form::Value(_) = &self.claim.form else {
            return None;
        };
        let unit = match &self.claim.metric {
            None => self.experiment.metric.unit.as_str(),
            Some(metric) => unit_of(metric),
        };
        let bound = self.claim.bound;
        let values = [bound.min, bound.max, found.map(|found| found.value)];
        (!unit.is_empty()).then(|| Scaled::of(values.into_iter().flatten(), unit))
    }

    /// A number at a point, for people: a ratio as `1.30×`, a value with its unit. `found` is what
    /// decided.
    pub(super) fn text(&self, value: f64, found: Option<Estimate>) -> String {
        match (&self.claim.form, self.unit(found)) {
            (_, Some(unit)) => unit.text(value),
            (Form::Value(_), None) => count(value),
            _ => times(value),
        }
    }

    pub(super) fn estimate_text(&self, estimate: Estimate) -> String {
        let Form::Value(_) = &self.claim.form else {
            return ratio(estimate);
        };
        let text = |value| self.text(value, Some(estimate));
        let (value, ends) = match self.unit(Some(estimate)) {
            Some(unit) => (text(estimate.value), unit.ends(estimate)),
            None => {
                let ends = range(&text(estimate.low), &text(estimate.high));
                (text(estimate.value), ends)
            }
        };
        format!("{value} (95 % {ends})")
    }

    /// The claim's bound: of a value in the unit of what was found beside it; of anything else the
    /// bare numbers.
    pub(super) fn bound_text(&self, found: Option<Estimate>) -> String {
        let bound = self.claim.bound;
        if let Form::Table(_) = self.claim.form {
            return "each cell near its figure".into();
        }
        if !matches!(self.claim.form, Form::Value(_)) {
            return bound.to_string();
        }
        let text = |value| self.text(value, found);
        match (bound.min, bound.max) {
            (Some(min), Some(max)) => match self.unit(found) {
                Some(unit) => format!("{} … {}", unit.number(min), unit.text(max)),
                None => format!("{} … {}", text(min), text(max)),
            },
            (Some(min), None) => format!("≥ {}", text(min)),
            (None, Some(max)) => format!("≤ {}", text(max)),
            (None, None) => bound.to_string(),
        }
    }

    /// Where the full sweep has more of the claim's points than this one.
    pub(super) fn partly(&self) -> Option<String> {
        let covered = |mode| {
            let points = self.experiment.points(mode);
            points
                .iter()
                .filter(|point| self.claim.covers(point))
                .count()
        };
        let (have, all) = (covered(self.mode), covered(Mode::Full));
        (self.mode == Mode::Quick && all > have)
            .then(|| format!("{have} of the {all} points that --full has"))
    }

    /// `thread ÷ stackless at -O0, n ≥ 1000`.
    pub(super) fn computed(&self) -> String {
        let claim = self.claim;
        let what = match &claim.form {
            Form::Ratio(Pair {
                numerator,
                denominator,
            }) => format!("{numerator} ÷ {denominator}"),
            Form::Settings(Settings { model, against }) => {
                format!("{model} ÷ the same with {}", label(against))
            }
            Form::Value(Single { model }) => format!("{} of {model}", words(self.metric())),
            Form::Slope(Slope { model, along }) => {
                format!("slope of log({model}) over log({along})")
            }
            Form::RatioSlope(Trend {
                numerator,
                denominator,
                along,
            }) => format!("slope of log({numerator} ÷ {denominator}) over log({along})"),
            Form::Crossover(Trend {
                numerator,
                denominator,
                along,
            }) => format!("{along} where {numerator} ÷ {denominator} passes 1"),
            Form::Lines(Trend {
                numerator,
                denominator,
                along,
            })
            | Form::SplitLines(SplitLines {
                numerator,
                denominator,
                along,
                ..
            }) => format!(
                "{along} from which on {numerator} is above {denominator}, by lines of cost once + cost each · {along}"
            ),
            Form::Table(cells) => {
                let models = match &cells.first().map(|cell| &cell.claim.form) {
                    Some(Form::Ratio(pair)) if self.claim.form.models().len() == 2 => {
                        format!("{} ÷ {}", pair.numerator, pair.denominator)
                    }
                    _ => "ratios of two models".into(),
                };
                format!(
                    "{models} in the {} cells that the source prints",
                    cells.len()
                )
            }
            Form::Account(Account {
                numerator,
                denominator,
                terms,
            }) => {
                let terms: Vec<String> = terms.iter().map(|term| words(term)).collect();
                let terms = terms.join(", ");
                format!("share of {numerator} − {denominator} that an account of {terms} explains")
            }
        };
        let what = match (&claim.metric, &claim.form) {
            (None, _) | (_, Form::Value(_)) => what,
            (Some(metric), _) => format!("{what} ({})", words(metric)),
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

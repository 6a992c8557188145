//! A claim: its form has the fields that it needs, and it speaks of models and points that there are.

use super::Checker;
use crate::error::Result;
use crate::experiment::Mode;
use crate::experiment::claim::{Claim, Form};
use crate::models::hint;
use heddle_results::Value;
use std::collections::BTreeSet;
use toml::Spanned;

impl Checker<'_> {
    pub(super) fn claim(&self, spanned: &Spanned<Claim>) -> Result<()> {
        let (claim, span) = (spanned.get_ref(), spanned.span());
        let wrong = |needle: &str, message: String| {
            self.wrong(
                span.clone(),
                needle,
                format!("claim {}: {message}", claim.id),
            )
        };
        let pair = claim.numerator.is_some() && claim.denominator.is_some();
        let plain = claim.without.is_none() && claim.terms.is_empty();
        let fields_fit = match claim.form {
            Form::Ratio if !claim.against.is_empty() => {
                claim.model.is_some()
                    && claim.numerator.is_none()
                    && claim.denominator.is_none()
                    && claim.along.is_none()
            }
            Form::Ratio => pair && claim.model.is_none() && claim.along.is_none(),
            Form::Value => {
                claim.model.is_some()
                    && claim.numerator.is_none()
                    && claim.denominator.is_none()
                    && claim.along.is_none()
            }
            Form::Slope => {
                let one = claim.model.is_some()
                    && claim.numerator.is_none()
                    && claim.denominator.is_none();
                (one || pair && claim.model.is_none()) && claim.along.is_some()
            }
            Form::Crossover | Form::Lines => pair && claim.model.is_none() && claim.along.is_some(),
            Form::Account => {
                pair && claim.model.is_none()
                    && claim.along.is_none()
                    && claim.without.is_none()
                    && !claim.terms.is_empty()
            }
        };
        let fields_fit = fields_fit
            && (plain || matches!(claim.form, Form::Lines | Form::Account))
            && (claim.against.is_empty() || claim.form == Form::Ratio);
        if !fields_fit {
            let fields = match claim.form {
                Form::Ratio => {
                    "a ratio has numerator and denominator, or model and against, and no along"
                }
                Form::Value => "a value has a model, no numerator, no denominator, no along",
                Form::Slope => "a slope has along and either model or numerator and denominator",
                Form::Crossover => "a crossover has numerator, denominator and along, no model",
                Form::Lines => {
                    "lines have numerator, denominator and along, perhaps without and terms, no model"
                }
                Form::Account => {
                    "an account has numerator, denominator and terms, no model, no along, no without"
                }
            };
            return wrong("form", fields.into());
        }
        if let Some(short) = &claim.short {
            if !is_excerpt(short, &claim.words) {
                let message = "`short` must be an excerpt of the words: between `…`, pieces of them in their order";
                return wrong("short", message.into());
            }
        }
        let lines = claim.form == Form::Lines && !claim.terms.is_empty();
        if lines && (claim.terms.len() != 4 || claim.without.is_none()) {
            return wrong("terms", "terms are four, and need `without`".into());
        }
        let models: Vec<&str> = self.experiment.models().collect();
        for model in claim.models() {
            if !models.contains(&model) {
                let hint = hint(model, models.iter().copied());
                return wrong(
                    &format!("\"{model}\""),
                    format!("no program runs `{model}`{hint}"),
                );
            }
        }
        self.bound(claim, &wrong)?;
        self.place(claim, &wrong)
    }

    fn bound(&self, claim: &Claim, wrong: &dyn Fn(&str, String) -> Result<()>) -> Result<()> {
        let ranges = claim
            .over
            .iter()
            .map(|(name, range)| (name.as_str(), *range))
            .chain([("bound", claim.bound)]);
        for (name, range) in ranges {
            let ends: Vec<f64> = [range.min, range.max].into_iter().flatten().collect();
            if ends.is_empty() {
                return wrong(name, format!("`{name}` needs min, max or both"));
            }
            if ends.iter().any(|end| !end.is_finite()) || ends.first() > ends.last() {
                return wrong(
                    name,
                    format!("`{name}` must have finite ends, min no greater than max"),
                );
            }
            let positive = claim.form != Form::Slope && name == "bound";
            if positive && ends.iter().any(|end| *end <= 0.0) {
                return wrong(
                    name,
                    "a ratio or a size is bounded by numbers above 0".into(),
                );
            }
        }
        Ok(())
    }

    /// The parameters that a claim names are swept, and single out what its form needs.
    fn place(&self, claim: &Claim, wrong: &dyn Fn(&str, String) -> Result<()>) -> Result<()> {
        let swept = self.experiment.swept(Mode::Full);
        if let Some(name) = claim
            .against
            .keys()
            .find(|name| !claim.at.contains_key(*name))
        {
            return wrong(
                name,
                format!("`against` changes {name}, so `at` must say it"),
            );
        }
        for name in claim.at.keys().chain(claim.over.keys()).chain(&claim.along) {
            if !swept.contains_key(name) {
                let hint = hint(name, swept.keys().map(String::as_str));
                return wrong(name, format!("`{name}` is not swept{hint}"));
            }
        }
        if let Some(name) = claim.at.keys().find(|name| claim.over.contains_key(*name)) {
            return wrong(name, format!("`{name}` is in both at and over"));
        }
        let covered = |mode| {
            self.experiment
                .points(mode)
                .iter()
                .any(|point| claim.covers(point))
        };
        if !covered(Mode::Quick) && !covered(Mode::Full) {
            return wrong(
                "at",
                "no point of the quick or the full sweep is meant by it".into(),
            );
        }
        for mode in [Mode::Quick, Mode::Full] {
            let points: Vec<_> = self
                .experiment
                .points(mode)
                .into_iter()
                .filter(|point| claim.covers(point))
                .collect();
            let all = self.experiment.points(mode);
            if let Some(point) = points
                .iter()
                .find(|point| claim.partner(point, &all).is_none())
            {
                let point = point.iter().map(|(name, value)| format!("{name}={value}"));
                let point = point.collect::<Vec<_>>().join(", ");
                return wrong(
                    "against",
                    format!("{} has no such point to set against {point}", mode.name()),
                );
            }
            let free = |name: &String| {
                // An account is of all points together.
                claim.form != Form::Account
                    && !claim.over.contains_key(name)
                    && claim.along.as_ref() != Some(name)
            };
            for name in swept.keys().filter(|name| free(name)) {
                let values: BTreeSet<String> = points
                    .iter()
                    .filter_map(|point| point.get(name))
                    .map(Value::to_string)
                    .collect();
                if values.len() > 1 {
                    let values = values.into_iter().collect::<Vec<_>>().join(", ");
                    return wrong(
                        "at",
                        format!(
                            "`at` must say which {name} is meant, in {} one of {values}",
                            mode.name()
                        ),
                    );
                }
            }
        }
        Ok(())
    }
}

/// Whether the pieces between `…` are in `words`, one after the other, and there is one.
fn is_excerpt(short: &str, words: &str) -> bool {
    let mut pieces = short
        .split('…')
        .map(str::trim)
        .filter(|piece| !piece.is_empty())
        .peekable();
    let mut rest = Some(words);
    pieces.peek().is_some()
        && pieces.all(|piece| {
            rest = rest.and_then(|rest| Some(rest.split_once(piece)?.1));
            rest.is_some()
        })
}

#[cfg(test)]
mod tests {
    use super::is_excerpt;

    #[test]
    fn an_excerpt_has_only_words_of_the_source_in_their_order() {
        let words = "approximately 70 times lower than the overhead caused by system calls";
        for good in [
            "70 times lower … system calls",
            "approximately 70 times",
            words,
            "… system calls",
        ] {
            assert!(is_excerpt(good, words), "{good}");
        }
        for bad in [
            "",
            "…",
            "70 times higher",
            "system calls … 70 times",
            "70 times … 70",
        ] {
            assert!(!is_excerpt(bad, words), "{bad}");
        }
    }
}

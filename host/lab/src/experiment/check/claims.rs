//! A claim speaks of models and points that there are.

use super::Checker;
use crate::error::Result;
use crate::experiment::Mode;
use crate::experiment::claim::{Claim, Form, TableCell};
use crate::experiment::has;
use crate::experiment::read::Located;
use crate::models::hint;
use heddle_results::{Value, Values};
use std::collections::BTreeSet;

impl Checker<'_> {
    pub(super) fn claim(&self, located: &Located) -> Result<()> {
        let claim = &located.claim;
        let wrong = |needle: &str, message: String| {
            // The rows of a series differ in `at`, so the row is the place of the error.
            let needle = if needle == "at" && located.row {
                ""
            } else {
                needle
            };
            let message = format!("claim {}: {message}", claim.id);
            self.wrong_among(&located.places, needle, message)
        };
        if let Some(short) = &claim.short {
            if !is_excerpt(short, &claim.words) {
                let message = "`short` must be an excerpt of the words: between `…`, pieces of them in their order";
                return wrong("short", message.into());
            }
        }
        match &claim.form {
            Form::Account(account) if account.terms.is_empty() => {
                return wrong("terms", "an account needs a counter in `terms`".into());
            }
            Form::Settings(settings) if settings.against.is_empty() => {
                let message = "`against` needs a parameter that is another below the line";
                return wrong("against", message.into());
            }
            _ => {}
        }
        // A slope may fall.
        let sloping = matches!(claim.form, Form::Slope(_) | Form::RatioSlope(_));
        if !sloping && claim.bound.ends().any(|end| end <= 0.0) {
            let message = "a ratio or a size is bounded by numbers above 0";
            return wrong("bound", message.into());
        }
        let models: Vec<&str> = self.experiment.models().collect();
        for model in claim.form.models() {
            if !models.contains(&model) {
                let hint = hint(model, models.iter().copied());
                return wrong(
                    &format!("\"{model}\""),
                    format!("no program runs `{model}`{hint}"),
                );
            }
        }
        match &claim.form {
            Form::Table(cells) => self.cells(located, cells),
            _ => self.place(claim, &wrong),
        }
    }

    /// Each cell of a table is a claim at a point of its own.
    fn cells(&self, located: &Located, cells: &[TableCell]) -> Result<()> {
        let mut seen = Vec::new();
        for (cell, row) in cells.iter().zip(&located.rows) {
            let places = std::iter::once(row.clone()).chain(located.places.clone());
            let as_row = Located {
                claim: cell.claim.clone(),
                places: places.collect(),
                row: true,
                rows: Vec::new(),
            };
            self.claim(&as_row)?;
            let (at, models) = (&cell.claim.at, cell.claim.form.models());
            let same = |(other, pair): &(&Values, Vec<&str>)| *pair == models && has(other, at);
            if seen.iter().any(same) {
                let message = format!("claim {}: two rows are of the same cell", cell.claim.id);
                return self.wrong_among(&as_row.places, "", message);
            }
            seen.push((at, models));
        }
        Ok(())
    }

    /// The parameters that a claim names are swept, and single out what its form needs.
    fn place(&self, claim: &Claim, wrong: &dyn Fn(&str, String) -> Result<()>) -> Result<()> {
        let swept = self.experiment.swept(Mode::Full);
        let settings = match &claim.form {
            Form::Settings(settings) => Some(settings),
            _ => None,
        };
        let mut changed = settings.iter().flat_map(|settings| settings.against.keys());
        if let Some(name) = changed.find(|name| !claim.at.contains_key(*name)) {
            return wrong(
                name,
                format!("`against` changes {name}, so `at` must say it"),
            );
        }
        let along = claim.form.along();
        let placed = claim.at.keys().chain(claim.over.keys());
        for name in placed.map(String::as_str).chain(along) {
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
            let alone = |point: &&Values| {
                settings.is_some_and(|settings| settings.partner(point, &all).is_none())
            };
            if let Some(point) = points.iter().find(alone) {
                let point = point.iter().map(|(name, value)| format!("{name}={value}"));
                let point = point.collect::<Vec<_>>().join(", ");
                return wrong(
                    "against",
                    format!("{} has no such point to set against {point}", mode.name()),
                );
            }
            let free = |name: &String| {
                // An account is of all points together.
                !matches!(claim.form, Form::Account(_))
                    && !claim.over.contains_key(name)
                    && along != Some(name)
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

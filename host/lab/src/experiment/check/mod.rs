//! What TOML's types cannot say: that names refer to something and numbers make sense.

mod answers;
mod claims;
mod like;
mod statements;

use super::{Experiment, Extent, Mode, Program, line_at, sweep};
use crate::error::{Error, Result};
use crate::models::{hint, misspelt};
use heddle_results::{Value, Values};
use std::collections::BTreeSet;
use std::ops::Range;
use toml::Spanned;

/// Seconds that nobody waits for: some thirty years.
const LONGEST: f64 = 1e9;
/// Longest `use`, in characters: a heading of the page's contents.
const LONGEST_USE: usize = 40;

/// Finds the first thing that is wrong.
pub(super) fn check(experiment: &Experiment, text: &str) -> Result<()> {
    Checker { experiment, text }.all()
}

struct Checker<'a> {
    experiment: &'a Experiment,
    text: &'a str,
}

impl Checker<'_> {
    /// An error at the first place in `span` that holds the word `needle`, or at its beginning.
    fn wrong<T>(&self, span: Range<usize>, needle: &str, message: impl Into<String>) -> Result<T> {
        let from = self.text.get(span.start..).unwrap_or("");
        // The table ends where the next claim or program begins.
        let length = from.find("\n[[").unwrap_or(from.len());
        let place = span.start..span.start + length;
        self.wrong_among(std::slice::from_ref(&place), needle, message)
    }

    /// An error at the word `needle` in the first of these places that holds it, or where the first
    /// begins.
    fn wrong_among<T>(
        &self,
        places: &[Range<usize>],
        needle: &str,
        message: impl Into<String>,
    ) -> Result<T> {
        let part = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        let word = |place: &Range<usize>| {
            let text = self.text.get(place.clone())?;
            let whole = |at: &usize| {
                !text[..*at].ends_with(part) && !text[at + needle.len()..].starts_with(part)
            };
            let at = text.match_indices(needle).map(|(at, _)| at).find(whole)?;
            Some(place.start + at)
        };
        let first = places.first().map_or(0, |place| place.start);
        Err(Error::Experiment {
            path: self.experiment.path.clone(),
            line: line_at(self.text, places.iter().find_map(word).unwrap_or(first)),
            message: message.into(),
        })
    }

    fn all(&self) -> Result<()> {
        self.names()?;
        self.extent(&self.experiment.quick)?;
        if let Some(full) = &self.experiment.full {
            self.extent(full)?;
        }
        self.programs()?;
        self.axis()?;
        self.like()?;
        let mut ids = BTreeSet::new();
        for located in &self.experiment.claims {
            let id = &located.claim.id;
            if !ids.insert(id) {
                let message = format!("there are two claims `{id}`: ids must differ");
                return self.wrong_among(&located.places, &format!("\"{id}\""), message);
            }
            self.claim(located)?;
        }
        self.statements()?;
        self.answers()
    }

    fn names(&self) -> Result<()> {
        let Experiment {
            id,
            path,
            metric,
            reference,
            base,
            usage,
            ..
        } = self.experiment;
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if id.is_empty() || !id.chars().all(plain) {
            return self.wrong(
                0..0,
                "id",
                format!("id `{id}` must be of letters, digits, `-`, `_` and `.`"),
            );
        }
        if path.file_stem().is_none_or(|stem| stem != id.as_str()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            return self.wrong(
                0..0,
                "id",
                format!("id `{id}` does not match the file's name, {name}: make it {id}.toml"),
            );
        }
        if metric.name.is_empty() {
            return self.wrong(0..0, "[metric]", "the metric needs a name");
        }
        let length = usage.chars().count();
        if length > LONGEST_USE || usage.chars().any(char::is_control) || usage.trim() != usage {
            return self.wrong(
                0..0,
                "use",
                format!(
                    "`use` has {length} characters: it says on one line, in at most \
                     {LONGEST_USE}, what people build who ask this"
                ),
            );
        }
        let models: Vec<&str> = self.experiment.models().collect();
        for model in reference.iter().chain(base) {
            if !models.contains(&model.as_str()) {
                let hint = hint(model, models.iter().copied());
                return self.wrong(
                    0..0,
                    &format!("\"{model}\""),
                    format!("no program runs `{model}`{hint}"),
                );
            }
        }
        Ok(())
    }

    fn extent(&self, extent: &Spanned<Extent>) -> Result<()> {
        let Extent {
            timeout_s,
            expected_s,
            params,
            sweep,
        } = extent.get_ref();
        if !(timeout_s.is_finite() && *timeout_s > 0.0) {
            return self.wrong(
                extent.span(),
                "timeout_s",
                format!("timeout_s is {timeout_s}: it must be above 0"),
            );
        }
        if expected_s.is_some_and(|seconds| !(seconds > 0.0 && seconds <= LONGEST)) {
            return self.wrong(
                extent.span(),
                "expected_s",
                format!("expected_s must be above 0 and at most {LONGEST}"),
            );
        }
        self.values(extent.span(), params)?;
        let (size, most) = (sweep::size(sweep), sweep::MOST_POINTS);
        if size > most {
            let message = format!(
                "the sweep has {size} points, and at most {most} can be run: give its parameters fewer values"
            );
            return self.wrong(extent.span(), "sweep", message);
        }
        let names = |entry: &sweep::Sweep| entry.keys().cloned().collect::<Vec<_>>();
        let Some(first) = sweep.first().map(names) else {
            return Ok(());
        };
        for entry in sweep {
            if names(entry) != first {
                let (first, other) = (first.join(", "), names(entry).join(", "));
                let message = format!(
                    "every entry of the sweep must name the same parameters: {first}; one has {other}"
                );
                return self.wrong(extent.span(), "sweep", message);
            }
            for (name, values) in entry {
                if values.values().is_empty() {
                    return self.wrong(
                        extent.span(),
                        name,
                        format!("the sweep gives `{name}` no value"),
                    );
                }
                if params.contains_key(name) {
                    return self.wrong(
                        extent.span(),
                        name,
                        format!("`{name}` is in both params and sweep"),
                    );
                }
                for value in values.values() {
                    self.value(extent.span(), name, value)?;
                }
            }
        }
        Ok(())
    }

    fn values(&self, span: Range<usize>, values: &Values) -> Result<()> {
        values
            .iter()
            .try_for_each(|(name, value)| self.value(span.clone(), name, value))
    }

    fn value(&self, span: Range<usize>, name: &str, value: &Value) -> Result<()> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        if name.is_empty() || !name.chars().all(plain) {
            return self.wrong(
                span,
                name,
                format!("parameter `{name}` must be of letters, digits, `-` and `_`"),
            );
        }
        if ["model", "sample", "seed", "lab", "dir"].contains(&name) {
            return self.wrong(span, name, format!("a parameter cannot be called `{name}`: commands use {{{name}}} for something else"));
        }
        match value {
            Value::String(_) | Value::Number(_) | Value::Bool(_) => Ok(()),
            _ => self.wrong(
                span,
                name,
                format!("parameter `{name}` must be a number, a word or true/false"),
            ),
        }
    }

    fn programs(&self) -> Result<()> {
        let mut seen = BTreeSet::new();
        for program in &self.experiment.programs {
            let Program {
                command,
                models,
                needs,
                quick,
                full,
                ..
            } = program.get_ref();
            let span = program.span();
            if command.first().is_none_or(String::is_empty) {
                return self.wrong(span, "command", "the command is empty: name an executable");
            }
            if models.is_empty() {
                return self.wrong(span, "models", "the program needs the models that it runs");
            }
            for model in models {
                if let Some(message) = misspelt(model) {
                    return self.wrong(span, &format!("\"{model}\""), message);
                }
                if !seen.insert(model) {
                    return self.wrong(
                        span,
                        &format!("\"{model}\""),
                        format!("two programs run `{model}`"),
                    );
                }
            }
            self.values(span.clone(), quick)?;
            self.values(span.clone(), full)?;
            for (mode, params) in [(Mode::Quick, quick), (Mode::Full, full)] {
                let swept = self.experiment.swept(mode);
                if let Some(name) = params.keys().find(|name| swept.contains_key(*name)) {
                    return self.wrong(
                        span,
                        name,
                        format!("`{name}` is swept: a program cannot fix it"),
                    );
                }
                let fixed = &self.experiment.extent(mode).params;
                let known = |name: &str| {
                    swept.contains_key(name)
                        || fixed.contains_key(name)
                        || params.contains_key(name)
                };
                for name in command
                    .iter()
                    .chain(needs)
                    .flat_map(|word| crate::command::placeholders(word))
                {
                    if !["model", "sample", "seed", "lab", "dir"].contains(&name) && !known(name) {
                        let mode = mode.name();
                        return self.wrong(
                            span,
                            &format!("{{{name}}}"),
                            format!("nothing gives {{{name}}} a value in {mode}"),
                        );
                    }
                }
            }
        }
        match seen.is_empty() {
            true => self.wrong(0..0, "", "there is no [[program]]: nothing could be run"),
            false => Ok(()),
        }
    }

    fn axis(&self) -> Result<()> {
        let Some(axis) = &self.experiment.axis else {
            return Ok(());
        };
        for mode in [Mode::Quick, Mode::Full] {
            let swept = self.experiment.swept(mode);
            let Some(values) = swept.get(axis) else {
                let hint = hint(axis, swept.keys().map(String::as_str));
                return self.wrong(
                    0..0,
                    "axis",
                    format!("the axis `{axis}` is not swept in {}{hint}", mode.name()),
                );
            };
            if let Some(word) = values.iter().find(|value| !value.is_number()) {
                return self.wrong(
                    0..0,
                    "axis",
                    format!("the axis `{axis}` takes the value {word}, which is not a number"),
                );
            }
        }
        Ok(())
    }
}

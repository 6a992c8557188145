//! What TOML's types cannot say: that names refer to something and numbers make sense.

use super::claim::{Claim, Form};
use super::{Experiment, Mode, Plan, Program, line_at, sweep};
use crate::error::{Error, Result};
use crate::models::{hint, misspelt};
use heddle_results::{Value, Values};
use std::collections::BTreeSet;
use std::ops::Range;
use toml::Spanned;

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
        // The next claim or program is somebody else.
        let from = from.split_once("\n[[").map_or(from, |(own, _)| own);
        let part = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        let whole = |at: &usize| {
            !from[..*at].ends_with(part) && !from[at + needle.len()..].starts_with(part)
        };
        let offset = from
            .match_indices(needle)
            .map(|(at, _)| at)
            .find(whole)
            .unwrap_or(0);
        Err(Error::Experiment {
            path: self.experiment.path.clone(),
            line: line_at(self.text, span.start + offset),
            message: message.into(),
        })
    }

    fn all(&self) -> Result<()> {
        self.names()?;
        self.plan(&self.experiment.quick)?;
        if let Some(full) = &self.experiment.full {
            self.plan(full)?;
        }
        self.programs()?;
        self.axis()?;
        let mut ids = BTreeSet::new();
        for claim in self.experiment.spanned_claims() {
            if !ids.insert(&claim.get_ref().id) {
                let id = &claim.get_ref().id;
                return self.wrong(
                    claim.span(),
                    "id",
                    format!("there are two claims `{id}`: ids must differ"),
                );
            }
            self.claim(claim)?;
        }
        Ok(())
    }

    fn names(&self) -> Result<()> {
        let Experiment {
            id,
            path,
            metric,
            reference,
            base,
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

    fn plan(&self, plan: &Spanned<Plan>) -> Result<()> {
        let Plan {
            timeout_s,
            expected_s,
            params,
            sweep,
        } = plan.get_ref();
        if !(timeout_s.is_finite() && *timeout_s > 0.0) {
            return self.wrong(
                plan.span(),
                "timeout_s",
                format!("timeout_s is {timeout_s}: it must be above 0"),
            );
        }
        if expected_s.is_some_and(|seconds| !(seconds.is_finite() && seconds > 0.0)) {
            return self.wrong(plan.span(), "expected_s", "expected_s must be above 0");
        }
        self.values(plan.span(), params)?;
        let (size, most) = (sweep::size(sweep), sweep::MOST_POINTS);
        if size > most {
            let message = format!(
                "the sweep has {size} points, and at most {most} can be run: give its parameters fewer values"
            );
            return self.wrong(plan.span(), "sweep", message);
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
                return self.wrong(plan.span(), "sweep", message);
            }
            for (name, values) in entry {
                if values.values().is_empty() {
                    return self.wrong(
                        plan.span(),
                        name,
                        format!("the sweep gives `{name}` no value"),
                    );
                }
                if params.contains_key(name) {
                    return self.wrong(
                        plan.span(),
                        name,
                        format!("`{name}` is in both params and sweep"),
                    );
                }
                for value in values.values() {
                    self.value(plan.span(), name, value)?;
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
                let fixed = &self.experiment.plan(mode).params;
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

    fn claim(&self, spanned: &Spanned<Claim>) -> Result<()> {
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

//! The questions that a report answers: for each the place of the sweep at which it is read, the
//! best model there, and the reason.

use crate::text::{counter, number, phrase, unit_of};
use crate::{Answer, Cell, Estimate, ExperimentReport, Group, Report, Winner};

/// The families that people ask for first. Others follow as they come.
const ASKED_FIRST: [&str; 8] = [
    "thread",
    "goroutine",
    "fiber",
    "cooperative",
    "stackless",
    "event-loop",
    "process",
    "parallel",
];

/// Beyond this factor one contrast is as telling as another, and the row that comes first is taken.
const ENOUGH: f64 = 10.0;
/// Below it a counter explains nothing.
const TOO_LITTLE: f64 = 1.5;

/// A place of an experiment's sweep, with a label.
#[derive(Clone, Debug)]
pub struct Row<'a> {
    /// What it is called.
    pub label: String,
    /// Where it was measured.
    pub experiment: &'a ExperimentReport,
    /// The counter that explains it.
    pub why: Option<&'a str>,
    /// None where no model ran.
    pub place: Option<Place<'a>>,
    /// The experiment names this row in an `[[answer]]`; other rows are derived from its sweep.
    pub answered: bool,
    order: u32,
}

/// What stands at a place of a sweep.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The group that has it.
    pub group: &'a Group,
    /// Who is ahead there.
    pub winner: &'a Winner,
}

/// Why the best is ahead: a counter in which it and another model differ.
#[derive(Clone, Copy, Debug)]
pub struct Contrast<'a> {
    /// The counter.
    pub name: &'a str,
    /// The model that has more of it, and how much.
    pub more: (&'a str, f64),
    /// The model that has less.
    pub less: (&'a str, f64),
    /// How many times more, at most [`ENOUGH`].
    pub factor: f64,
}

/// `fiber` of `fiber/asm`.
pub fn family(model: &str) -> &str {
    model.split('/').next().unwrap_or(model)
}

/// What a model is to somebody who chooses: a fiber has a stack of its own, a coroutine has none.
/// A model of neither sort is its family.
pub fn kind(model: &str) -> &str {
    let variant = model.split_once('/').map_or("", |(_, variant)| variant);
    match family(model) {
        "cooperative" | "parallel" if variant.starts_with("stackless") => "coroutine",
        "cooperative" | "parallel" | "concurrent" | "boost-fiber" | "pth" => "fiber",
        "stackless" => "coroutine",
        other => other,
    }
}

/// All rows: those that experiments ask for, in their order, then those of experiments that ask for
/// none.
pub fn rows(report: &Report) -> Vec<Row<'_>> {
    let mut rows: Vec<Row> = report.experiments.iter().flat_map(of_experiment).collect();
    rows.sort_by_key(|row| (!row.answered, row.order));
    rows
}

fn of_experiment(experiment: &ExperimentReport) -> Vec<Row<'_>> {
    if !experiment.answers.is_empty() {
        let row = |answer| answered(experiment, answer);
        return experiment.answers.iter().map(row).collect();
    }
    let derived = |label, place| Row {
        label,
        experiment,
        why: None,
        place,
        answered: false,
        order: u32::MAX,
    };
    let rows = experiment.groups.iter().filter_map(|group| {
        let winner = group.winners.last()?;
        let place = Some(Place { group, winner });
        Some(derived(label(experiment, group, winner), place))
    });
    let rows: Vec<Row> = rows.collect();
    if rows.is_empty() {
        return vec![derived(experiment.id.clone(), None)];
    }
    rows
}

fn answered<'a>(experiment: &'a ExperimentReport, answer: &'a Answer) -> Row<'a> {
    let axis = experiment.axis.as_ref();
    let x = axis.and_then(|axis| answer.at.get(axis)?.as_f64());
    let own = |group: &&Group| {
        group
            .at
            .iter()
            .all(|(name, value)| answer.at.get(name) == Some(value))
    };
    let place = experiment.groups.iter().find(own).and_then(|group| {
        let winner = group.winners.iter().find(|winner| winner.x == x)?;
        Some(Place { group, winner })
    });
    Row {
        label: answer.label.clone(),
        experiment,
        why: answer.why.as_deref(),
        place,
        answered: true,
        order: answer.order.unwrap_or(u32::MAX),
    }
}

/// `a1-matrix, -O2, n=160`: the group, at its last place on the axis.
fn label(experiment: &ExperimentReport, group: &Group, winner: &Winner) -> String {
    let mut parts = vec![experiment.id.clone()];
    if !group.label.is_empty() {
        parts.push(group.label.clone());
    }
    if let (Some(axis), Some(x)) = (&experiment.axis, winner.x) {
        parts.push(format!("{axis}={x}"));
    }
    parts.join(", ")
}

impl<'a> Place<'a> {
    /// The cell of a model.
    pub fn cell(&self, model: &str) -> Option<&'a Cell> {
        let series = self
            .group
            .series
            .iter()
            .find(|series| series.model == model)?;
        series.cells.iter().find(|cell| cell.x == self.winner.x)
    }

    /// The models that ran here and can win.
    pub fn able(&self) -> impl Iterator<Item = &'a str> {
        let x = self.winner.x;
        let here = move |series: &&crate::Series| {
            !series.reference && series.cells.iter().any(|cell| cell.x == x)
        };
        let series = self.group.series.iter().filter(here);
        series.map(|series| series.model.as_str())
    }

    /// The best model of each family that has none at the front, in the order in which people ask.
    pub fn others(&self) -> Vec<(&'a str, &'a str, f64)> {
        let ahead: Vec<&str> = self
            .winner
            .models
            .iter()
            .map(|model| family(model))
            .collect();
        let mut others: Vec<(&str, &str, f64)> = Vec::new();
        for lead in &self.winner.behind {
            let own = family(&lead.over);
            if !ahead.contains(&own) && !others.iter().any(|(other, ..)| *other == own) {
                others.push((own, &lead.over, lead.times.value));
            }
        }
        let rank = |name: &str| ASKED_FIRST.iter().position(|asked| *asked == name);
        others.sort_by_key(|(name, ..)| rank(name).unwrap_or(ASKED_FIRST.len()));
        others
    }

    /// The models at the front; a family all of whose members are there is `family/*`.
    pub fn front(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        let own = &self.winner.models;
        for model in own {
            let name = family(model);
            let ran: Vec<&str> = self.able().filter(|other| family(other) == name).collect();
            let all = ran.len() > 1 && ran.iter().all(|other| own.iter().any(|it| it == other));
            let text = if all {
                format!("{name}/*")
            } else {
                model.clone()
            };
            if !names.contains(&text) {
                names.push(text);
            }
        }
        names
    }

    /// How many times better the best is than this model, and whether the two can be told apart;
    /// none for a model that was not compared here.
    pub fn behind(&self, model: &str) -> Option<(Estimate, bool)> {
        let even = Estimate {
            value: 1.0,
            low: 1.0,
            high: 1.0,
        };
        if self.winner.models.first().is_some_and(|best| best == model) {
            return Some((even, false));
        }
        let leads = |told| move |lead: &'a crate::Lead| (lead, told);
        let ties = self.winner.ties.iter().map(leads(false));
        let mut all = ties.chain(self.winner.behind.iter().map(leads(true)));
        let (lead, told) = all.find(|(lead, _)| lead.over == model)?;
        Some((lead.times, told))
    }
}

impl<'a> Row<'a> {
    /// The counter in which the best and another family's model differ most; none where nothing
    /// that was counted differs.
    pub fn because(&self) -> Option<Contrast<'a>> {
        let (name, place) = (self.why?, self.place?);
        let value = |model: &str| place.cell(model)?.counters.get(name).copied();
        let best = place.winner.models.first()?.as_str();
        let own = value(best)?;
        let mut found: Option<Contrast> = None;
        for (_, model, _) in place.others() {
            let Some(other) = value(model) else { continue };
            let (high, low) = (own.max(other), own.min(other));
            if !(high.is_finite() && low >= 0.0 && high > 0.0) {
                continue;
            }
            let factor = (high / low.max(high / (2.0 * ENOUGH))).min(ENOUGH);
            if found.as_ref().is_none_or(|found| factor > found.factor) {
                let (a, b) = ((best, own), (model, other));
                let (more, less) = if own > other { (a, b) } else { (b, a) };
                found = Some(Contrast {
                    name,
                    more,
                    less,
                    factor,
                });
            }
        }
        found.filter(|found| found.factor >= TOO_LITTLE)
    }
}

impl Contrast<'_> {
    /// `1.03 kernel switches a request (thread), 0.044 (cooperative/asm)`; `named` says what a
    /// model is called.
    pub fn text(&self, named: impl Fn(&str) -> String) -> String {
        let (more, less) = (self.more, self.less);
        let high = phrase(self.name, Some(more.1));
        let low = short(self.name, less.1);
        format!("{high} ({}), {low} ({})", named(more.0), named(less.0))
    }
}

/// The value alone: its name stands before it.
fn short(name: &str, value: f64) -> String {
    match (value, unit_of(name)) {
        (0.0, _) => "none".into(),
        (value, "") if value.fract() != 0.0 => number(value),
        (value, _) => counter(name, value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_of_the_kind_that_people_choose_between() {
        for (model, expected) in [
            ("thread/pool", "thread"),
            ("goroutine/net-http", "goroutine"),
            ("fiber/asm", "fiber"),
            ("cooperative/asm", "fiber"),
            ("parallel/asm-link", "fiber"),
            ("boost-fiber", "fiber"),
            ("stackless/duff", "coroutine"),
            ("cooperative/stackless", "coroutine"),
            ("event-loop/single", "event-loop"),
            ("mine", "mine"),
        ] {
            assert_eq!(kind(model), expected, "{model}");
        }
    }
}

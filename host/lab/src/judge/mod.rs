//! From samples to findings: medians, winners, verdict sentences, claims.

mod cells;
mod claims;
mod phases;
mod sentences;
mod troubles;
mod why;
mod winners;

use crate::experiment::{Experiment, Mode};
use crate::run::{Cell, Plan};
use cells::Judged;
use heddle_results::{ClaimReport, ExperimentReport, Group, Series, Values};

/// What one experiment's samples say so far.
pub struct Findings {
    /// The claims, in the order of the file.
    pub claims: Vec<ClaimReport>,
    /// For each inconclusive claim that more samples would settle: the cells concerned, and how
    /// many each would need.
    pub wanted: Vec<Vec<(usize, u32)>>,
}

/// Judges one experiment's claims.
pub fn claims(
    number: usize,
    experiment: &Experiment,
    plan: &Plan,
    mode: Mode,
    seed: u64,
) -> Findings {
    let cells = judged(number, experiment, plan, &experiment.metric.name, seed);
    judge_claims(number, experiment, plan, mode, &cells, seed)
}

/// Everything that is to be said of one experiment.
pub fn report(
    number: usize,
    experiment: &Experiment,
    plan: &Plan,
    mode: Mode,
    seed: u64,
) -> ExperimentReport {
    let cells = judged(number, experiment, plan, &experiment.metric.name, seed);
    let mut groups = Vec::new();
    let mut verdicts = Vec::new();
    for (label, at) in group_labels(experiment, mode) {
        let members: Vec<&Judged> = cells
            .iter()
            .filter(|cell| of_group(experiment, &cell.cell.point) == at)
            .collect();
        if members.is_empty() {
            continue;
        }
        let places = winners::places(experiment, &members);
        verdicts.push(sentences::verdict(experiment, &label, &places));
        let winner = |place: winners::Place| {
            let here = members.iter().find(|cell| cell.x == place.x);
            let best = place.front.median().filter(|_| experiment.times());
            let nature = experiment.like.as_ref().zip(here);
            let like = nature.and_then(|(it, here)| it.get_ref().like(&here.cell.params, best));
            place.into_winner(like)
        };
        let winners = places.into_iter().map(winner).collect();
        groups.push(Group {
            label,
            at,
            series: series(experiment, &members),
            winners,
        });
    }
    ExperimentReport {
        id: experiment.id.clone(),
        title: experiment.title.clone(),
        question: experiment.question.clone(),
        workload: experiment.workload.clone(),
        usage: experiment.usage.clone(),
        source: experiment.source.clone(),
        metric: experiment.metric.clone(),
        axis: experiment.axis.clone(),
        table: table(experiment),
        answers: answers(experiment, mode),
        verdicts,
        groups,
        figures: experiment.figures.clone(),
        claims: judge_claims(number, experiment, plan, mode, &cells, seed).claims,
        skipped: plan.skipped[number].clone(),
        troubles: troubles::troubles(experiment, &cells),
        commands: plan.commands[number].clone(),
    }
}

fn judged<'a>(
    number: usize,
    experiment: &Experiment,
    plan: &'a Plan,
    metric: &str,
    seed: u64,
) -> Vec<Judged<'a>> {
    let own = |(_, cell): &(usize, &Cell)| cell.experiment == number;
    plan.cells
        .iter()
        .enumerate()
        .filter(own)
        .map(|(index, cell)| Judged::new(index, cell, experiment, metric, seed))
        .collect()
}

fn judge_claims(
    number: usize,
    experiment: &Experiment,
    plan: &Plan,
    mode: Mode,
    cells: &[Judged],
    seed: u64,
) -> Findings {
    let skipped = &plan.skipped[number];
    let (mut claims, mut wanted) = (Vec::new(), Vec::new());
    for claim in experiment.claims() {
        let other = claim
            .metric
            .as_ref()
            .map(|metric| judged(number, experiment, plan, metric, seed));
        let (report, cells) = claims::judge(&claims::Case {
            experiment,
            claim,
            cells: other.as_deref().unwrap_or(cells),
            skipped,
            mode,
        });
        claims.push(report);
        if !cells.is_empty() {
            wanted.push(cells);
        }
    }
    Findings { claims, wanted }
}

fn series(experiment: &Experiment, members: &[&Judged]) -> Vec<Series> {
    let base_of = |cell: &Judged| {
        let base = experiment.base.as_ref()?;
        members
            .iter()
            .copied()
            .find(|other| other.cell.model == *base && other.cell.point == cell.cell.point)
    };
    let one = |model: &str| {
        let mut cells: Vec<heddle_results::Cell> = members
            .iter()
            .filter(|cell| cell.cell.model == model)
            .map(|cell| cell.to_cell(experiment, base_of(cell)))
            .collect();
        cells.sort_by(|a, b| a.x.unwrap_or(0.0).total_cmp(&b.x.unwrap_or(0.0)));
        Series {
            model: model.to_owned(),
            reference: experiment.is_reference(model),
            cells,
        }
    };
    experiment
        .models()
        .map(one)
        .filter(|series| !series.cells.is_empty())
        .collect()
}

/// The rows of the summary that this mode's sweep has.
fn answers(experiment: &Experiment, mode: Mode) -> Vec<heddle_results::Answer> {
    let row = |answer: &crate::experiment::Answer| {
        Some(heddle_results::Answer {
            label: answer.label.clone(),
            at: answer.point(experiment, mode)?,
            why: answer.why.clone(),
            order: answer.order,
        })
    };
    experiment.answers().filter_map(row).collect()
}

fn table(experiment: &Experiment) -> Option<heddle_results::Table> {
    Some(heddle_results::Table {
        base: experiment.base.clone()?,
        columns: experiment.columns.clone(),
    })
}

/// The parameters that tell a point's group: all but the axis.
fn of_group(experiment: &Experiment, point: &Values) -> Values {
    let other =
        |(name, _): &(&String, &heddle_results::Value)| experiment.axis.as_ref() != Some(*name);
    point
        .iter()
        .filter(other)
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// The groups in the order of the sweep.
fn group_labels(experiment: &Experiment, mode: Mode) -> Vec<(String, Values)> {
    let mut groups: Vec<(String, Values)> = Vec::new();
    for point in experiment.points(mode) {
        let at = of_group(experiment, &point);
        if !groups.iter().any(|(_, other)| *other == at) {
            groups.push((cells::label(&at), at));
        }
    }
    groups
}

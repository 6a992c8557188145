//! One experiment: question, source, verdicts, claims, plots, tables, what did not run, and how to
//! run a sample again.

use super::anchors::Anchors;
use super::claim::Claim;
use super::{Link, Model};
use crate::palette::Palette;
use crate::plot::{NARROW, Plot, WIDE, failures, has_axis};
use crate::ticks::parameter;
use heddle_results::{Better, Cell, ExperimentReport, Group, Series, Source, text};
use serde::Serialize;
use std::collections::BTreeSet;

#[derive(Serialize)]
pub(super) struct Section {
    link: Link,
    id: String,
    workload: String,
    question: String,
    source: Option<Source>,
    sentences: Vec<String>,
    claims: Vec<Claim>,
    axis: Option<String>,
    metric: String,
    groups: Vec<Panel>,
    /// Rows of all tables.
    rows: usize,
    /// Who did not run for the same reason, and the reason.
    skipped: Vec<(Vec<Model>, String)>,
    troubles: Vec<String>,
    commands: Vec<(Model, String)>,
}

/// One group's plots and table.
#[derive(Serialize)]
struct Panel {
    label: String,
    /// For a wide page; only if the group stands alone.
    wide: Option<String>,
    narrow: Option<String>,
    /// Named beside the narrow plot; empty where its rows are named.
    legend: Vec<Model>,
    counters: Vec<String>,
    /// Rows of one place on the axis.
    places: Vec<Vec<Row>>,
}

#[derive(Serialize)]
struct Row {
    x: String,
    model: Model,
    reference: bool,
    /// `wins`, `level` (cannot be told apart from the best) or nothing.
    standing: &'static str,
    median: String,
    interval: String,
    ratio: String,
    samples: usize,
    failures: String,
    counters: Vec<String>,
}

impl Section {
    pub(super) fn new(
        experiment: &ExperimentReport,
        link: &Link,
        anchors: &Anchors,
        palette: &Palette,
    ) -> Self {
        let alone = experiment.groups.len() == 1;
        let groups: Vec<Panel> = experiment
            .groups
            .iter()
            .map(|group| Panel::new(experiment, group, palette, alone))
            .collect();
        let places = groups.iter().flat_map(|group| &group.places);
        Self {
            link: link.clone(),
            id: experiment.id.clone(),
            rows: places.map(Vec::len).sum(),
            workload: experiment.workload.clone(),
            question: experiment.question.clone(),
            source: experiment.source.clone(),
            sentences: super::sentences(experiment),
            claims: Claim::all(experiment, link, anchors),
            axis: experiment.axis.clone(),
            metric: experiment.metric.label.clone(),
            groups,
            skipped: skipped(experiment, palette),
            troubles: experiment.troubles.clone(),
            commands: experiment
                .commands
                .iter()
                .map(|(model, command)| (Model::new(model, palette), command.clone()))
                .collect(),
        }
    }
}

/// The models that did not run, by reason.
fn skipped(experiment: &ExperimentReport, palette: &Palette) -> Vec<(Vec<Model>, String)> {
    let mut reasons: Vec<(Vec<Model>, String)> = Vec::new();
    for skipped in &experiment.skipped {
        let model = Model::new(&skipped.model, palette);
        match reasons
            .iter_mut()
            .find(|(_, reason)| *reason == skipped.reason)
        {
            Some((models, _)) => models.push(model),
            None => reasons.push((vec![model], skipped.reason.clone())),
        }
    }
    reasons
}

impl Panel {
    fn new(experiment: &ExperimentReport, group: &Group, palette: &Palette, alone: bool) -> Self {
        let plot = |width| {
            Plot {
                experiment,
                group,
                palette,
                width,
            }
            .draw()
        };
        let cells = || group.series.iter().flat_map(|series| &series.cells);
        let counters: BTreeSet<&str> = cells()
            .flat_map(|cell| cell.counters.keys())
            .map(String::as_str)
            .collect();
        let counters: Vec<&str> = counters.into_iter().collect();

        let mut places: Vec<Option<f64>> = cells().map(|cell| cell.x).collect();
        places.sort_by(|a, b| {
            a.unwrap_or(f64::NEG_INFINITY)
                .total_cmp(&b.unwrap_or(f64::NEG_INFINITY))
        });
        places.dedup();
        let places: Vec<Vec<Row>> = places
            .into_iter()
            .map(|place| rows(experiment, group, place, &counters, palette))
            .collect();
        Self {
            label: group.label.clone(),
            wide: alone.then(|| plot(WIDE)).flatten(),
            narrow: plot(NARROW),
            legend: if has_axis(experiment, group) {
                group
                    .series
                    .iter()
                    .map(|series| Model::new(&series.model, palette))
                    .collect()
            } else {
                vec![]
            },
            counters: counters.into_iter().map(text::words).collect(),
            places,
        }
    }
}

/// The rows of one place, the best first; what has no median comes last.
fn rows(
    experiment: &ExperimentReport,
    group: &Group,
    place: Option<f64>,
    counters: &[&str],
    palette: &Palette,
) -> Vec<Row> {
    let metric = &experiment.metric;
    let mut cells: Vec<(&Series, &Cell)> = group
        .series
        .iter()
        .flat_map(|series| {
            series
                .cells
                .iter()
                .filter(|cell| cell.x == place)
                .map(move |cell| (series, cell))
        })
        .collect();
    let cost = |cell: &Cell| match (cell.median, metric.better) {
        (None, _) => f64::INFINITY,
        (Some(median), Better::Lower) => median.value,
        (Some(median), Better::Higher) => -median.value,
    };
    cells.sort_by(|a, b| cost(a.1).total_cmp(&cost(b.1)));
    let best = cells
        .iter()
        .find(|(series, _)| !series.reference)
        .and_then(|(_, cell)| cell.median)
        .map(|median| median.value);
    let winner = group.winners.iter().find(|winner| winner.x == place);

    let row = |(series, cell): (&Series, &Cell)| Row {
        x: place.map(parameter).unwrap_or_default(),
        model: Model::new(&series.model, palette),
        reference: series.reference,
        standing: match winner {
            Some(winner) if winner.models.contains(&series.model) => {
                if winner.models.len() == 1 {
                    "wins"
                } else {
                    "level"
                }
            }
            _ => "",
        },
        median: cell
            .median
            .map(|median| text::quantity(median.value, &metric.unit))
            .unwrap_or_default(),
        interval: cell
            .median
            .map(|median| text::interval(median.low, median.high, &metric.unit))
            .unwrap_or_default(),
        ratio: cell
            .median
            .zip(best)
            .and_then(|(median, best)| ratio(median.value, best, metric.better))
            .map(text::times)
            .unwrap_or_default(),
        samples: cell.values.len(),
        failures: failures(cell),
        counters: counters
            .iter()
            .map(|name| {
                cell.counters
                    .get(*name)
                    .map(|value| text::counter(name, *value))
                    .unwrap_or_default()
            })
            .collect(),
    };
    cells.into_iter().map(row).collect()
}

/// How many times worse than the best; nothing where a ratio says nothing.
fn ratio(value: f64, best: f64, better: Better) -> Option<f64> {
    let ratio = match better {
        Better::Lower => value / best,
        Better::Higher => best / value,
    };
    (ratio.is_finite() && ratio > 0.0).then_some(ratio)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_how_many_times_worse() {
        assert_eq!(ratio(30.0, 10.0, Better::Lower), Some(3.0));
        assert_eq!(ratio(10.0, 30.0, Better::Higher), Some(3.0));
        assert_eq!(ratio(1.0, 0.0, Better::Lower), None);
    }
}

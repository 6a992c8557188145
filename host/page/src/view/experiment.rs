//! One experiment: question, source, verdicts, plots, claims, tables, what did not run, and how to
//! run a sample again.

use super::anchors::{Anchors, cell_anchor};
use super::claim::Claim;
use super::ledger::{Count, counts_of};
use super::map::Map;
use super::time::Time;
use super::{Link, Model, winners};
use crate::palette::Palette;
use crate::plot::{NARROW, Plot, WIDE, failures, has_axis};
use crate::ticks::parameter;
use heddle_results::text::{self, below_noise};
use heddle_results::{Better, Cell, Estimate, ExperimentReport, Group, Metric, Series, Source};
use heddle_results::{Traced, difference};
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
    /// Who won where, as a strip of colours and in a few words.
    strip: String,
    won: String,
    /// Who won where, with leads.
    map: Map,
    claims: Vec<Claim>,
    /// How many claims came out how.
    counts: Vec<Count>,
    axis: Option<String>,
    metric: Metric,
    groups: Vec<Panel>,
    /// Rows of all tables.
    rows: usize,
    /// What the parts of threads' time are called.
    parts: Vec<&'static str>,
    /// Samples were recorded.
    timed: bool,
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
    /// Samples were recorded.
    timed: bool,
}

#[derive(Serialize)]
struct Row {
    anchor: String,
    /// The swept parameters, as they stand in the samples' lines.
    point: String,
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
    time: Option<Time>,
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
            .enumerate()
            .map(|(number, group)| Panel::new(experiment, link, (number, group), palette, alone))
            .collect();
        let (strip, won) = winners::strip(experiment, palette);
        let places = groups.iter().flat_map(|group| &group.places);
        Self {
            link: link.clone(),
            id: experiment.id.clone(),
            rows: places.map(Vec::len).sum(),
            parts: heddle_results::Shares::NAMES.to_vec(),
            timed: groups.iter().any(|group| group.timed),
            workload: experiment.workload.clone(),
            question: experiment.question.clone(),
            source: experiment.source.clone(),
            sentences: super::sentences(experiment),
            strip,
            won,
            map: Map::new(experiment, link, palette),
            counts: counts_of(&experiment.claims),
            claims: Claim::all(experiment, link, anchors),
            axis: experiment.axis.clone(),
            metric: experiment.metric.clone(),
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
    fn new(
        experiment: &ExperimentReport,
        link: &Link,
        (number, group): (usize, &Group),
        palette: &Palette,
        alone: bool,
    ) -> Self {
        let rows = Rows {
            experiment,
            link,
            group,
            number,
            palette,
        };
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
            .map(|place| rows.at(place, &counters))
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
            timed: places.iter().flatten().any(|row| row.time.is_some()),
            places,
        }
    }
}

/// The rows of a group's table.
struct Rows<'a> {
    experiment: &'a ExperimentReport,
    link: &'a Link,
    group: &'a Group,
    /// The group's number.
    number: usize,
    palette: &'a Palette,
}

impl Rows<'_> {
    /// Those of one place, the best first; what has no median comes last.
    fn at(&self, place: Option<f64>, counters: &[&str]) -> Vec<Row> {
        let metric = &self.experiment.metric;
        let mut cells: Vec<([usize; 2], &Series, &Cell)> = Vec::new();
        for (number, series) in self.group.series.iter().enumerate() {
            for (index, cell) in series.cells.iter().enumerate() {
                if cell.x == place {
                    cells.push(([number, index], series, cell));
                }
            }
        }
        let cost = |cell: &Cell| match (cell.median, metric.better) {
            (None, _) => f64::INFINITY,
            (Some(median), Better::Lower) => median.value,
            (Some(median), Better::Higher) => -median.value,
        };
        cells.sort_by(|a, b| cost(a.2).total_cmp(&cost(b.2)));
        let mut able = cells.iter().filter(|(_, series, _)| !series.reference);
        let best = able.find_map(|(.., cell)| Some(cell.median?.value));
        let mut able = cells.iter().filter(|(_, series, _)| !series.reference);
        let recorded = able.find_map(|(_, series, cell)| {
            let median = cell.median?.value;
            Some((series.model.as_str(), cell.traced.as_ref()?, median))
        });
        let rows = cells.iter();
        rows.map(|(at, series, cell)| self.row(*at, series, cell, (best, recorded), counters))
            .collect()
    }

    fn row(
        &self,
        [series_number, cell_number]: [usize; 2],
        series: &Series,
        cell: &Cell,
        (best, recorded): (Option<f64>, Option<(&str, &Traced, f64)>),
        counters: &[&str],
    ) -> Row {
        let metric = &self.experiment.metric;
        let winner = self.group.winners.iter().find(|winner| winner.x == cell.x);
        let front = winner.map_or(&[][..], |winner| &winner.models[..]);
        let standing = match (front.contains(&series.model), front.len()) {
            (true, 1) => "wins",
            (true, _) => "level",
            _ => "",
        };
        let noise = cell.median.is_some_and(|it| below_noise(it, &metric.unit));
        let medians = cell.median.zip(best).filter(|_| !noise);
        let ratio = medians.and_then(|(median, best)| ratio(median.value, best, metric.better));
        let counter = |name: &&str| {
            let value = cell.counters.get(*name);
            value
                .map(|value| text::counter(name, *value))
                .unwrap_or_default()
        };
        let interval = |median: Estimate| text::interval(median.low, median.high, &metric.unit);
        Row {
            anchor: cell_anchor(self.link, [self.number, series_number, cell_number]),
            point: serde_json::to_string(&cell.point).unwrap_or_default(),
            x: cell.x.map(parameter).unwrap_or_default(),
            model: Model::new(&series.model, self.palette),
            reference: series.reference,
            standing,
            median: cell
                .median
                .map(|median| text::measured(median, &metric.unit))
                .unwrap_or_default(),
            interval: cell.median.map(interval).unwrap_or_default(),
            ratio: ratio.map(text::times).unwrap_or_default(),
            samples: cell.values.len(),
            failures: failures(cell),
            counters: counters.iter().map(counter).collect(),
            time: cell.traced.as_ref().map(|traced| {
                let longer = recorded.filter(|best| best.0 != series.model);
                let longer = longer.zip(cell.median).and_then(|(best, median)| {
                    difference(best, (traced, median.value), metric.better)
                });
                Time::new(traced, longer.map(|longer| longer.says))
            }),
        }
    }
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

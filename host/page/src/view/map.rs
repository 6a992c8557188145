//! Who won where in an experiment, with leads.

use super::{Link, Model};
use crate::palette::Palette;
use crate::ticks::parameter;
use heddle_results::{ExperimentReport, Winner, text};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct Map {
    link: Link,
    metric: String,
    axis: Option<String>,
    /// Places on the axis; one without a name where there is no axis.
    columns: Vec<String>,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    label: String,
    /// None: the sweep has no such point.
    cells: Vec<Option<Point>>,
}

/// Who won at one point.
#[derive(Serialize)]
struct Point {
    /// One: the winner. Several: not to be told apart. None: nothing could be compared.
    models: Vec<Model>,
    lead: Option<Lead>,
}

#[derive(Serialize)]
struct Lead {
    over: String,
    times: String,
    interval: String,
}

impl Map {
    pub(super) fn new(experiment: &ExperimentReport, link: &Link, palette: &Palette) -> Self {
        let winners = || experiment.groups.iter().flat_map(|group| &group.winners);
        let mut places: Vec<Option<f64>> = winners().map(|winner| winner.x).collect();
        places.sort_by(|a, b| {
            a.unwrap_or(f64::NEG_INFINITY)
                .total_cmp(&b.unwrap_or(f64::NEG_INFINITY))
        });
        places.dedup();
        let row = |group: &heddle_results::Group| Row {
            label: group.label.clone(),
            cells: places
                .iter()
                .map(|place| {
                    group
                        .winners
                        .iter()
                        .find(|winner| winner.x == *place)
                        .map(|winner| point(winner, palette))
                })
                .collect(),
        };
        Self {
            link: link.clone(),
            metric: experiment.metric.label.clone(),
            axis: experiment
                .axis
                .clone()
                .filter(|_| places.iter().any(Option::is_some)),
            columns: places
                .iter()
                .map(|place| place.map(parameter).unwrap_or_default())
                .collect(),
            rows: experiment.groups.iter().map(row).collect(),
        }
    }
}

fn point(winner: &Winner, palette: &Palette) -> Point {
    let lead = winner.lead.as_ref().map(|lead| Lead {
        over: lead.over.clone(),
        times: text::times(lead.times.value),
        interval: text::interval(lead.times.low, lead.times.high, ""),
    });
    Point {
        models: winner
            .models
            .iter()
            .map(|model| Model::new(model, palette))
            .collect(),
        lead,
    }
}

//! Plots as static SVG: every sample a dot, medians with their 95 % intervals, published figures as
//! labelled lines.
//!
//! All plots of an experiment share the metric's scale, so that groups can be compared by eye.
//! Where the metric goes through decades along the axis, they show ratios to the best of each
//! place. A plot is drawn for a width; the page holds a wide and a narrow one, and shows the one
//! that fits.

mod axes;
mod labels;
mod lines;
mod relative;
mod strip;

use crate::palette::Palette;
use crate::scale::Scale;
use crate::ticks::parameter;
use heddle_results::text::{BELOW_NOISE, Scaled, below_noise};
use heddle_results::{Better, Cell, ExperimentReport, Group, Series};
use std::collections::BTreeMap;

/// Widths, in user units, for which plots are drawn.
pub(crate) const WIDE: f64 = 900.0;
/// The width of a phone, or of half of a page.
pub(crate) const NARROW: f64 = 420.0;

/// What is drawn, and how wide.
pub(crate) struct Plot<'a> {
    pub(crate) experiment: &'a ExperimentReport,
    pub(crate) group: &'a Group,
    pub(crate) palette: &'a Palette,
    pub(crate) width: f64,
}

impl Plot<'_> {
    /// The plot, or nothing if no cell of the group has a good sample.
    pub(crate) fn draw(&self) -> Option<String> {
        let cells = || self.group.series.iter().flat_map(|series| &series.cells);
        if !cells().any(|cell| cell.values.iter().any(|value| value.is_finite())) {
            return None;
        }
        Some(if has_axis(self.experiment, self.group) {
            lines::draw(self)
        } else {
            strip::draw(self)
        })
    }

    fn narrow(&self) -> bool {
        self.width < 600.0
    }

    fn unit(&self) -> &str {
        &self.experiment.metric.unit
    }

    /// What is drawn of a value: itself, or the ratio to the best where ratios are drawn.
    fn drawn(&self, group: &Group) -> impl Fn(&Cell, f64) -> f64 + use<> {
        let best = self
            .relative()
            .then(|| relative::best(self.experiment, group))
            .flatten();
        let better = self.experiment.metric.better;
        move |cell, value| match &best {
            Some(best) => relative::times(best, better, cell, value),
            None => value,
        }
    }

    /// The scale of what is drawn, the same for every group.
    fn scale(&self, from: f64, to: f64) -> Scale {
        let mut shown: Vec<f64> = Vec::new();
        for group in &self.experiment.groups {
            let drawn = self.drawn(group);
            for cell in group.series.iter().flat_map(|series| &series.cells) {
                let ends = cell.median.iter().flat_map(|it| [it.low, it.high]);
                let values = cell.values.iter().copied().chain(ends);
                shown.extend(values.map(|value| drawn(cell, value)));
            }
        }
        let figures = self.experiment.figures.iter().map(|figure| figure.value);
        Scale::fit(shown.into_iter().chain(figures), from, to)
    }

    /// Whether ratios are drawn.
    fn relative(&self) -> bool {
        has_axis(self.experiment, self.group) && relative::suits(self.experiment)
    }

    /// What the metric's axis says of itself.
    fn caption(&self, scale: &Scale) -> String {
        let metric = &self.experiment.metric;
        let better = match metric.better {
            Better::Lower => "lower is better",
            Better::Higher => "higher is better",
        };
        let kind = match scale {
            scale if scale.logarithmic => ", log scale",
            scale if !scale.begins_at_zero() => ", axis does not begin at zero",
            _ => "",
        };
        if self.relative() {
            let axis = self.experiment.axis.as_deref().unwrap_or_default();
            return format!("{}, times the best at each {axis}{kind}", metric.label);
        }
        // Units that we know stand at the ticks; a word of the experiment's own stands here, once.
        let unit = match metric.unit.as_str() {
            "" | "ns" | "bytes" | "per_s" => String::new(),
            word => format!(" in {word}"),
        };
        format!("{}{unit} ({better}{kind})", metric.label)
    }

    fn title(&self) -> String {
        let at = if self.group.label.is_empty() {
            String::new()
        } else {
            format!(", {}", self.group.label)
        };
        let over = self
            .experiment
            .axis
            .as_deref()
            .filter(|_| has_axis(self.experiment, self.group))
            .map(|axis| format!(" over {axis}"));
        format!(
            "{}{} by model{at}; the table of numbers has the same",
            self.experiment.metric.label,
            over.unwrap_or_default()
        )
    }

    /// What is said of one cell when the pointer rests on it.
    fn tip(&self, series: &Series, cell: &Cell) -> String {
        let mut text = series.model.clone();
        if let (Some(axis), Some(x)) = (&self.experiment.axis, cell.x) {
            text += &format!(", {axis} = {}", parameter(x));
        }
        match cell.median {
            Some(median) => {
                let unit = Scaled::of([median.value], self.unit());
                let value = match below_noise(median, self.unit()) {
                    true => BELOW_NOISE.to_owned(),
                    false => unit.text(median.value),
                };
                text += &format!(": {value} (95 % {}), ", unit.ends(median));
                text += &samples(cell.values.len());
            }
            None => text += ": no good sample",
        }
        if !cell.failures.is_empty() {
            text += &format!(", {}", failures(cell));
        }
        text
    }
}

/// Whether there is anything to draw a line over: an axis, and two places on it or more.
pub(crate) fn has_axis(experiment: &ExperimentReport, group: &Group) -> bool {
    experiment.axis.is_some() && places(std::slice::from_ref(group)).len() >= 2
}

/// All places on the axis, rising.
fn places(groups: &[Group]) -> Vec<f64> {
    let cells = groups
        .iter()
        .flat_map(|group| &group.series)
        .flat_map(|series| &series.cells);
    let mut places: Vec<f64> = cells
        .filter_map(|cell| cell.x)
        .filter(|x| x.is_finite())
        .collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    places
}

/// `10 samples`.
pub(crate) fn samples(number: usize) -> String {
    format!("{number} sample{}", if number == 1 { "" } else { "s" })
}

/// How the samples that were not good ended: `2 hung, 1 crashed`.
pub(crate) fn failures(cell: &Cell) -> String {
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    for status in &cell.failures {
        *numbers
            .entry(format!("{status:?}").to_lowercase())
            .or_default() += 1;
    }
    numbers
        .iter()
        .map(|(status, number)| format!("{number} {status}"))
        .collect::<Vec<_>>()
        .join(", ")
}

/// References behind, then the models: what can win is never covered by what cannot.
fn back_to_front(group: &Group) -> impl Iterator<Item = &Series> {
    group
        .series
        .iter()
        .filter(|series| series.reference)
        .chain(group.series.iter().filter(|series| !series.reference))
}

fn group_class(palette: &Palette, series: &Series) -> String {
    format!(
        "c{}{}",
        palette.look(&series.model).colour,
        if series.reference { " ref" } else { "" }
    )
}

//! The metric over the experiment's axis, a line through the medians of each model.

use super::axes::{self, Frame};
use super::{Plot, back_to_front, group_class, labels, places};
use crate::scale::Scale;
use crate::svg::{Anchor, Svg, cut, width_of};
use crate::ticks::parameter;
use heddle_results::{Better, Cell, Series};

/// Room for a model's name at the end of its line, at most.
const LABEL_WIDTH: f64 = 160.0;

pub(crate) fn draw(plot: &Plot) -> String {
    let height = if plot.narrow() { 300.0 } else { 400.0 };
    let (top, bottom) = (30.0, height - 44.0);
    let y = plot.scale(bottom, top);
    let ticks = axes::metric_ticks(plot, &y, if plot.narrow() { 6 } else { 9 });
    let tick_width = ticks
        .iter()
        .map(|(_, label)| width_of(label))
        .fold(0.0, f64::max);
    let label_width = plot
        .group
        .series
        .iter()
        .map(|series| width_of(&series.model))
        .fold(0.0, f64::max)
        .min(LABEL_WIDTH);
    // A narrow plot has its legend above it.
    let right = if plot.narrow() {
        12.0
    } else {
        label_width + 34.0
    };
    let frame = Frame {
        left: tick_width + 14.0,
        right: plot.width - right,
        top,
        bottom,
    };

    let places = places(plot.experiment);
    let x = Scale::fit(
        places.iter().copied(),
        frame.left + 16.0,
        frame.right - 16.0,
    );

    let mut svg = Svg::new(
        if plot.narrow() {
            "plot narrow"
        } else {
            "plot wide"
        },
        plot.width,
        height,
        &plot.title(),
    );
    svg.text(
        "caption",
        0.0,
        14.0,
        Anchor::Start,
        &cut(&plot.caption(&y), plot.width),
    );
    axes::rising(&mut svg, frame, &y, &ticks);
    axes::across(
        &mut svg,
        frame,
        &x,
        &places
            .iter()
            .map(|&place| (place, parameter(place)))
            .collect::<Vec<_>>(),
    );
    let kind = if x.logarithmic { " (log scale)" } else { "" };
    let axis = format!(
        "{}{kind}",
        plot.experiment.axis.as_deref().unwrap_or_default()
    );
    svg.text(
        "caption",
        (frame.left + frame.right) / 2.0,
        height - 6.0,
        Anchor::Middle,
        &cut(&axis, frame.right - frame.left),
    );
    axes::figures_rising(&mut svg, plot, frame, &y);

    let dodge = Dodge::new(plot.group.series.len(), &places, &x);
    for (number, series) in back_to_front(plot.group).enumerate() {
        one(
            &mut svg,
            plot,
            series,
            &|cell| Some(x.at(cell.x?) + dodge.of(number)),
            &y,
            frame,
        );
    }
    if !plot.narrow() {
        names(&mut svg, plot, &x, &y, frame);
    }
    svg.finish()
}

/// Models stand a little beside each other at each place, so that their dots can be told apart.
struct Dodge {
    models: usize,
    step: f64,
}

impl Dodge {
    fn new(models: usize, places: &[f64], x: &Scale) -> Self {
        let nearest = places
            .windows(2)
            .map(|pair| (x.at(pair[1]) - x.at(pair[0])).abs())
            .fold(f64::INFINITY, f64::min);
        Self {
            models,
            step: (nearest * 0.5 / models.max(1) as f64).min(5.0),
        }
    }

    fn of(&self, number: usize) -> f64 {
        (number as f64 - (self.models as f64 - 1.0) / 2.0) * self.step
    }
}

fn one(
    svg: &mut Svg,
    plot: &Plot,
    series: &Series,
    x_of: &dyn Fn(&Cell) -> Option<f64>,
    y: &Scale,
    frame: Frame,
) {
    let look = plot.palette.look(&series.model);
    svg.open(&group_class(plot.palette, series));
    let dots: Vec<(f64, f64)> = series
        .cells
        .iter()
        .filter_map(|cell| Some((x_of(cell)?, cell)))
        .flat_map(|(x, cell)| {
            cell.values
                .iter()
                .filter(|value| value.is_finite())
                .map(move |value| (x, y.at(*value)))
        })
        .collect();
    svg.dots("dots", &dots);
    // A cell without a median interrupts the line: nothing is known there.
    for run in series.cells.split(|cell| cell.median.is_none()) {
        let points: Vec<(f64, f64)> = run
            .iter()
            .filter_map(|cell| Some((x_of(cell)?, y.at(cell.median?.value))))
            .collect();
        if points.len() > 1 {
            svg.polyline("line", &points);
        }
    }
    for cell in &series.cells {
        let Some(x) = x_of(cell) else { continue };
        svg.open("");
        svg.tip(&plot.tip(series, cell));
        match cell.median {
            Some(median) => {
                svg.line("interval", (x, y.at(median.low)), (x, y.at(median.high)));
                svg.shape(look.shape, (x, y.at(median.value)));
            }
            // At the worse end of the axis: a cell without a result is not a good one.
            None if !cell.failures.is_empty() => {
                let edge = if plot.experiment.metric.better == Better::Lower {
                    frame.top
                } else {
                    frame.bottom
                };
                svg.text("failed", x, edge + 5.0, Anchor::Middle, "✕");
            }
            None => {}
        }
        svg.close();
    }
    svg.close();
}

/// Names at the ends of the lines.
fn names(svg: &mut Svg, plot: &Plot, x: &Scale, y: &Scale, frame: Frame) {
    let ends: Vec<(&Series, f64, f64)> = back_to_front(plot.group)
        .filter_map(|series| {
            let cell = series
                .cells
                .iter()
                .rev()
                .find(|cell| cell.median.is_some())?;
            Some((series, x.at(cell.x?), y.at(cell.median?.value)))
        })
        .collect();
    let wanted: Vec<f64> = ends.iter().map(|end| end.2).collect();
    let label_x = frame.right + 28.0;
    for ((series, x, y), label_y) in
        ends.into_iter()
            .zip(labels::spread(&wanted, 16.0, frame.top, frame.bottom))
    {
        let look = plot.palette.look(&series.model);
        svg.open(&format!("{} name", group_class(plot.palette, series)));
        svg.polyline(
            "leader",
            &[
                (x + 16.0, y),
                (frame.right + 2.0, y),
                (label_x - 16.0, label_y),
            ],
        );
        svg.shape(look.shape, (label_x - 8.0, label_y));
        svg.text(
            "label",
            label_x + 2.0,
            label_y + 4.0,
            Anchor::Start,
            &cut(&series.model, LABEL_WIDTH),
        );
        svg.close();
    }
}

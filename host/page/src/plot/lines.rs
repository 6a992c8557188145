//! The metric over the experiment's axis, a line through the medians of each model.

use super::axes::{self, Frame};
use super::{Plot, back_to_front, failures, group_class, labels, places};
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
    let names = plot
        .group
        .series
        .iter()
        .map(|series| width_of(&series.model));
    // A narrow plot has its legend above it.
    let right = if plot.narrow() {
        12.0
    } else {
        names.fold(0.0, f64::max).min(LABEL_WIDTH) + 34.0
    };
    let frame = Frame {
        left: tick_width + 14.0,
        right: plot.width - right,
        top,
        bottom,
    };
    let places = places(&plot.experiment.groups);
    let x = Scale::fit(
        places.iter().copied(),
        frame.left + 16.0,
        frame.right - 16.0,
    );

    let class = if plot.narrow() {
        "plot narrow"
    } else {
        "plot wide"
    };
    let mut svg = Svg::new(class, plot.width, height, &plot.title());
    svg.text(
        "caption",
        0.0,
        14.0,
        Anchor::Start,
        &cut(&plot.caption(&y), plot.width),
    );
    axes::rising(&mut svg, frame, &y, &ticks);
    let x_ticks: Vec<_> = places
        .iter()
        .map(|&place| (place, parameter(place)))
        .collect();
    axes::across(&mut svg, frame, &x, &x_ticks);
    let axis = plot.experiment.axis.as_deref().unwrap_or_default();
    let axis = format!("{axis}{}", if x.logarithmic { " (log scale)" } else { "" });
    let middle = (frame.left + frame.right) / 2.0;
    svg.text(
        "caption",
        middle,
        height - 6.0,
        Anchor::Middle,
        &cut(&axis, frame.right - frame.left),
    );
    axes::figures_rising(&mut svg, plot, frame, &y);

    let dodge = Dodge::new(plot.group.series.len(), &places, &x);
    let lines = Lines {
        plot,
        frame,
        x,
        y,
        dodge,
    };
    for (number, series) in back_to_front(plot.group).enumerate() {
        lines.one(&mut svg, number, series);
    }
    lines.failures(&mut svg);
    if !plot.narrow() {
        lines.names(&mut svg);
    }
    svg.finish()
}

/// The samples of models stand a little beside each other at each place, so that they can be told
/// apart. Lines and medians stand where they were measured.
struct Dodge {
    models: usize,
    step: f64,
}

impl Dodge {
    fn new(models: usize, places: &[f64], x: &Scale) -> Self {
        let gaps = places
            .windows(2)
            .map(|pair| (x.at(pair[1]) - x.at(pair[0])).abs());
        let nearest = gaps.fold(f64::INFINITY, f64::min);
        Self {
            models,
            step: (nearest * 0.6 / models.max(1) as f64).min(6.0),
        }
    }

    fn of(&self, number: usize) -> f64 {
        (number as f64 - (self.models as f64 - 1.0) / 2.0) * self.step
    }
}

struct Lines<'a> {
    plot: &'a Plot<'a>,
    frame: Frame,
    x: Scale,
    y: Scale,
    dodge: Dodge,
}

impl Lines<'_> {
    /// Samples, line and medians of one series, the `number`th from the back.
    fn one(&self, svg: &mut Svg, number: usize, series: &Series) {
        let look = self.plot.palette.look(&series.model);
        let drawn = self.plot.drawn(self.plot.group);
        let y_of = |cell: &Cell, value: f64| self.y.at(drawn(cell, value));
        let x_of = |cell: &Cell| Some(self.x.at(cell.x?));
        let at = |cell: &Cell, value: f64| Some((x_of(cell)?, y_of(cell, value)));
        let beside = self.dodge.of(number);

        svg.open(&group_class(self.plot.palette, series));
        let known = |cell: &Cell| {
            cell.values
                .iter()
                .copied()
                .filter(|value| value.is_finite())
                .collect::<Vec<_>>()
        };
        let dots: Vec<_> = series
            .cells
            .iter()
            .flat_map(|cell| {
                let places = known(cell).into_iter().filter_map(|value| at(cell, value));
                places.map(|(x, y)| (x + beside, y)).collect::<Vec<_>>()
            })
            .collect();
        svg.dots("dots", &dots);
        // A cell without a median interrupts the line: nothing is known there.
        for run in series.cells.split(|cell| cell.median.is_none()) {
            let points: Vec<_> = run
                .iter()
                .filter_map(|cell| at(cell, cell.median?.value))
                .collect();
            if points.len() > 1 {
                svg.polyline("line", &points);
            }
        }
        for cell in &series.cells {
            let (Some(x), Some(median)) = (x_of(cell), cell.median) else {
                continue;
            };
            svg.open("");
            svg.tip(&self.plot.tip(series, cell));
            svg.line(
                "interval",
                (x, y_of(cell, median.low)),
                (x, y_of(cell, median.high)),
            );
            svg.shape(look.shape, (x, y_of(cell, median.value)));
            svg.close();
        }
        svg.close();
    }

    /// Cells without a result, at the worse end of the metric's axis: no result is not a good one.
    fn failures(&self, svg: &mut Svg) {
        let failed = |cell: &&Cell| cell.median.is_none() && !cell.failures.is_empty();
        let texts: Vec<(f64, String)> = back_to_front(self.plot.group)
            .flat_map(|series| {
                series
                    .cells
                    .iter()
                    .filter(failed)
                    .map(move |cell| (series, cell))
            })
            .filter_map(|(series, cell)| {
                let text = format!("✕ {}: {}", cut(&series.model, LABEL_WIDTH), failures(cell));
                let half = width_of(&text) / 2.0;
                let (low, high) = (self.frame.left + half, self.frame.right - half);
                Some((self.x.at(cell.x?).min(high).max(low), text))
            })
            .collect();
        let extent =
            |(x, text): &(f64, String)| (x - width_of(text) / 2.0, x + width_of(text) / 2.0);
        let rows = labels::rows(&texts.iter().map(extent).collect::<Vec<_>>(), 8.0);
        for ((x, text), row) in texts.into_iter().zip(rows) {
            let y = match self.plot.experiment.metric.better {
                Better::Lower => self.frame.top + 10.0 + 14.0 * row as f64,
                Better::Higher => self.frame.bottom - 6.0 - 14.0 * row as f64,
            };
            svg.text("failed", x, y, Anchor::Middle, &text);
        }
    }

    /// Names at the ends of the lines; beside the last point of a line that ends early.
    fn names(&self, svg: &mut Svg) {
        let drawn = self.plot.drawn(self.plot.group);
        let ends: Vec<(&Series, f64, f64)> = back_to_front(self.plot.group)
            .filter_map(|series| {
                let cell = series
                    .cells
                    .iter()
                    .rev()
                    .find(|cell| cell.median.is_some())?;
                let y = self.y.at(drawn(cell, cell.median?.value));
                Some((series, self.x.at(cell.x?), y))
            })
            .collect();
        let last = ends
            .iter()
            .map(|end| end.1)
            .fold(f64::NEG_INFINITY, f64::max);
        let (full, early): (Vec<_>, Vec<_>) = ends.into_iter().partition(|end| end.1 >= last - 1.0);

        let wanted: Vec<f64> = full.iter().map(|end| end.2).collect();
        let label_x = self.frame.right + 28.0;
        let label_ys = labels::spread(&wanted, 16.0, self.frame.top, self.frame.bottom);
        for ((series, x, y), label_y) in full.into_iter().zip(label_ys) {
            let look = self.plot.palette.look(&series.model);
            svg.open(&format!("{} name", group_class(self.plot.palette, series)));
            svg.polyline(
                "leader",
                &[
                    (x + 16.0, y),
                    (self.frame.right + 2.0, y),
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
        for (series, x, y) in early {
            svg.open(&format!("{} name", group_class(self.plot.palette, series)));
            svg.text(
                "label",
                x + 14.0,
                y + 4.0,
                Anchor::Start,
                &cut(&series.model, LABEL_WIDTH),
            );
            svg.close();
        }
    }
}

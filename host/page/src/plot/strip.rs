//! The metric without an axis: a row a model, the best on top.

use super::axes::{self, Frame};
use super::{Plot, failures, group_class};

use crate::scale::Scale;
use crate::svg::{Anchor, Svg, cut, width_of};
use heddle_results::text::{below_noise, measured, times};
use heddle_results::{Better, Cell, Estimate, Group, Series};

/// Room for a model's name, at most.
const LABEL_WIDTH: f64 = 190.0;
/// Room at the end of a row for a median and how many times the best it is.
const VALUE_WIDTH: f64 = 150.0;

pub(crate) fn draw(plot: &Plot) -> String {
    let rows = sorted(plot.group, plot.experiment.metric.better);
    let narrow = plot.narrow();
    let row_height = if narrow { 44.0 } else { 34.0 };
    let label_width = rows
        .iter()
        .map(|(series, _)| width_of(&series.model))
        .fold(0.0, f64::max)
        .min(LABEL_WIDTH);
    let (left, right) = if narrow {
        (8.0, plot.width - 8.0)
    } else {
        (label_width + 30.0, plot.width - VALUE_WIDTH)
    };

    let scale = plot.scale(left + 6.0, right - 6.0);
    let mut frame = Frame {
        left,
        right,
        top: 0.0,
        bottom: 0.0,
    };
    let texts = axes::figure_texts(plot, frame, &scale);
    frame.top = 30.0
        + if texts.rows > 0 {
            14.0 * texts.rows as f64 + 4.0
        } else {
            0.0
        };
    frame.bottom = frame.top + row_height * rows.len() as f64 + 6.0;
    let height = frame.bottom + 24.0;

    let mut svg = Svg::new(
        if narrow { "plot narrow" } else { "plot wide" },
        plot.width,
        height,
        &plot.title(),
    );
    svg.text(
        "caption",
        0.0,
        14.0,
        Anchor::Start,
        &cut(&plot.caption(&scale), plot.width),
    );
    axes::across(
        &mut svg,
        frame,
        &scale,
        &axes::metric_ticks(plot, &scale, if narrow { 5 } else { 9 }),
    );
    axes::figures_across(&mut svg, plot, frame, &scale, &texts);
    for (number, (series, cell)) in rows.into_iter().enumerate() {
        let top = frame.top + 3.0 + row_height * number as f64;
        row(&mut svg, plot, series, cell, &scale, frame, top, row_height);
    }
    svg.finish()
}

/// The best median first; references among the models, where their medians put them; what has no
/// median last.
fn sorted(group: &Group, better: Better) -> Vec<(&Series, &Cell)> {
    let mut rows: Vec<(&Series, &Cell)> = group
        .series
        .iter()
        .flat_map(|series| series.cells.iter().map(move |cell| (series, cell)))
        .collect();
    let key = |cell: &Cell| match (cell.median, better) {
        (None, _) => f64::INFINITY,
        (Some(median), Better::Lower) => median.value,
        (Some(median), Better::Higher) => -median.value,
    };
    rows.sort_by(|a, b| key(a.1).total_cmp(&key(b.1)));
    rows
}

#[expect(
    clippy::too_many_arguments,
    reason = "one caller; what a row needs has no shorter name"
)]
fn row(
    svg: &mut Svg,
    plot: &Plot,
    series: &Series,
    cell: &Cell,
    scale: &Scale,
    frame: Frame,
    top: f64,
    height: f64,
) {
    let narrow = plot.narrow();
    let look = plot.palette.look(&series.model);
    let middle = if narrow {
        top + height - 13.0
    } else {
        top + height / 2.0
    };
    let (text_y, mark_x, label_x) = if narrow {
        (top + 14.0, frame.left + 5.0, frame.left + 16.0)
    } else {
        (middle + 4.0, 7.0, 20.0)
    };
    let value_x = if narrow {
        frame.right
    } else {
        plot.width - 2.0
    };

    svg.open(&group_class(plot.palette, series));
    svg.tip(&plot.tip(series, cell));
    svg.line("row", (frame.left, middle), (frame.right, middle));
    svg.shape(look.shape, (mark_x, text_y - 4.0));
    svg.text(
        "label",
        label_x,
        text_y,
        Anchor::Start,
        &cut(&series.model, LABEL_WIDTH),
    );
    let dots: Vec<(f64, f64)> = cell
        .values
        .iter()
        .enumerate()
        .filter(|(_, value)| value.is_finite())
        // Multiples of the golden ratio never bunch: the dots of a row fill its height evenly, the
        // same way in every page.
        .map(|(number, value)| {
            (
                scale.at(*value),
                middle + ((number as f64 * 0.618_033_988_75).fract() - 0.5) * 16.0,
            )
        })
        .collect();
    svg.dots("dots", &dots);
    match cell.median {
        Some(median) => {
            svg.line(
                "interval",
                (scale.at(median.low), middle),
                (scale.at(median.high), middle),
            );
            svg.shape(look.shape, (scale.at(median.value), middle));
            svg.text(
                "value",
                value_x,
                text_y,
                Anchor::End,
                &cut(&value(plot, series, median), VALUE_WIDTH),
            );
        }
        None => {
            let why = if cell.failures.is_empty() {
                "no sample".into()
            } else {
                failures(cell)
            };
            svg.text(
                "failed",
                frame.left + 6.0,
                middle + 4.0,
                Anchor::Start,
                &format!("✕ {why}"),
            );
        }
    }
    svg.close();
}

/// `54.2 ns · 23.8×`: a median, and how many times worse than the best it is.
fn value(plot: &Plot, series: &Series, median: Estimate) -> String {
    let metric = &plot.experiment.metric;
    let text = measured(median, &metric.unit);
    let best = sorted(plot.group, metric.better).into_iter();
    let mut able = best.filter(|(other, _)| !other.reference);
    let best = able.find_map(|(other, cell)| Some((other, cell.median?)));
    match best {
        Some((best, other)) if best.model != series.model && other.value > 0.0 => {
            let ratio = match metric.better {
                Better::Lower => median.value / other.value,
                Better::Higher => other.value / median.value,
            };
            if ratio.is_finite() && ratio > 0.0 && !below_noise(median, &metric.unit) {
                format!("{text} · {}", times(ratio))
            } else {
                text
            }
        }
        _ => text,
    }
}

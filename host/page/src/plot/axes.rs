//! The frame of a plot: grid, ticks, captions and the lines of published figures.

use super::{Plot, labels};
use crate::scale::Scale;
use crate::svg::{Anchor, Svg, cut, width_of};
use crate::ticks;

/// The rectangle in which samples are drawn.
#[derive(Clone, Copy)]
pub(crate) struct Frame {
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    pub(crate) bottom: f64,
}

/// Ticks of the metric's axis with their labels.
pub(crate) fn metric_ticks(plot: &Plot, scale: &Scale, most: usize) -> Vec<(f64, String)> {
    let values = scale.ticks(most);
    if plot.relative() {
        let labels = ticks::labels(&values, "", scale.logarithmic);
        let times = labels.into_iter().map(|label| format!("{label}×"));
        return values.into_iter().zip(times).collect();
    }
    let labels = ticks::labels(&values, plot.unit(), scale.logarithmic);
    values.into_iter().zip(labels).collect()
}

/// Horizontal grid lines, labels at the left.
pub(crate) fn rising(svg: &mut Svg, frame: Frame, scale: &Scale, ticks: &[(f64, String)]) {
    for (value, label) in ticks {
        let y = scale.at(*value);
        svg.line("grid", (frame.left, y), (frame.right, y));
        svg.text("tick", frame.left - 7.0, y + 4.0, Anchor::End, label);
    }
}

/// Vertical lines, labels below; a label that would touch its left neighbour is left out.
pub(crate) fn across(svg: &mut Svg, frame: Frame, scale: &Scale, ticks: &[(f64, String)]) {
    let mut free_from = f64::NEG_INFINITY;
    for (value, label) in ticks {
        let x = scale.at(*value);
        let half = width_of(label) / 2.0;
        svg.line("grid", (x, frame.top), (x, frame.bottom));
        if x - half >= free_from {
            svg.text("tick", x, frame.bottom + 17.0, Anchor::Middle, label);
            free_from = x + half + 8.0;
        }
    }
}

/// Published figures in a plot whose metric rises: dashed, with a text above each line at the left.
pub(crate) fn figures_rising(svg: &mut Svg, plot: &Plot, frame: Frame, scale: &Scale) {
    let lines: Vec<f64> = plot
        .experiment
        .figures
        .iter()
        .map(|figure| scale.at(figure.value))
        .collect();
    let texts = labels::spread(
        &lines.iter().map(|y| y - 5.0).collect::<Vec<_>>(),
        14.0,
        frame.top + 10.0,
        frame.bottom - 4.0,
    );
    for ((figure, y), text) in plot.experiment.figures.iter().zip(lines).zip(texts) {
        svg.line("figure", (frame.left, y), (frame.right, y));
        svg.text(
            "figure-label",
            frame.left + 6.0,
            text,
            Anchor::Start,
            &cut(&figure.label, frame.right - frame.left - 12.0),
        );
    }
}

/// Where the texts of published figures go above a plot whose metric runs across: for each the row,
/// the place and the text.
pub(crate) struct FigureTexts {
    texts: Vec<(usize, f64, String)>,
    /// Rows that they need.
    pub(crate) rows: usize,
}

/// Lays out the texts; `scale` must be the one that is drawn with.
pub(crate) fn figure_texts(plot: &Plot, frame: Frame, scale: &Scale) -> FigureTexts {
    let figures = plot.experiment.figures.iter();
    let texts: Vec<(f64, String)> = figures
        .map(|figure| {
            let text = cut(&figure.label, frame.right - frame.left);
            let half = width_of(&text) / 2.0;
            (
                scale.at(figure.value).clamp(
                    frame.left + half,
                    (frame.right - half).max(frame.left + half),
                ),
                text,
            )
        })
        .collect();
    let extents: Vec<(f64, f64)> = texts
        .iter()
        .map(|(x, text)| (x - width_of(text) / 2.0, x + width_of(text) / 2.0))
        .collect();
    let rows = labels::rows(&extents, 10.0);
    let number = rows.iter().map(|row| row + 1).max().unwrap_or(0);
    FigureTexts {
        texts: rows
            .into_iter()
            .zip(texts)
            .map(|(row, (x, text))| (row, x, text))
            .collect(),
        rows: number,
    }
}

/// Published figures in a plot whose metric runs across.
pub(crate) fn figures_across(
    svg: &mut Svg,
    plot: &Plot,
    frame: Frame,
    scale: &Scale,
    layout: &FigureTexts,
) {
    for (figure, (row, text_x, text)) in plot.experiment.figures.iter().zip(&layout.texts) {
        let (x, text_y) = (scale.at(figure.value), frame.top - 6.0 - 14.0 * *row as f64);
        svg.line("figure", (x, text_y + 3.0), (x, frame.bottom));
        svg.text("figure-label", *text_x, text_y, Anchor::Middle, text);
    }
}

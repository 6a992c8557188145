//! The first screen's table: what are you building? A row for each use, with the best model, how
//! far the kinds of model are from it, and the reason.

use super::anchors::{Places, model_anchor};
use super::kinds::{best, columns};
use super::{Link, Model};
use crate::palette::Palette;
use crate::svg::px;
use heddle_results::text::{self, interval, measured, times};
use heddle_results::{Estimate, Place, Report, Row, rows};
use serde::Serialize;

/// Rows of a report whose experiments name no answer: more than these are further down.
const DERIVED: usize = 12;
/// Models at the front that are named.
const NAMED: usize = 2;
/// The bars' width and height.
const WIDTH: f64 = 84.0;
const HEIGHT: f64 = 7.0;

#[derive(Serialize)]
pub(super) struct Answers {
    columns: Vec<String>,
    rows: Vec<Answer>,
    /// Rows that are not shown.
    hidden: usize,
}

/// A use with the place at which it is read.
#[derive(Serialize)]
struct Answer {
    /// What people build; of an experiment that says nothing of it, the row's label.
    title: String,
    /// Where it was read, if that is not the title.
    label: String,
    link: Link,
    /// The best, and those that cannot be told from it; empty: nothing could be compared.
    front: Vec<Model>,
    /// How many more of them there are.
    more: usize,
    /// Its median, and what it is of: `6.38 µs`, `a request`.
    value: String,
    each: String,
    anchor: String,
    /// Why there is no best.
    nothing: &'static str,
    bars: Vec<Option<Bar>>,
    because: String,
    /// Other places that answer the same use.
    also: Vec<Also>,
}

/// How many times worse than the best the best of a kind is.
#[derive(Serialize)]
struct Bar {
    text: String,
    interval: String,
    /// `best`, `level` (cannot be told from it) or `behind`.
    standing: &'static str,
    model: String,
    svg: String,
    anchor: String,
}

#[derive(Serialize)]
struct Also {
    label: String,
    anchor: String,
    best: String,
}

impl Answers {
    pub(super) fn new(report: &Report, places: &Places, palette: &Palette) -> Self {
        let mut all = rows(report);
        let count = all.len();
        if all.iter().any(|row| row.answered) {
            all.retain(|row| row.answered);
        } else {
            all.truncate(DERIVED);
        }
        let hidden = count - all.len();
        let (mut first, mut others): (Vec<Row>, Vec<Row>) = (Vec::new(), Vec::new());
        for row in all {
            let own = &row.experiment.usage;
            let same = |other: &Row| !own.is_empty() && other.experiment.usage == *own;
            match first.iter().any(same) {
                true => others.push(row),
                false => first.push(row),
            }
        }
        let columns = columns(&first);
        let most = first.iter().filter_map(|row| row.place);
        let most = most.flat_map(|place| {
            let ratios = columns.iter().filter_map(move |kind| {
                let (times, _) = place.behind(best(&place, kind)?)?;
                Some(times.high)
            });
            ratios.collect::<Vec<_>>()
        });
        let most = most.filter(|high| high.is_finite()).fold(2.0, f64::max);
        let sheet = Sheet {
            places,
            palette,
            columns: &columns,
            most,
        };
        let answer = |row: &Row| {
            let usage = &row.experiment.usage;
            let same = |other: &&Row| !usage.is_empty() && other.experiment.usage == *usage;
            let also = others.iter().filter(same);
            sheet.answer(row, also.filter_map(|row| sheet.also(row)).collect())
        };
        Self {
            rows: first.iter().filter_map(answer).collect(),
            columns: columns.iter().map(|name| (*name).to_owned()).collect(),
            hidden,
        }
    }
}

/// What all rows share.
struct Sheet<'a> {
    places: &'a Places<'a>,
    palette: &'a Palette,
    columns: &'a [&'a str],
    /// The largest ratio, at the end of the bars.
    most: f64,
}

impl Sheet<'_> {
    fn answer(&self, row: &Row, also: Vec<Also>) -> Option<Answer> {
        let link = self.places.link(row.experiment)?;
        let usage = capital(&row.experiment.usage);
        let (title, label) = match usage.is_empty() {
            true => (row.label.clone(), String::new()),
            false => (usage, row.label.clone()),
        };
        let models = row.place.map(|place| &place.winner.models[..]);
        let models = models.unwrap_or_default();
        let best = models.first().map(String::as_str);
        let metric = &row.experiment.metric;
        let median = best.and_then(|best| row.place?.cell(best)?.median);
        let bar = |kind: &&str| self.bar(row, row.place?, kind);
        let front = row.place.map(|place| place.front()).unwrap_or_default();
        Some(Answer {
            title,
            label,
            link: link.clone(),
            more: front.len().saturating_sub(NAMED),
            front: front
                .iter()
                .take(NAMED)
                .map(|name| Model::of_front(name, self.palette))
                .collect(),
            value: median.map_or_else(String::new, |it| measured(it, &metric.unit)),
            each: metric.short(),
            anchor: best.map_or_else(String::new, |best| self.anchor(row, best)),
            nothing: match (row.place, models) {
                (None, _) => "did not run",
                (Some(_), []) => "no sound result, or too few samples",
                _ => "",
            },
            bars: self.columns.iter().map(bar).collect(),
            because: because(row),
            also,
        })
    }

    fn also(&self, row: &Row) -> Option<Also> {
        let best = row.place?.winner.models.first()?;
        Some(Also {
            label: row.label.clone(),
            anchor: self.anchor(row, best),
            best: row.place?.front().first()?.clone(),
        })
    }

    fn bar(&self, row: &Row, place: Place, kind: &str) -> Option<Bar> {
        let model = best(&place, kind)?;
        let (ratio, told) = place.behind(model)?;
        let is_best = place
            .winner
            .models
            .first()
            .is_some_and(|best| best == model);
        let standing = match (is_best, told) {
            (true, _) => "best",
            (_, false) => "level",
            _ => "behind",
        };
        Some(Bar {
            text: match is_best {
                true => "best".into(),
                false => times(ratio.value),
            },
            interval: match is_best {
                true => String::new(),
                false => interval(ratio.low, ratio.high, ""),
            },
            standing,
            svg: self.bar_svg(model, ratio),
            model: model.to_owned(),
            anchor: self.anchor(row, model),
        })
    }

    /// A bar from 1 to the ratio, in a logarithmic scale that all bars share, and its interval.
    fn bar_svg(&self, model: &str, ratio: Estimate) -> String {
        let x = |value: f64| {
            let part = value.max(1.0).ln() / self.most.ln();
            2.0 + if part.is_finite() {
                part.clamp(0.0, 1.0)
            } else {
                0.0
            } * (WIDTH - 4.0)
        };
        let look = self.palette.look(model);
        let (to, low, high) = (x(ratio.value), x(ratio.low), x(ratio.high));
        let mut svg = format!(
            r#"<svg class="bar c{}" viewBox="0 0 {} {}" preserveAspectRatio="none" aria-hidden="true"><path d="M0 0H{}V{HEIGHT}H0z"/>"#,
            look.colour,
            px(WIDTH),
            px(HEIGHT),
            px(to),
        );
        if high > low {
            let middle = HEIGHT / 2.0;
            svg += &format!(
                r#"<path class="whisker" d="M{} {middle}H{}M{} 1v5M{} 1v5"/>"#,
                px(low),
                px(high),
                px(low),
                px(high)
            );
        }
        svg + "</svg>"
    }

    fn anchor(&self, row: &Row, model: &str) -> String {
        let found = row
            .place
            .and_then(|place| model_anchor(self.places, row.experiment, place, model));
        found.unwrap_or_default()
    }
}

/// What a counter says of it; of a place at which nothing is behind, that.
fn because(row: &Row) -> String {
    let nothing = row
        .place
        .is_some_and(|place| place.winner.models.len() > 1 && place.winner.behind.is_empty());
    match row.because() {
        _ if nothing => "nothing can be told apart here".into(),
        Some(contrast) => contrast.text(str::to_owned),
        None => String::new(),
    }
}

/// A sentence's first letter.
pub(super) fn capital(words: &str) -> String {
    let mut letters = words.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

/// How busy others kept the machine: `53 %`.
pub(super) fn percent(share: f64) -> String {
    format!("{} %", text::count((100.0 * share).round()))
}

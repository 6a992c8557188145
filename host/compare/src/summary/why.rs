//! WHY: the counter in which the best and another model differ most.

use super::rows::{self, Row, family};
use crate::layout::{Line, length};
use anstyle::Style;
use heddle_results::Report;
use heddle_results::text::{counter, number, phrase, unit_of};

/// Beyond this factor one contrast is as telling as another, and the row that comes first is taken.
const ENOUGH: f64 = 10.0;
/// Below it a counter explains nothing.
const TOO_LITTLE: f64 = 1.5;

/// Two models, and what the counter says of them.
struct Contrast<'a> {
    label: &'a str,
    name: &'a str,
    more: (&'a str, f64),
    less: (&'a str, f64),
    factor: f64,
}

/// `WHY  HTTP: 1.03 kernel switches a request (thread), 0.044 (cooperative/asm)`.
pub fn line(report: &Report, width: usize) -> Option<Line> {
    let rows = rows::all(report);
    let mut found: Option<Contrast> = None;
    for contrast in rows.iter().filter_map(contrast) {
        if found
            .as_ref()
            .is_none_or(|found| contrast.factor > found.factor)
        {
            found = Some(contrast);
        }
    }
    let found = found.filter(|found| found.factor >= TOO_LITTLE)?;
    let (more, less) = (found.more, found.less);
    // The table says at which point.
    let label = found.label.split(',').next().unwrap_or(found.label);
    let (high, low) = (phrase(found.name, Some(more.1)), short(found.name, less.1));
    let text = |a: &str, b: &str| format!("  {label}: {high} ({a}), {low} ({b})");
    let mut text = [text(more.0, less.0), text(family(more.0), family(less.0))];
    let fits = 3 + length(&text[0]) <= width;
    let text = std::mem::take(&mut text[usize::from(!fits)]);
    Some(
        Line::default()
            .add(Style::new().bold(), "WHY")
            .add(Style::new(), text),
    )
}

fn contrast<'a>(row: &'a Row<'a>) -> Option<Contrast<'a>> {
    let (name, place) = (row.why?, row.place?);
    let value = |model: &str| place.cell(model)?.counters.get(name).copied();
    let best = place.winner.models.first()?.as_str();
    let own = value(best)?;
    let mut found: Option<Contrast> = None;
    for (_, model, _) in place.others() {
        let Some(other) = value(model) else { continue };
        let (high, low) = (own.max(other), own.min(other));
        if !(high.is_finite() && low >= 0.0 && high > 0.0) {
            continue;
        }
        let factor = (high / low.max(high / (2.0 * ENOUGH))).min(ENOUGH);
        if found.as_ref().is_none_or(|found| factor > found.factor) {
            let (a, b) = ((best, own), (model, other));
            let (more, less) = if own > other { (a, b) } else { (b, a) };
            let label = &row.label;
            found = Some(Contrast {
                label,
                name,
                more,
                less,
                factor,
            });
        }
    }
    found
}

/// The value alone: its name stands before it.
fn short(name: &str, value: f64) -> String {
    match (value, unit_of(name)) {
        (0.0, _) => "none".into(),
        (value, "") if value.fract() != 0.0 => number(value),
        (value, _) => counter(name, value),
    }
}

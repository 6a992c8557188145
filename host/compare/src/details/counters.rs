//! What was counted, a row a model.

use super::table::{aligned, places};
use super::{Wide, line};
use heddle_results::text::{counter, words};
use heddle_results::{Cell, ExperimentReport, Group};
use std::collections::BTreeSet;

/// Appends a table for each group, at the last place of its axis: medians of every counter that was
/// counted there.
pub fn print(text: &mut String, experiment: &ExperimentReport, wide: Wide) {
    for group in &experiment.groups {
        let Some(x) = places(group).last().copied() else {
            continue;
        };
        let cells = at(group, x);
        let names = names(&cells);
        if names.is_empty() {
            continue;
        }
        let mut place: Vec<String> = Vec::new();
        if !group.label.is_empty() {
            place.push(group.label.clone());
        }
        if let (Some(axis), Some(x)) = (&experiment.axis, x) {
            place.push(format!("{axis}={x}"));
        }
        let place = if place.is_empty() {
            String::new()
        } else {
            format!(" at {}", place.join(", "))
        };
        text.push('\n');
        line(
            text,
            &format!("Counters{place}, medians of a sample:"),
            wide,
            2,
        );
        let head = std::iter::once(String::new()).chain(names.iter().map(|name| words(name)));
        let mut rows = vec![head.collect::<Vec<String>>()];
        for (model, cell) in cells {
            let value = |name: &&str| {
                let value = cell.counters.get(*name);
                value.map_or_else(String::new, |value| counter(name, *value))
            };
            let row = std::iter::once(model.to_owned()).chain(names.iter().map(value));
            rows.push(row.collect());
        }
        text.push_str(&aligned(&rows, wide.table));
    }
}

/// The models that ran at a place, with their cells.
fn at(group: &Group, x: Option<f64>) -> Vec<(&str, &Cell)> {
    let cell =
        |series: &'_ heddle_results::Series| series.cells.iter().position(|cell| cell.x == x);
    let series = group.series.iter();
    series
        .filter_map(|series| Some((series.model.as_str(), &series.cells[cell(series)?])))
        .collect()
}

/// The counters that are not 0 everywhere.
fn names<'a>(cells: &[(&'a str, &'a Cell)]) -> Vec<&'a str> {
    let all = cells.iter().flat_map(|(_, cell)| &cell.counters);
    let names: BTreeSet<&str> = all
        .filter(|(_, value)| **value != 0.0)
        .map(|(name, _)| name.as_str())
        .collect();
    names.into_iter().collect()
}

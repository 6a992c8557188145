//! An experiment as a table: a row a model, set against one of them.

use super::{Wide, line};
use crate::layout::length;
use heddle_results::text::{counter, interval, quantity, times, words};
use heddle_results::{Cell, ExperimentReport, Group, Table};

/// Appends the tables of an experiment that asks for them: one for each place of its sweep.
pub fn print(text: &mut String, experiment: &ExperimentReport, wide: Wide) {
    let Some(table) = &experiment.table else {
        return;
    };
    for group in &experiment.groups {
        for x in places(group) {
            let place = match (&experiment.axis, x) {
                (Some(axis), Some(x)) => format!("{axis}={x}"),
                _ => String::new(),
            };
            let at: Vec<&str> = [group.label.as_str(), &place]
                .into_iter()
                .filter(|part| !part.is_empty())
                .collect();
            let at = at.join(", ");
            let title = if at.is_empty() {
                experiment.title.clone()
            } else {
                format!("{} ({at})", experiment.title)
            };
            text.push('\n');
            line(text, &format!("{}: {title}", experiment.id), wide, 2);
            text.push_str(&aligned(&rows(experiment, table, group, x), wide.table));
        }
    }
}

/// The places on the axis, in order.
pub fn places(group: &Group) -> Vec<Option<f64>> {
    let cells = group.series.iter().flat_map(|series| &series.cells);
    let mut places: Vec<Option<f64>> = cells.map(|cell| cell.x).collect();
    places.sort_by(|a, b| a.unwrap_or(0.0).total_cmp(&b.unwrap_or(0.0)));
    places.dedup();
    places
}

/// Head and rows: model, metric, its interval, ratio to the base with its interval, the columns.
fn rows(
    experiment: &ExperimentReport,
    table: &Table,
    group: &Group,
    x: Option<f64>,
) -> Vec<Vec<String>> {
    let mut head = vec![String::new(), experiment.metric.label.clone()];
    head.extend([
        "95 %".into(),
        format!("÷ {}", table.base),
        "95 %".to_owned(),
    ]);
    head.extend(table.columns.iter().map(|name| words(name)));
    let mut rows = vec![head];
    for series in &group.series {
        for cell in series.cells.iter().filter(|cell| cell.x == x) {
            rows.push(row(experiment, table, &series.model, cell));
        }
    }
    rows
}

fn row(experiment: &ExperimentReport, table: &Table, model: &str, cell: &Cell) -> Vec<String> {
    let unit = &experiment.metric.unit;
    let mut row = vec![model.to_owned()];
    match cell.median {
        Some(median) => row.extend([
            quantity(median.value, unit),
            interval(median.low, median.high, unit),
        ]),
        None => row.extend(["failed".to_owned(), String::new()]),
    }
    match cell.to_base {
        Some(ratio) => row.extend([times(ratio.value), interval(ratio.low, ratio.high, "")]),
        None => row.extend([String::new(), String::new()]),
    }
    let column = |(name, value): (&String, &Option<f64>)| {
        value.map_or_else(String::new, |value| counter(name, value))
    };
    row.extend(table.columns.iter().zip(&cell.columns).map(column));
    row
}

/// The first column to the left, the others to the right. Columns that do not fit beside each other
/// go below each other, with the first one again.
pub fn aligned(rows: &[Vec<String>], width: usize) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let wide = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        2 + cells.map(|cell| length(cell)).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(wide).collect();
    let mut text = String::new();
    let mut from = 1;
    while from < columns.max(2) {
        let mut room = width.saturating_sub(widths.first().copied().unwrap_or(0));
        let mut to = from;
        while to < columns && (to == from || widths[to] <= room) {
            room = room.saturating_sub(widths[to]);
            to += 1;
        }
        if from > 1 {
            text.push('\n');
        }
        for row in rows {
            let shown = std::iter::once(0).chain(from..to);
            let line = shown.filter_map(|column| {
                let (cell, width) = (row.get(column)?, widths[column] - 2);
                Some(match column {
                    0 => format!("  {cell:<width$}"),
                    _ => format!("  {cell:>width$}"),
                })
            });
            text.push_str(line.collect::<String>().trim_end());
            text.push('\n');
        }
        from = to.max(from + 1);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_what_is_in_them() {
        let rows = [["", "time"], ["ring", "1.30 µs"], ["naive/hooks", "9 ns"]];
        let rows = rows.map(|row| row.map(String::from).to_vec());
        assert_eq!(
            aligned(&rows, 80),
            "                  time\n  ring         1.30 µs\n  naive/hooks     9 ns\n"
        );
    }

    #[test]
    fn columns_that_do_not_fit_go_below_the_others() {
        let rows = [["", "time", "calls"], ["ring", "1.30 µs", "17"]];
        let rows = rows.map(|row| row.map(String::from).to_vec());
        assert_eq!(
            aligned(&rows, 20),
            "           time\n  ring  1.30 µs\n\n        calls\n  ring     17\n"
        );
    }
}

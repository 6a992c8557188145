//! Where the time of recorded samples went, a row a cell.

use super::table::places;
use super::{Wide, line};
use crate::layout::length;
use crate::summary::time as shared;
use heddle_results::ExperimentReport;

/// Appends a table of all recorded cells, if there are any.
pub fn print(text: &mut String, experiment: &ExperimentReport, wide: Wide) {
    let mut rows: Vec<(String, String)> = Vec::new();
    for group in &experiment.groups {
        for x in places(group) {
            for series in &group.series {
                let cells = series.cells.iter().filter(|cell| cell.x == x);
                for traced in cells.filter_map(|cell| cell.traced.as_ref()) {
                    let place = match (&experiment.axis, x) {
                        (Some(axis), Some(x)) => format!("{axis}={x}"),
                        _ => String::new(),
                    };
                    let name = [series.model.as_str(), &group.label, &place];
                    let name: Vec<&str> = name.into_iter().filter(|it| !it.is_empty()).collect();
                    rows.push((name.join(" "), shared::line(traced)));
                }
            }
        }
    }
    let Some(widest) = rows.iter().map(|row| length(&row.0)).max() else {
        return;
    };
    text.push('\n');
    let title = "Where the time of all threads went, % (cpu: preempted; ?: not known; –: not told \
                 apart from work; traced: time over the same sample\'s without the recorder):";
    line(text, title, wide, 2);
    text.push_str(&shared::head("", widest + 2));
    text.push('\n');
    for (name, row) in rows {
        text.push_str(&format!("  {name:<widest$}{row}\n"));
    }
}

//! Tables as their source prints them, published figures beside ours.

use super::table::aligned;
use super::{INDENT, Wide};
use crate::layout::length;
use heddle_results::{CellReport, PrintedTable, Verdict};

/// Appends them: for each column what is published, ours with a sign for the verdict, and its
/// interval. A table stands under what is said of its claim, or, where it is too wide for that, at
/// the left.
pub fn print(text: &mut String, tables: &[PrintedTable], wide: Wide) {
    for table in tables {
        let rows = rows(table);
        let whole = aligned(&rows, usize::MAX);
        let widest = whole.lines().map(length).max().unwrap_or(0);
        // Tables are indented a little by themselves.
        let indent = INDENT - 2;
        text.push('\n');
        if widest + indent <= wide.table {
            for line in whole.lines() {
                text.push_str(&format!("{:indent$}{line}\n", ""));
            }
        } else {
            text.push_str(&aligned(&rows, wide.table));
        }
        text.push('\n');
    }
}

fn rows(table: &PrintedTable) -> Vec<Vec<String>> {
    let own = |text: &str| text.to_owned();
    let ours = if table.percent { "ours, %" } else { "ours, ×" };
    let mut titles: Vec<String> = vec![String::new(); table.heads.len()];
    let mut heads: Vec<String> = table.heads.iter().map(|head| own(head)).collect();
    for column in &table.columns {
        titles.extend([column.title, "", ""].map(own));
        heads.extend(["published", ours, "95 %"].map(own));
    }
    let mut rows = vec![heads];
    if table.columns.len() > 1 {
        rows.insert(0, titles);
    }
    let body = table.rows.iter().map(|row| {
        let cells = row
            .cells
            .iter()
            .flat_map(|found| found.map(cell).unwrap_or_default());
        row.names.iter().cloned().chain(cells).collect()
    });
    rows.extend(body);
    rows
}

fn cell(cell: &CellReport) -> [String; 3] {
    match cell.measured() {
        Some((value, interval)) => [
            cell.figure.clone(),
            format!("{} {value}", sign(cell.verdict)),
            interval,
        ],
        None => [cell.figure.clone(), "–".to_owned(), String::new()],
    }
}

/// A verdict where there is no room for its word.
pub fn sign(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Reproduced => "✓",
        Verdict::NotReproduced => "✗",
        Verdict::Inconclusive => "?",
        Verdict::Skipped => "–",
    }
}

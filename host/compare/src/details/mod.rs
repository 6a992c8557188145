//! Everything that a comparison found, as text: tables, claims, sentences. For `--verbose`,
//! `--show` and `--ledger`.

mod counters;
mod ledger;
mod markdown;
mod printed;
mod show;
mod table;
#[cfg(test)]
mod tests;
mod time;

pub use markdown::{cell, markdown};
pub use show::show;

use super::layout::wrap;
use heddle_results::Report;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Where what is said of a claim begins; its verdict stands before.
const INDENT: usize = 18;

/// How wide lines may be: on a terminal they are broken there; elsewhere a sentence is a line, so
/// that it can be searched for.
#[derive(Clone, Copy, Debug)]
pub struct Wide {
    /// Characters that a table may take.
    pub table: usize,
    /// Characters that a sentence may take.
    pub sentence: usize,
}

impl Wide {
    /// For standard output.
    pub fn here() -> Self {
        let (table, terminal) = super::layout::width();
        let sentence = if terminal { table } else { usize::MAX };
        // A pipe has no width that a table could exceed.
        let table = if terminal { table } else { usize::MAX };
        Self { table, sentence }
    }
}

/// What was left out, what went wrong, the tables, the claims and the verdict sentences.
pub fn of(report: &Report, wide: Wide) -> String {
    let mut text = String::new();
    for note in &report.notes {
        line(&mut text, note, wide, 2);
    }
    let skipped = skipped(report);
    section(
        &mut text,
        "Skipped:",
        skipped
            .iter()
            .map(|(reason, who)| format!("{who}: {reason}")),
        wide,
    );
    let troubles = report
        .experiments
        .iter()
        .flat_map(|experiment| experiment.troubles.iter().cloned());
    section(&mut text, "Trouble:", troubles, wide);
    for experiment in &report.experiments {
        table::print(&mut text, experiment, wide);
    }
    ledger::all(&mut text, report, wide);
    let verdicts = report
        .experiments
        .iter()
        .flat_map(|experiment| experiment.verdicts.iter().cloned());
    section(&mut text, "Verdicts:", verdicts, wide);
    text.push('\n');
    text
}

/// Reasons with who was left out for them; what the user left out needs no telling.
fn skipped(report: &Report) -> BTreeMap<String, String> {
    let mut reasons: BTreeMap<String, String> = BTreeMap::new();
    for experiment in &report.experiments {
        for skipped in experiment
            .skipped
            .iter()
            .filter(|skipped| skipped.reason != "left out by --model")
        {
            let who = reasons.entry(skipped.reason.clone()).or_default();
            let comma = if who.is_empty() { "" } else { ", " };
            let _ = write!(who, "{comma}{} in {}", skipped.model, experiment.id);
        }
    }
    reasons
}

fn section(text: &mut String, title: &str, lines: impl Iterator<Item = String>, wide: Wide) {
    let mut lines = lines.peekable();
    if lines.peek().is_some() {
        let _ = writeln!(text, "\n{title}");
        lines.for_each(|one| line(text, &format!("  {one}"), wide, 4));
    }
}

/// A line, or as many as it takes; all but the first are indented.
fn line(text: &mut String, line: &str, wide: Wide, indent: usize) {
    if wide.sentence == usize::MAX {
        let _ = writeln!(text, "{line}");
        return;
    }
    for piece in wrap(line, wide.sentence, indent) {
        let _ = writeln!(text, "{piece}");
    }
}

//! `--show`: one experiment of the last finished report.

use super::{Wide, counters, ledger, line, section, table, time};
use anstyle::Style;
use heddle_results::ExperimentReport;
use std::fmt::Write;

/// Its question and verdicts, its tables, what was counted, its claims, what is missing, and
/// commands that repeat a sample.
pub fn show(experiment: &ExperimentReport, wide: Wide) -> String {
    let mut text = String::new();
    let bold = Style::new().bold();
    let mut head = String::new();
    line(
        &mut head,
        &format!("{}: {}", experiment.id, experiment.title),
        wide,
        2,
    );
    let id = format!("{bold}{}{bold:#}", experiment.id);
    text.push_str(&head.replacen(&experiment.id, &id, 1));
    if !experiment.question.is_empty() {
        line(&mut text, &experiment.question, wide, 0);
    }
    if let Some(source) = &experiment.source {
        let place = if source.place.is_empty() {
            String::new()
        } else {
            format!(", {}", source.place)
        };
        line(
            &mut text,
            &format!("Source: {}{place}", source.document),
            wide,
            2,
        );
    }
    section(
        &mut text,
        "Verdicts:",
        experiment.verdicts.iter().cloned(),
        wide,
    );
    table::print(&mut text, experiment, wide);
    time::print(&mut text, experiment, wide);
    counters::print(&mut text, experiment, wide);
    ledger::of(&mut text, experiment, wide);
    let skipped = experiment.skipped.iter();
    let skipped = skipped.map(|skipped| format!("{}: {}", skipped.model, skipped.reason));
    section(&mut text, "Skipped:", skipped, wide);
    section(
        &mut text,
        "Trouble:",
        experiment.troubles.iter().cloned(),
        wide,
    );
    if !experiment.commands.is_empty() {
        // A command is one line, so that it can be copied.
        let _ = writeln!(text, "\nA sample again:");
        for command in experiment.commands.values() {
            let _ = writeln!(text, "  {command}");
        }
    }
    text
}

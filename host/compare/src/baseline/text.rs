//! What has changed, for a terminal.

use super::judge::{Change, Comparison, Origin};
use super::saved::SavedCell;
use super::steps::Step;
use crate::layout::wrap;
use heddle_results::text::{number, quantity, times};
use heddle_results::{Value, Values};
use std::fmt::Write;
use std::time::{Duration, UNIX_EPOCH};

/// Where the texts begin.
const COLUMN: usize = 10;
/// From this noise on, saved runs tell so little that a better way is named.
const NOISY: f64 = 0.15;
/// Changes of a kind that are named.
const MOST: usize = 10;

/// The lines, each with a line end.
pub fn of(name: &str, comparison: &Comparison, width: usize) -> String {
    let mut text = String::from("\n");
    section(&mut text, "AGAINST", &against(name, comparison), width);
    section(&mut text, "NOISE", &noise(comparison), width);
    let kinds: [(_, Vec<&Change>); 2] = [
        ("WORSE", comparison.worse().collect()),
        ("BETTER", comparison.better().collect()),
    ];
    for (title, changes) in kinds {
        for (index, change) in changes.iter().take(MOST).enumerate() {
            let title = if index == 0 { title } else { "" };
            section(&mut text, title, &line(change), width);
        }
        if let Some(more @ 1..) = changes.len().checked_sub(MOST) {
            section(&mut text, "", &format!("and {more} more"), width);
        }
    }
    section(&mut text, "SAME", &same(comparison), width);
    for (index, step) in comparison.steps.iter().take(MOST).enumerate() {
        let title = if index == 0 { "SINCE" } else { "" };
        section(&mut text, title, &since(step), width);
    }
    if let Some(more @ 1..) = comparison.steps.len().checked_sub(MOST) {
        section(&mut text, "", &format!("and {more} more"), width);
    }
    text
}

/// `run 7 of 12, 2026-11-24T18:02:11Z: mine fast n=1 is 1.12× worse than before it`.
pub fn since(step: &Step) -> String {
    let (word, factor) = match step.worse {
        worse if worse >= 1.0 => ("worse", worse),
        worse => ("better", 1.0 / worse),
    };
    format!(
        "run {} of {}, {}: {} is {} {word} than before it",
        step.number,
        step.runs,
        day(step.run.started_ns),
        name(step.cell),
        times(factor)
    )
}

fn section(text: &mut String, title: &str, words: &str, width: usize) {
    for (index, line) in wrap(words, width.saturating_sub(COLUMN), 2)
        .iter()
        .enumerate()
    {
        let title = if index == 0 { title } else { "" };
        let _ = writeln!(text, "{title:COLUMN$}{}", line.trim_end());
    }
}

/// Which run it is compared with.
pub fn against(name: &str, comparison: &Comparison) -> String {
    match comparison.origin {
        Origin::Saved { last, runs } => format!(
            "{name}, the last of {runs} saved runs: {}, Heddle {}",
            day(last.started_ns),
            last.version
        ),
        Origin::Beside { place } => format!("{place}, measured in turns with this: in pairs"),
    }
}

fn day(started_ns: u64) -> String {
    humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_nanos(started_ns)).to_string()
}

/// Which changes are told.
pub fn noise(comparison: &Comparison) -> String {
    let halves = match (comparison.calibrated, comparison.origin) {
        (Some(share), _) => format!("two halves of one run differ by up to {}", percent(share)),
        (None, Origin::Saved { .. }) => "too few samples to compare two halves of a run".into(),
        (None, Origin::Beside { .. }) => "what lasts longer than a pair does not count".into(),
    };
    let pairs = match comparison.origin {
        Origin::Saved { .. } if comparison.noise > NOISY => {
            "; in pairs smaller ones are told: `--beside` an earlier checkout"
        }
        _ => "",
    };
    format!(
        "changes up to {} are not told; {halves}{pairs}",
        percent(comparison.noise)
    )
}

/// The number of cells of which no change is told, and of those that were not compared.
pub fn same(comparison: &Comparison) -> String {
    let mut text = format!(
        "{} of {} cells: no significant change larger than that",
        comparison.compared - comparison.changes.len(),
        comparison.compared
    );
    let other = match comparison.origin {
        Origin::Saved { .. } => "in the saved run".to_owned(),
        Origin::Beside { place } => format!("in {place}"),
    };
    for (count, what) in [
        (
            comparison.incomparable,
            "have too few samples for so many cells (`-n 20`), or values not above 0".to_owned(),
        ),
        (
            comparison.blunt,
            "of these have too few samples to tell a change alone (`-n 20`)".to_owned(),
        ),
        (
            comparison.other_work,
            format!("fix other parameters than {other}"),
        ),
        (comparison.new, format!("are not {other}")),
        (comparison.gone, format!("are only {other}")),
    ] {
        if count > 0 {
            let _ = write!(text, "; {count} {what}");
        }
    }
    text
}

fn line(change: &Change) -> String {
    format!("{}: {}, {}", place(change), factor(change), values(change))
}

/// `mine fast n=1`.
pub fn place(change: &Change) -> String {
    name(change.cell)
}

fn name(cell: &SavedCell) -> String {
    let point = point(&cell.point);
    let gap = if point.is_empty() { "" } else { " " };
    format!("{} {}{gap}{point}", cell.experiment, cell.model)
}

fn point(point: &Values) -> String {
    let word = |value: &Value| match value {
        Value::String(word) => word.clone(),
        other => other.to_string(),
    };
    let pairs = point
        .iter()
        .map(|(name, value)| format!("{name}={}", word(value)));
    pairs.collect::<Vec<_>>().join(", ")
}

/// `1.10× worse (95 % 1.08–1.12)`.
pub fn factor(change: &Change) -> String {
    let worse = change.worse;
    let (word, value, low, high) = if worse.value >= 1.0 {
        ("worse", worse.value, worse.low, worse.high)
    } else {
        (
            "better",
            1.0 / worse.value,
            1.0 / worse.high,
            1.0 / worse.low,
        )
    };
    format!(
        "{} {word} (95 % {}–{})",
        times(value),
        number(low),
        number(high)
    )
}

/// `1.00 µs → 1.10 µs`.
pub fn values(change: &Change) -> String {
    let unit = &change.cell.metric.unit;
    format!(
        "{} → {}",
        quantity(change.before, unit),
        quantity(change.now, unit)
    )
}

/// `5.0 %`.
pub fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

//! WHICH MODEL?: a line a question, with the best, those that cannot be told from it, and how far
//! others are behind.

use super::rest::gist;
use crate::layout::{Line, cut, length};
use anstyle::{AnsiColor, Style};
use heddle_results::text::{measured, times};
use heddle_results::{Place, Report, Row, family};

/// What stands above the labels.
const TITLE: &str = "WHICH MODEL?";
/// Room for `thread 1.35× goroutine 1.28×`, where there is that much, and for one of them.
const TWO_OTHERS: usize = 28;
const ONE_OTHER: usize = 12;

/// The table, at most `room` rows long besides its head and a line that says how many rows there
/// are elsewhere.
pub fn lines(report: &Report, width: usize, room: usize) -> Vec<Line> {
    let mut rows = heddle_results::rows(report);
    let count = rows.len();
    if count == 0 {
        return Vec::new();
    }
    // Where not all fit, those that experiments ask for come before derived ones.
    if count > room && rows.iter().any(|row| row.answered) {
        rows.retain(|row| row.answered);
    }
    rows.truncate(room);
    let hidden = count - rows.len();

    let longest = rows.iter().map(|row| length(&row.label)).max().unwrap_or(0);
    let label_width = longest.clamp(TITLE.len(), width * 7 / 20);
    let best_at = label_width + 2;
    // A row whose best is longer has less room for others.
    let others_of = |row: &Row| length(&others(row, TWO_OTHERS));
    let two_others = rows.iter().map(others_of).max().unwrap_or(0);
    let usual = width.saturating_sub(best_at + 2 + two_others).max(18);
    let best: Vec<Line> = rows
        .iter()
        .map(|row| best(row, usual, (width - best_at).saturating_sub(2 + ONE_OTHER)))
        .collect();
    let widest = best.iter().map(Line::length).max().unwrap_or(0);
    let others_at = best_at + widest.clamp(18, usual) + 2;

    let bold = Style::new().bold();
    let times_only = rows.iter().all(|row| {
        let metric = &row.experiment.metric;
        metric.unit == "ns" && metric.better == heddle_results::Better::Lower
    });
    let head = if times_only { "FASTEST" } else { "BEST" };
    let mut lines = vec![
        Line::default()
            .add(bold, TITLE)
            .pad(best_at)
            .add(bold, format!("{head} (and ties)"))
            .pad(others_at)
            .add(bold, "OTHERS (times worse)"),
    ];
    for (row, best) in rows.iter().zip(best) {
        let line = Line::plain(cut(&row.label, label_width))
            .pad(best_at)
            .join(best);
        let at = others_at.max(line.length() + 2);
        let others = others(row, width.saturating_sub(at));
        lines.push(line.pad(at).add(Style::new(), others));
    }
    if hidden > 0 {
        let rows = if hidden == 1 { "row" } else { "rows" };
        let quiet = Style::new().dimmed();
        lines.push(Line::default().add(
            quiet,
            format!("… {hidden} more {rows} on the page, or by --verbose"),
        ));
    }
    lines
}

/// `event-loop/single 10.8 µs, cooperative/*`, with as many of those that tie as fit.
fn best(row: &Row, usual: usize, room: usize) -> Line {
    let quiet = Style::new().dimmed();
    let Some(place) = row.place else {
        let reason = row.experiment.skipped.first();
        let text = match reason.map(|skipped| gist(&skipped.reason)) {
            Some(reason) if !reason.is_empty() => format!("did not run: {reason}"),
            _ => "did not run".to_owned(),
        };
        return Line::default().add(quiet, cut(&text, room));
    };
    let Some(first) = place.winner.models.first() else {
        return Line::default().add(quiet, cut(nothing(&place), room));
    };
    let cell = place.cell(first).and_then(|cell| cell.median);
    let value = cell.map_or_else(String::new, |median| {
        format!(" {}", measured(median, &row.experiment.metric.unit))
    });
    let full = place.front();
    // Where variants' names make it too long, families do.
    let mut families: Vec<String> = Vec::new();
    for name in &full {
        let name = if name.ends_with("/*") {
            name
        } else {
            family(name)
        };
        if !families.iter().any(|other| other == name) {
            families.push(name.to_owned());
        }
    }
    let (line, hidden) = tied(&full, &value, usual);
    if hidden == 0 {
        return line;
    }
    tied(&families, &value, room).0
}

/// The first with its value, and as many of the others as fit; how many do not.
fn tied(names: &[String], value: &str, room: usize) -> (Line, usize) {
    let (strong, quiet) = (AnsiColor::Green.on_default(), Style::new().dimmed());
    let head = names.first().map_or("", String::as_str);
    let mut line = Line::default()
        .add(strong, cut(head, room.saturating_sub(length(value))))
        .add(Style::new(), value);
    for (index, name) in names.iter().enumerate().skip(1) {
        let left = names.len() - index;
        let more = if left > 1 {
            length(&format!(" +{}", left - 1))
        } else {
            0
        };
        if line.length() + 2 + length(name) + more > room {
            let rest = format!(" +{left}");
            if line.length() + length(&rest) <= room {
                line = line.add(quiet, rest);
            }
            return (line, left);
        }
        line = line.add(Style::new(), format!(", {name}"));
    }
    (line, usize::from(length(head) + length(value) > room))
}

/// Why no model is at the front.
fn nothing(place: &Place) -> &'static str {
    let cells = place.group.series.iter().flat_map(|series| &series.cells);
    let here = cells.filter(|cell| cell.x == place.winner.x);
    let any = here
        .into_iter()
        .any(|cell| cell.failures.is_empty() && cell.median.is_some());
    if any {
        "too few samples to tell"
    } else {
        "no sound result"
    }
}

/// `thread 1.35× goroutine 1.28×`, as many as fit.
fn others(row: &Row, room: usize) -> String {
    let mut text = String::new();
    for (name, _, factor) in row.place.iter().flat_map(Place::others) {
        let one = format!("{name} {}", times(factor));
        let gap = usize::from(!text.is_empty());
        if length(&text) + gap + length(&one) <= room {
            text.push_str(&" ".repeat(gap));
            text.push_str(&one);
        }
    }
    text
}

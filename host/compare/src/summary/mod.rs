//! A comparison's results on at most [`LINES`] lines: the best model of each question, the reason,
//! the claims by verdict, failures, and the next commands. Everything else is on the page, in
//! `--verbose` and in `--show`.

mod claims;
mod rest;
mod rows;
#[cfg(test)]
pub mod tests;
pub mod time;
mod why;

use super::hints::Hints;
use super::layout::{Line, cut, wrap};
use anstyle::Style;
use heddle_results::text::count;
use heddle_results::{Kind, Report};

/// Most lines of a summary.
pub const LINES: usize = 40;

/// Where a summary is shown, and what it may suggest.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Characters a line may have.
    pub width: usize,
    /// How commands are spelt.
    pub hints: Hints,
    /// The page; none if it was not written.
    pub page: Option<String>,
    /// The run was interrupted, and can be resumed.
    pub resumable: bool,
    /// Only the main questions were asked.
    pub main_only: bool,
    /// It is one part of a run.
    pub is_part: bool,
}

/// The lines, each with a line end.
pub fn of(report: &Report, setting: &Setting) -> String {
    let width = setting.width;
    let mut above = vec![title(report)];
    above.extend(notes(report, width).map(Line::plain));
    let mut below = Vec::new();
    if let Some(why) = why::line(report, width) {
        below.extend([Line::default(), why]);
    }
    let mut has_claims = false;
    for kind in Kind::ALL {
        let claims = claims::lines(report, kind, width);
        // Questions are one line, under the claims if there are any.
        if !claims.is_empty() && (kind != Kind::Question || !has_claims) {
            below.push(Line::default());
        }
        has_claims |= !claims.is_empty();
        below.extend(claims);
    }
    below.push(Line::default());
    below.extend(rest::lines(report, setting));

    // A blank line and the table's head are always there, and perhaps a line on rows that are not.
    let room = LINES.saturating_sub(above.len() + below.len() + 3);
    let table = rows::lines(report, width, room);
    let mut lines = above;
    if !table.is_empty() {
        lines.push(Line::default());
        lines.extend(table);
    }
    let room = LINES.saturating_sub(lines.len() + below.len() + 1);
    let times = time::lines(report, width, room);
    if !times.is_empty() {
        lines.push(Line::default());
        lines.extend(times);
    }
    let room = LINES.saturating_sub(lines.len() + below.len() + 1);
    let sentences = sentences(report, width, room);
    if !sentences.is_empty() {
        lines.push(Line::default());
        lines.extend(sentences);
    }
    lines.extend(below);
    lines.truncate(LINES);
    lines.iter().map(|line| line.render(width) + "\n").collect()
}

/// `Heddle · quick · 2 processors · 11 370 samples, 10 a cell`.
fn title(report: &Report) -> Line {
    let bold = Style::new().bold();
    let mut taken: Vec<usize> = report
        .experiments
        .iter()
        .flat_map(|experiment| &experiment.groups)
        .flat_map(|group| &group.series)
        .flat_map(|series| &series.cells)
        .map(|cell| cell.values.len() + cell.failures.len())
        .collect();
    taken.sort_unstable();
    let samples = count(taken.iter().sum::<usize>() as f64);
    // The most usual number: what hangs gets fewer, what a claim needs more.
    let usual = taken.get(taken.len() / 2).copied().unwrap_or(0);
    let processors = match report.machine.cpus {
        1 => "1 processor".to_owned(),
        cpus => format!("{cpus} processors"),
    };
    let rest = format!(
        " · {} · {processors} · {samples} samples, {usual} a cell",
        report.mode
    );
    Line::default().add(bold, "Heddle").add(Style::new(), rest)
}

/// The first sentences of the run's two most important notes: that it was partial, resumed or
/// disturbed. The note that some claims got more samples is left to the page.
fn notes(report: &Report, width: usize) -> impl Iterator<Item = String> {
    let rank = |note: &&String| {
        let first = ["Partial", "Begun on", "Other programs"];
        let known = first.iter().position(|begin| note.starts_with(begin));
        match known {
            Some(place) => place,
            // That the run was resumed is no trouble, either.
            None if note.starts_with("Interrupted") => first.len() + 1,
            None => first.len(),
        }
    };
    let mut notes: Vec<&String> = report
        .notes
        .iter()
        .filter(|note| !note.starts_with("Additional samples"))
        .collect();
    notes.sort_by_key(rank);
    notes.into_iter().take(2).map(move |note| {
        let first = note
            .split_once(". ")
            .map_or(note.as_str(), |(first, _)| first);
        cut(first.trim_end_matches('.'), width)
    })
}

/// Where one or two experiments were asked for there is room for their sentences: as many as fit as
/// a whole.
fn sentences(report: &Report, width: usize, room: usize) -> Vec<Line> {
    if report.experiments.len() > 2 {
        return Vec::new();
    }
    let mut lines = Vec::new();
    let all = report
        .experiments
        .iter()
        .flat_map(|experiment| &experiment.verdicts);
    for sentence in all {
        let wrapped = wrap(sentence, width, 2);
        if lines.len() + wrapped.len() > room {
            break;
        }
        lines.extend(wrapped.into_iter().map(Line::plain));
    }
    lines
}

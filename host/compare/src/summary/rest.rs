//! The last lines: what went wrong, what did not run, what to do next, where the page is.

use super::{Setting, claims};
use crate::layout::{Line, cut, length};
use anstyle::{AnsiColor, Style};
use heddle_results::{ExperimentReport, Report, Status, Verdict};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Samples a cell that one more run of an experiment takes in a minute or two.
const SOON: u64 = 100;
/// Where the texts begin.
const COLUMN: usize = 9;

/// Those of them that have something to say.
pub fn lines(report: &Report, setting: &Setting) -> Vec<Line> {
    let room = setting.width.saturating_sub(COLUMN);
    let bold = Style::new().bold();
    let red = AnsiColor::Red.on_default().bold();
    let line = |title: &str, style: Style, text: String| {
        Line::default()
            .add(style, title)
            .pad(COLUMN)
            .add(Style::new(), text)
    };
    let mut lines = Vec::new();
    let troubles: Vec<String> = report.experiments.iter().flat_map(troubles).collect();
    if !troubles.is_empty() {
        lines.push(line("TROUBLE", red, some(&troubles, room)));
        if let Some(reason) = report.experiments.iter().find_map(reason) {
            lines.push(line("", red, cut(&format!("first: {reason}"), room)));
        }
    }
    let skipped = skipped(report);
    if !skipped.is_empty() {
        lines.push(line("SKIPPED", bold, some(&skipped, room)));
    }
    let next = next(report, setting);
    if !next.is_empty() {
        lines.push(line("NEXT", bold, some_of(&next, room)));
    }
    if let Some(page) = &setting.page {
        // A path that is cut could not be opened: it may have a line's whole width.
        let page = cut_path(page, room);
        lines.push(line("REPORT", bold, page));
    }
    lines
}

/// `philosophers: thread, goroutine hung`.
fn troubles(experiment: &ExperimentReport) -> Vec<String> {
    let all = [
        (Status::Wrong, "had wrong results"),
        (Status::Crashed, "crashed"),
        (Status::Garbage, "printed garbage"),
        (Status::Hung, "hung"),
    ];
    let failed = |status: Status| -> Vec<&str> {
        let series = experiment.groups.iter().flat_map(|group| &group.series);
        let mut models: Vec<&str> = Vec::new();
        for series in series {
            let bad = series
                .cells
                .iter()
                .any(|cell| cell.failures.contains(&status));
            if bad && !models.contains(&series.model.as_str()) {
                models.push(&series.model);
            }
        }
        models
    };
    let mut found: Vec<String> = Vec::new();
    for (status, verb) in all {
        let models = failed(status);
        if !models.is_empty() {
            found.push(format!("{}: {} {verb}", experiment.id, models.join(", ")));
        }
    }
    if found.is_empty() && !experiment.troubles.is_empty() {
        found.push(format!("{}: values that are not above 0", experiment.id));
    }
    found
}

/// Why the first samples that failed did: `exit code 1; stderr: cannot open the file`.
fn reason(experiment: &ExperimentReport) -> Option<&str> {
    // A sentence of the judge: `id: thread: 3 of 3 samples crashed: exit code 1; no more …`.
    let sentence = experiment.troubles.first()?;
    let (_, end) = sentence.split_once(" samples ")?;
    let (_, reason) = end.split_once(": ")?;
    let reason = reason
        .strip_suffix("; no more were taken")
        .unwrap_or(reason);
    (reason != "no detail").then_some(reason)
}

/// `goroutine: Go is missing`: models by the beginning of the reason; what the user left out needs
/// no telling.
fn skipped(report: &Report) -> Vec<String> {
    let mut order: Vec<String> = Vec::new();
    let mut models: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let all = report
        .experiments
        .iter()
        .flat_map(|experiment| &experiment.skipped);
    for skipped in all.filter(|skipped| skipped.reason != "left out by --model") {
        let reason = gist(&skipped.reason);
        if !order.contains(&reason) {
            order.push(reason.clone());
        }
        let who = models.entry(reason).or_default();
        if !who.contains(&skipped.model.as_str()) {
            who.push(&skipped.model);
        }
    }
    let text = |reason: &String| {
        let who = models.get(reason).map(Vec::as_slice).unwrap_or_default();
        let who = match who {
            [] => String::new(),
            [one] => (*one).to_owned(),
            [one, other] => format!("{one}, {other}"),
            [one, more @ ..] => format!("{one} and {} more", more.len()),
        };
        format!("{who} ({reason})")
    };
    order.iter().map(text).collect()
}

/// The beginning of a reason, without what stands in brackets: `Go is missing`.
pub fn gist(reason: &str) -> String {
    let mut text = String::new();
    let mut depth = 0_u32;
    for c in reason.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ':' | ';' if depth == 0 => break,
            c if depth == 0 => text.push(c),
            _ => {}
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What the user may do, the most useful first.
fn next(report: &Report, setting: &Setting) -> Vec<String> {
    if setting.resumable {
        return vec![format!(
            "{} goes on from here",
            setting.hints.with("--resume")
        )];
    }
    if setting.is_part {
        let merge = setting.hints.elsewhere("--merge DIR…");
        return vec![format!("{merge} puts the parts together")];
    }
    let mut next = Vec::new();
    next.extend(settle(report).map(|(id, samples)| {
        let name = setting.hints.experiment(&id);
        setting.hints.with(&format!("{name} -n {samples}"))
    }));
    if setting.main_only {
        next.push(setting.hints.with("--all"));
    }
    let first = report.experiments.first();
    next.extend(first.map(|first| setting.hints.with(&format!("--show {}", first.id))));
    next
}

/// The experiment, and its samples a cell, that settle most inconclusive claims; none where each
/// would take long.
fn settle(report: &Report) -> Option<(String, u64)> {
    let open = |experiment: &ExperimentReport| {
        let mut needed: Vec<u64> = experiment
            .claims
            .iter()
            .filter(|claim| claim.verdict == Verdict::Inconclusive)
            .map(|claim| claim.needed.unwrap_or(u64::MAX))
            .collect();
        needed.sort_unstable();
        let samples = claims::usual(&needed).filter(|samples| *samples <= SOON)?;
        Some((needed.len(), Reverse(samples), experiment.id.clone()))
    };
    let all = report.experiments.iter().filter_map(open);
    let (_, Reverse(samples), id) = all.max()?;
    Some((id, samples))
}

/// The first texts that fit into `room` characters, and how many more there are. A first text that
/// is too long is cut.
fn some(texts: &[String], room: usize) -> String {
    let Some((first, rest)) = texts.split_first() else {
        return String::new();
    };
    let more = |hidden: usize| match hidden {
        0 => String::new(),
        hidden => format!(" · +{hidden} more"),
    };
    let mut line = cut(first, room.saturating_sub(length(&more(rest.len()))));
    let mut hidden = 0;
    for (index, text) in rest.iter().enumerate() {
        let left = hidden + rest.len() - index - 1;
        let longer = format!("{line} · {text}");
        if length(&longer) + length(&more(left)) <= room {
            line = longer;
        } else {
            hidden += 1;
        }
    }
    line + &more(hidden)
}

/// The first texts that fit into `room` characters as a whole, with ` · ` between them.
fn some_of(texts: &[String], room: usize) -> String {
    let mut line = String::new();
    for text in texts {
        let gap = if line.is_empty() { "" } else { " · " };
        let longer = format!("{line}{gap}{text}");
        if length(&longer) <= room {
            line = longer;
        } else if line.is_empty() {
            line = cut(text, room);
        }
    }
    line
}

/// The end of a path tells more than its beginning.
fn cut_path(path: &str, room: usize) -> String {
    let surplus = length(path).saturating_sub(room);
    if surplus == 0 {
        return path.to_owned();
    }
    let kept: String = path.chars().skip(surplus + 1).collect();
    format!("…{kept}")
}

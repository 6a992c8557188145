//! What was found, for people: the choice or why there is none, then the cells that it comes from.

use crate::hints::Hints;
use crate::layout::wrap;
use heddle_results::text::{count, quantity, times};
use heddle_results::{Beyond, FARTHEST, Found, Report, WaitsOn, Work};
use std::fmt::Write;

/// Where the texts begin.
const COLUMN: usize = 10;

/// The lines, each with a line end.
pub fn of(report: &Report, work: Work, found: &Found, hints: &Hints, width: usize) -> String {
    let mut text = String::new();
    section(&mut text, "CHOOSE", &choice(work, found, hints), width);
    for (number, near) in found.time.iter().enumerate() {
        let title = if number == 0 { "NEAREST" } else { "" };
        section(&mut text, title, &near.name(), width);
        section(&mut text, "", &format!("  {}", near.ahead()), width);
        let behind = near.behind();
        if !behind.is_empty() {
            section(&mut text, "", &format!("  {behind}"), width);
        }
    }
    if let Some(near) = &found.memory {
        section(&mut text, "MEMORY", &near.name(), width);
        section(&mut text, "", &format!("  {}", near.ahead()), width);
        section(&mut text, "", &format!("  {}", near.behind()), width);
    }
    if let Some(note) = report.notes.iter().find(|note| note.starts_with("Other")) {
        let first = note
            .split_once(". ")
            .map_or(note.as_str(), |(first, _)| first);
        section(&mut text, "BUSY", first, width);
    }
    text
}

/// The line that says which of several machines the lines below it are of.
pub fn machine(name: &str, report: &Report, width: usize) -> String {
    let mut text = String::new();
    let machine = &report.machine;
    let words = format!("{name}: {}, {} processors", machine.cpu, machine.cpus);
    section(&mut text, "MACHINE", &words, width);
    text
}

fn section(text: &mut String, title: &str, words: &str, width: usize) {
    let further = if title.is_empty() && words.starts_with(' ') {
        2
    } else {
        0
    };
    let room = width.saturating_sub(COLUMN + further);
    for (number, line) in wrap(words.trim_start(), room, 2).iter().enumerate() {
        let title = if number == 0 { title } else { "" };
        let _ = writeln!(text, "{title:COLUMN$}{:further$}{}", "", line.trim_end());
    }
}

fn choice(work: Work, found: &Found, hints: &Hints) -> String {
    if !found.any {
        let what = match work.waits_on {
            WaitsOn::Io => "I/O",
            WaitsOn::Locks => "locks",
            WaitsOn::Nothing => "nothing",
        };
        let command = hints.with("--all");
        return format!(
            "nothing: the report has no work that waits on {what}, by `[like]` of its experiments \
             (docs/workloads.md); `{command}` measures more"
        );
    }
    if !found.beyond.is_empty() {
        let parts: Vec<String> = found.beyond.iter().map(beyond).collect();
        return format!(
            "nothing, because nothing like it was measured: {}. `{}` measures more",
            parts.join(", and "),
            hints.with("--full")
        );
    }
    if let Some(near) = found.time.first().filter(|near| near.factor > FARTHEST) {
        return format!(
            "nothing, because nothing like it was measured: the nearest cell is {} away. `{}` \
             measures more",
            times(near.factor),
            hints.with("--full")
        );
    }
    let cells = match found.time.len() {
        0 => {
            return "nothing: no such work of the report has a time between two waits, by `waits` \
                    in `[like]` of its experiments (docs/workloads.md)"
                .to_owned();
        }
        1 => "the nearest cell".to_owned(),
        several => format!("all of the {several} nearest cells"),
    };
    match &found.kinds[..] {
        [] => format!("nothing surely: no kind of model is at the front in {cells}"),
        [one] => format!("{one}, at the front in {cells}"),
        [most @ .., last] => {
            let all = most.join(", ");
            format!("{all} or {last}, which cannot be told apart in {cells}")
        }
    }
}

fn beyond(it: &Beyond) -> String {
    let say = |value: f64| match it.respect {
        "alive" => count(value),
        _ => quantity(value, "ns"),
    };
    let what = match it.respect {
        "alive" => "alive",
        _ => "between two waits",
    };
    let measured = match (say(it.least), say(it.most)) {
        (least, most) if least == most => least,
        (least, most) => format!("{least} to {most}"),
    };
    format!("{} {what}, where {measured} were measured", say(it.asked))
}

//! Functions, with their calls and times.

use super::frame::{Screen, cells};
use super::look::{BOLD, PLAIN};
use super::not_yet;
use crate::model::{Function, Model};
use crate::state::{Sort, State};
use crate::text::{count, some_time, time};

/// A column: its name, its width, what it is sorted by, and from how many columns on it is shown.
type Column = (
    &'static str,
    u16,
    Option<Sort>,
    u16,
    fn(&Function) -> String,
);

const COLUMNS: [Column; 6] = [
    ("self", 12, Some(Sort::Own), 0, |row| time(row.own)),
    ("total", 12, Some(Sort::Total), 0, |row| time(row.total)),
    ("calls", 11, Some(Sort::Calls), 0, |row| count(row.calls)),
    ("min", 12, None, 110, |row| some_time(row.min)),
    ("avg", 12, None, 110, |row| some_time(row.avg)),
    ("max", 12, Some(Sort::Max), 96, |row| some_time(row.max)),
];

pub fn draw(screen: &mut Screen<'_>, model: &Model, state: &State) {
    let Some(functions) = &model.functions else {
        return not_yet(screen, model, state, "functions");
    };
    let width = state.layout().width;
    let shown = COLUMNS.iter().filter(|column| width >= column.3);
    let heading: Vec<(String, u16)> = shown
        .clone()
        .map(|&(name, columns, sort, ..)| {
            let mark = if sort == Some(state.sort) { "▾" } else { "" };
            (format!("{mark}{name}"), columns)
        })
        .collect();
    let name = match state.sort {
        Sort::Name => "▾function",
        _ => "function",
    };
    let module = if width >= 110 { 20 } else { 0 };
    let taken: u16 = heading.iter().map(|(_, width)| width).sum();
    let room = width.saturating_sub(taken + module);
    screen.text(0, 1, width, &(cells(&heading) + name), BOLD);
    screen.text(taken + room, 1, module, " module", BOLD);
    if functions.is_empty() {
        let text = "no call is in this trace: `heddle doctor PROGRAM` says why";
        screen.text(2, 2, width.saturating_sub(2), text, PLAIN);
    }
    // The other figures are sums so far.
    let partly = model
        .reading
        .as_ref()
        .is_some_and(|reading| reading.what == "functions");
    let page = state.page();
    let rows = state
        .order
        .iter()
        .enumerate()
        .skip(state.report.top)
        .take(page);
    for (y, (index, &function)) in (2..).zip(rows) {
        let Some(function) = functions.get(function as usize) else {
            continue;
        };
        let figure = |column: &Column| match column.2 {
            // Calls that are still open count in it when they end.
            Some(Sort::Total) if partly => "-".to_owned(),
            _ => column.4(function),
        };
        let figures: Vec<(String, u16)> = shown
            .clone()
            .map(|column| (figure(column), column.1))
            .collect();
        screen.text(0, y, taken, &cells(&figures), PLAIN);
        screen.text(taken, y, room, &function.name, PLAIN);
        if module > 0 {
            screen.text(taken + room + 1, y, module - 1, &function.module, PLAIN);
        }
        if index == state.report.selected {
            screen.select(0, y, width);
        }
    }
}

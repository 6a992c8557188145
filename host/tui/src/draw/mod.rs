//! What is on the screen.

mod frame;
mod graph;
mod help;
mod life;
mod look;
mod report;
mod ruler;
mod source;
mod strands;
mod timeline;

use crate::model::Model;
use crate::state::{State, View};
use crate::terminal::LEAST;
use crate::text::counted;
use frame::Screen;
pub(crate) use help::lines as help_lines;
use look::{BOLD, FAINT, WARNING};
use ratatui::Frame;

/// Draws everything.
pub fn draw(frame: &mut Frame<'_>, model: &Model, state: &State) {
    let area = frame.area();
    let mut screen = Screen::new(frame.buffer_mut(), state.color);
    if area.width < LEAST.0 || area.height < LEAST.1 {
        let (columns, rows) = LEAST;
        let text = format!("too small: {}x{}; ", area.width, area.height);
        screen.text(0, 0, area.width, &text, WARNING);
        let text = format!("at least {columns}x{rows}");
        screen.text(0, 1, area.width, &text, WARNING);
        return;
    }
    head(&mut screen, model, state);
    match state.view {
        View::Report => report::draw(&mut screen, model, state),
        View::Graph => graph::draw(&mut screen, model, state),
        View::Strands => strands::draw(&mut screen, model, state),
        View::Timeline => timeline::draw(&mut screen, model, state),
        View::Life => life::draw(&mut screen, model, state),
    }
    source::draw(&mut screen, model, state);
    foot(&mut screen, model, state);
    if state.help.is_some() {
        help::draw(&mut screen, model, state);
    }
}

/// The views' names, and the trace's.
fn head(screen: &mut Screen<'_>, model: &Model, state: &State) {
    let width = state.size.0;
    let mut x = 0;
    for (number, (view, name)) in (1..).zip(View::ALL) {
        let text = format!(" {number} {name} ");
        let style = if view == state.view {
            look::SELECTED
        } else {
            FAINT
        };
        x += screen.text(x, 0, width - x, &text, style);
    }
    let title = match model.head.command.is_empty() {
        true => model.head.title.clone(),
        false => format!("{}: {}", model.head.title, model.head.command),
    };
    screen.text(x + 1, 0, width.saturating_sub(x + 1), &title, BOLD);
}

/// What is said, typed or read, and the most important keys.
fn foot(screen: &mut Screen<'_>, model: &Model, state: &State) {
    let (width, height) = state.size;
    let y = height - 1;
    if let Some(typed) = &state.typing {
        let typed = crate::text::fit_end(typed, usize::from(width) - 2);
        let x = screen.text(0, y, width, &format!("/{typed}"), BOLD);
        screen.text(x, y, width - x, " ", look::SELECTED);
        return;
    }
    let (left, style) = match (&state.message, &model.reading) {
        (Some(message), _) => (message.clone(), WARNING),
        (None, Some(reading)) => {
            let text = format!("reading {}: {} %", reading.what, reading.percent);
            (text, WARNING)
        }
        (None, None) => (counts(model), FAINT),
    };
    let keys = "? keys  q quit";
    let room = width.saturating_sub(keys.len() as u16 + 2);
    screen.text(0, y, room, &left, style);
    screen.text(width - keys.len() as u16, y, keys.len() as u16, keys, FAINT);
}

/// How much there is.
fn counts(model: &Model) -> String {
    let functions = model.functions.as_deref().unwrap_or_default();
    let calls = functions
        .iter()
        .fold(0_u64, |sum, one| sum.saturating_add(one.calls));
    let strands = model.strands.as_ref().map_or(0, |strands| {
        let rows = strands.rows.iter().filter(|row| row.count == 1).count() as u64;
        rows + strands.unlisted
    });
    let mut text = format!(
        "{} of {} on {}",
        counted(calls, "call"),
        counted(functions.len() as u64, "function"),
        counted(strands, "strand"),
    );
    if let Some(data) = &model.timeline {
        text += &format!(", {}", crate::text::time(data.end));
    }
    if !model.filter.is_empty() {
        text = format!("{}: {text}", model.filter);
    }
    if !model.head.notes.is_empty() {
        text += "; ? has notes";
    }
    text
}

/// What stands in a view that has not been read yet.
fn not_yet(screen: &mut Screen<'_>, model: &Model, state: &State, what: &str) {
    let width = state.layout().width;
    let reading = model
        .reading
        .as_ref()
        .filter(|reading| reading.what.contains(what));
    let text = match (reading, &model.reading) {
        (Some(reading), _) => format!("reading {what}: {} %", reading.percent),
        (None, Some(reading)) => format!("{what}: after {}", reading.what),
        (None, None) => format!("{what}: could not be read"),
    };
    screen.text(2, 2, width.saturating_sub(2), &text, WARNING);
}

//! The source of what is selected.

use super::frame::Screen;
use super::look::{BOLD, FAINT, PLAIN};
use crate::model::Model;
use crate::state::State;
use crate::text::fit_end;

pub fn draw(screen: &mut Screen<'_>, model: &Model, state: &State) {
    let Some((left, top, width, height)) = state.layout().source else {
        return;
    };
    for y in top..top + height {
        if left > 0 {
            screen.text(left, y, 1, "│", FAINT);
        }
    }
    let (x, room) = match left {
        0 => (0, width),
        _ => (left + 2, width.saturating_sub(2)),
    };
    let Some(place) = state.place(model) else {
        screen.text(x, top, room, "no source is known", FAINT);
        return;
    };
    let title = format!("{}:{}", place.file, place.line);
    screen.text(x, top, room, &fit_end(&title, usize::from(room)), BOLD);
    let lines = match model.sources.get(&place.file) {
        Some(Some(lines)) => lines,
        Some(None) => {
            let why = "this file is not here, or cannot be read";
            screen.text(x, top + 1, room, why, FAINT);
            return;
        }
        None => return,
    };
    let rows = usize::from(height.saturating_sub(1));
    let at = (place.line as usize).saturating_sub(1);
    // More of what follows than of what is in front.
    let from = at
        .saturating_sub(rows / 4)
        .min(lines.len().saturating_sub(1));
    for (y, (index, line)) in (top + 1..).zip(lines.iter().enumerate().skip(from).take(rows)) {
        let number = format!("{:>5} ", index + 1);
        let taken = screen.text(x, y, room, &number, FAINT);
        let look = if index == at { BOLD } else { PLAIN };
        screen.text(x + taken, y, room.saturating_sub(taken), line, look);
        if index == at {
            screen.text(x, y, 1, "▸", BOLD);
        }
    }
}

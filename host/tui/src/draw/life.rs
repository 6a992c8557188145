//! One strand.

use super::frame::Screen;
use super::look::{BOLD, FAINT, PLAIN, WAITING, WARNING};
use crate::model::Model;
use crate::state::State;
use crate::text::from_column;

pub fn draw(screen: &mut Screen<'_>, model: &Model, state: &State) {
    let width = state.layout().width;
    let Some(life) = &model.life else {
        let text = "no strand yet: Enter on one of the strands (3) shows its life here";
        screen.text(2, 2, width.saturating_sub(2), text, FAINT);
        return;
    };
    let title = format!("strand #{}", model.label(life.key));
    screen.text(0, 1, width, &title, BOLD);
    let Some(rows) = &life.rows else {
        let text = format!("reading the whole trace for its life: {} %", life.percent);
        screen.text(2, 2, width.saturating_sub(2), &text, WARNING);
        return;
    };
    let shown = rows
        .iter()
        .enumerate()
        .skip(state.life.top)
        .take(state.page());
    for (y, (index, row)) in (2..).zip(shown) {
        let look = if row.waits { WAITING } else { PLAIN };
        let text = from_column(&row.line(width.into()), state.life_from);
        screen.text(0, y, width, &text, look);
        if index == state.life.selected {
            screen.select(0, y, width);
        }
    }
}

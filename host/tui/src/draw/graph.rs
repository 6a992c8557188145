//! Calls within one another.

use super::frame::{Screen, cells};
use super::look::{BOLD, FAINT, PLAIN};
use super::not_yet;
use crate::model::Model;
use crate::state::State;
use crate::text::{count, time};
use crate::tree::has_below;

/// Deeper rows are not moved further to the right than these parts of the width.
pub fn indent(depth: u32, room: u16) -> u16 {
    let most = u32::from(room / 2);
    (2 * depth.min(most)).min(most) as u16
}

pub fn draw(screen: &mut Screen<'_>, model: &Model, state: &State) {
    let Some(graph) = &model.graph else {
        return not_yet(screen, model, state, "calls within one another");
    };
    let width = state.layout().width;
    let columns = [("total", 12), ("self", 12), ("calls", 11)];
    let heading = columns.map(|(name, width)| (name.to_owned(), width));
    let taken: u16 = columns.iter().map(|(_, width)| width).sum();
    let room = width.saturating_sub(taken);
    screen.text(0, 1, width, &(cells(&heading) + "call"), BOLD);
    let visible = state.graph.visible.iter().enumerate();
    let shown = visible.skip(state.graph.list.top).take(state.page());
    for (y, (at, &index)) in (2..).zip(shown) {
        let Some(row) = graph.rows.get(index as usize) else {
            continue;
        };
        let name = graph
            .names
            .get(row.name as usize)
            .map_or("?", String::as_str);
        let own = if row.others > 0 {
            String::new()
        } else {
            time(row.own)
        };
        let figures = [time(row.total), own, count(row.calls)];
        let figures: Vec<(String, u16)> = figures
            .into_iter()
            .zip(columns.map(|(_, width)| width))
            .collect();
        screen.text(0, y, taken, &cells(&figures), PLAIN);
        let mark = match (
            has_below(&graph.rows, index as usize, |row| row.depth),
            state.graph.is_open(index as usize),
        ) {
            (true, true) => "▾ ",
            (true, false) => "▸ ",
            (false, _) => "  ",
        };
        let x = taken + indent(row.depth, room);
        let (name, look) = match row.others {
            0 => (format!("{mark}{name}"), PLAIN),
            others => (format!("  … {} others", count(others)), FAINT),
        };
        screen.text(x, y, width.saturating_sub(x), &name, look);
        if at == state.graph.list.selected {
            screen.select(0, y, width);
        }
    }
}

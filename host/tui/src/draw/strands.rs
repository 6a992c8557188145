//! Who made whom, and what each does at the end.

use super::frame::{Screen, cells};
use super::graph::indent;
use super::look::{BOLD, FAINT, PLAIN, SUBJECT, WAITING};
use super::not_yet;
use crate::model::{LIVED, Model, StrandRow, Strands};
use crate::state::State;
use crate::text::{count, time};
use crate::tree::has_below;
use heddle_view::StrandKind;

pub fn draw(screen: &mut Screen<'_>, model: &Model, state: &State) {
    let Some(strands) = &model.strands else {
        return not_yet(screen, model, state, "strands");
    };
    let width = state.layout().width;
    let (wide, runs) = (width >= 100, width >= 130);
    let figures = |row: Option<&StrandRow>| {
        let of = |name: &str, figure: fn(&StrandRow) -> String| {
            row.map_or_else(|| name.to_owned(), figure)
        };
        let mut all = vec![
            (of("elapsed", |row| time(row.running)), 12),
            (of("suspended", |row| time(row.suspended)), 12),
        ];
        if runs {
            all.push((of("in children", |row| time(row.children)), 12));
            all.push((of("runs", |row| count(row.runs)), 11));
        }
        all.push((of("calls", |row| count(row.calls)), 10));
        if wide {
            let parent = row.map(|row| row.parent.map_or("-".to_owned(), |by| by.to_string()));
            all.push((parent.unwrap_or_else(|| "parent".to_owned()), 9));
        }
        all
    };
    let taken: u16 = figures(None).iter().map(|(_, width)| width).sum();
    let room = width.saturating_sub(taken);
    screen.text(0, 1, width, &(cells(&figures(None)) + "strand"), BOLD);
    let visible = state.strands.visible.iter().enumerate();
    let shown = visible.skip(state.strands.list.top).take(state.page());
    for (y, (at, &index)) in (2..).zip(shown) {
        let index = index as usize;
        let Some(row) = strands.rows.get(index) else {
            continue;
        };
        screen.text(0, y, taken, &cells(&figures(Some(row))), PLAIN);
        let below = has_below(&strands.rows, index, |row| row.depth);
        let mark = match (below, state.strands.is_open(index)) {
            (true, true) => "▾ ",
            (true, false) => "▸ ",
            (false, _) => "  ",
        };
        let mut x = taken + indent(row.depth, room);
        let number = match row.count {
            1 => format!("#{}", model.label(row.key)),
            many => format!("×{}", count(many)),
        };
        let parts = [
            (format!("{mark}{} {number} ", kind(row.kind)), SUBJECT),
            (format!("{}  ", text(strands, row.name)), PLAIN),
            what(strands, row),
        ];
        for (text, look) in parts {
            x += screen.text(x, y, width.saturating_sub(x), &text, look);
        }
        if at == state.strands.list.selected {
            screen.select(0, y, width);
        }
    }
}

pub fn kind(kind: StrandKind) -> &'static str {
    match kind {
        StrandKind::Thread => "thread",
        StrandKind::Fiber => "fiber",
        StrandKind::Coroutine => "coroutine",
    }
}

fn text(strands: &Strands, index: u32) -> &str {
    strands
        .texts
        .get(index as usize)
        .map_or("?", String::as_str)
}

/// What it does at the end of the trace.
fn what(strands: &Strands, row: &StrandRow) -> (String, super::look::Look) {
    if row.waits != LIVED {
        // One that has ended says how, and waits for nothing.
        let look = match row.died == row.count {
            true => FAINT,
            false => WAITING,
        };
        return (text(strands, row.waits).to_owned(), look);
    }
    let text = match (row.count, row.died) {
        (1, 0) => "lived at the end".to_owned(),
        (1, _) => "ended".to_owned(),
        (all, died) if all == died => "all ended".to_owned(),
        (_, died) => format!("{} ended", count(died)),
    };
    (text, FAINT)
}

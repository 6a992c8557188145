//! The keys.

use super::frame::Screen;
use super::look::{BOLD, PLAIN};
use crate::model::Model;
use crate::state::State;
use crate::text::width;

/// What is shown.
const KEYS: &[(&str, &str)] = &[
    ("everywhere", ""),
    ("1 … 5, Tab", "report, graph, strands, timeline, life"),
    ("j k, ↓ ↑", "next row, row before"),
    (
        "Space b, PgDn PgUp",
        "a page on, back; Ctrl-D, Ctrl-U: half",
    ),
    ("g G, Home End", "first, last row"),
    ("/", "search; capitals count if there are some"),
    ("n N", "next match, match before"),
    ("v", "show the source of what is selected, or not"),
    ("e", "open the source in $EDITOR"),
    ("Ctrl-L", "draw everything anew"),
    ("Ctrl-Z", "stop until the shell's fg"),
    ("q", "quit"),
    ("report", ""),
    ("s", "sort by self, total, calls, max, name"),
    ("Enter", "to the function's calls in the graph"),
    ("graph, strands", ""),
    ("Enter, o", "fold, unfold; a strand: its life (o folds)"),
    ("← →, h l", "fold or go to what is around; unfold"),
    ("O C", "unfold all, fold all"),
    ("timeline", ""),
    ("← →, h l", "cursor earlier, later; H L: half a screen"),
    ("+ - 0", "zoom in, out; the whole trace"),
    ("Enter", "open, close a row; zoom to a call"),
    ("] [", "next call of the row, call before"),
    ("t", "rows of threads and strands, threads, strands"),
    ("", "[f] a call, ▁▄█ short calls: how much of the time"),
    ("", "█ runs  · suspended  L lock  c condition, join"),
    ("", "k in the kernel  r ready, without a processor"),
    ("", "? not known: after the last event, no end seen"),
    ("life", ""),
    ("← →, h l", "the beginning of lines; the end of long ones"),
    ("Esc", "back to the strands"),
    ("", ""),
    ("", "any other key closes this"),
];

/// Columns of what a key does.
const TEXT: usize = 52;

/// The lines: keys, and what there is to know of the trace.
pub(crate) fn lines(model: &Model) -> Vec<(String, String)> {
    let keys = KEYS
        .iter()
        .map(|&(keys, what)| (keys.to_owned(), what.to_owned()));
    let mut lines: Vec<(String, String)> = keys.collect();
    if !model.head.notes.is_empty() {
        lines.push(("notes".to_owned(), String::new()));
    }
    for note in &model.head.notes {
        let mut line = String::new();
        for word in note.split(' ') {
            if !line.is_empty() && width(&line) + 1 + width(word) > TEXT {
                lines.push((String::new(), std::mem::take(&mut line)));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line += word;
        }
        lines.push((String::new(), line));
    }
    lines
}

pub fn draw(screen: &mut Screen<'_>, model: &Model, state: &State) {
    let lines = lines(model);
    let (width, height) = state.size;
    let columns = width.min(76);
    let rows = height.saturating_sub(2).min(lines.len() as u16 + 2);
    let (x, y) = (
        (width - columns) / 2,
        1 + (height.saturating_sub(2) - rows) / 2,
    );
    screen.clear(0, y, width, rows);
    let top = state.help.map_or(0, |help| help.selected);
    let page = usize::from(rows.saturating_sub(2));
    let more = top + page < lines.len();
    let bar = "─".repeat(usize::from(columns));
    screen.text(x, y, columns, &bar, PLAIN);
    screen.text(x + 2, y, columns, " keys ", BOLD);
    screen.text(x, y + rows - 1, columns, &bar, PLAIN);
    if more {
        screen.text(x + 2, y + rows - 1, columns, " … j: more ", BOLD);
    }
    for (y, (keys, what)) in (y + 1..).zip(lines.iter().skip(top).take(page)) {
        let look = if what.is_empty() { BOLD } else { PLAIN };
        screen.text(x + 1, y, 20, keys, look);
        let room = columns.saturating_sub(22).min(TEXT as u16 + 1);
        screen.text(x + 21, y, room, what, PLAIN);
    }
}

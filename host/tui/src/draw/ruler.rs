//! The time above the timeline: a label every few columns, the end, and the cursor. A label is
//! whole or not there: a part of its digits would be another time.

use super::frame::Screen;
use super::look::{BOLD, FAINT};
use crate::text::{precise, width};
use crate::timeline::Timeline;

/// Columns from one label to the next, if labels are no longer.
const STEP: usize = 16;

/// Draws it into so many columns from `left` on.
pub fn draw(screen: &mut Screen<'_>, timeline: &Timeline, left: u16, columns: usize) {
    let last = timeline.from.saturating_add(timeline.span);
    let label = |time| precise(time, timeline.apart(columns, STEP));
    let end = label(last);
    let step = STEP.max(width(&end) + 2);
    let cursor = timeline.column_of(timeline.cursor.max(timeline.from), columns);
    let mut put = |x: usize, text: &str, look| {
        screen.text(left + x as u16, 1, (columns - x) as u16, text, look);
    };
    // The end has its place before the others.
    let room = match width(&end) + 1 {
        room if columns >= step + room => room,
        _ => 0,
    };
    let ticks = (0..columns).step_by(step);
    for x in ticks.take_while(|x| *x == 0 || x + step <= columns - room) {
        put(x, "▏", FAINT);
        let text = label(timeline.column(x, columns).0);
        let covered = cursor.filter(|at| (x + 1..=x + width(&text)).contains(at));
        // The cursor's mark moves the label behind itself, where that does not reach the next one.
        let begin = covered.unwrap_or(x) + 1;
        if begin + width(&text) <= columns.min(x + step) {
            put(begin, &text, FAINT);
        }
    }
    if room > 0 {
        put(columns - 1, "▕", FAINT);
        let begin = columns - room;
        if !cursor.is_some_and(|at| (begin..columns - 1).contains(&at)) {
            put(begin, &end, FAINT);
        }
    }
    if let Some(x) = cursor {
        put(x, "▼", BOLD);
    }
}

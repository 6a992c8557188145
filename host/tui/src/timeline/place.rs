//! Which part of the time is shown, and where the cursor is.

use super::find::{Under, next_call, under};
use super::known::{Known, known};
use super::lines::{Line, What, lines};
use crate::key::Key;
use crate::list::List;
use crate::model::Strands;
use heddle_view::{Data, StrandKind};
use std::collections::HashSet;

/// Which strands have rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rows {
    /// Threads, then the others.
    #[default]
    Both,
    /// Threads alone.
    Threads,
    /// All, by what they are called.
    Strands,
}

/// The place in the timeline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    /// Which strands have rows.
    pub rows: Rows,
    /// The place among the lines.
    pub list: List,
    /// The lines, from the top: found anew where rows open or close, as there may be very many.
    pub lines: Vec<Line>,
    /// Until when each strand is known, by its index.
    pub known: Vec<Known>,
    /// The strands of each group, by their indices.
    pub members: Vec<Vec<u32>>,
    /// What is open.
    open: HashSet<What>,
    /// The time at the left edge.
    pub from: u64,
    /// How much time is shown; 0: nothing yet.
    pub span: u64,
    /// When the cursor is.
    pub cursor: u64,
}

/// Less time than this is not shown: ns.
const LEAST: u64 = 20;
/// One step of zoom.
const ZOOM: u64 = 2;

impl Timeline {
    /// The whole trace, what is of one thread alone being open.
    pub fn new(data: &Data, strands: Option<&Strands>) -> Self {
        let mut timeline = Timeline {
            from: data.begin,
            span: data.end - data.begin,
            known: known(data, strands),
            members: vec![Vec::new(); data.groups.len()],
            ..Timeline::default()
        };
        for ((_, group), index) in data.strands.iter().zip(0..) {
            if let Some(members) = timeline.members.get_mut(*group as usize) {
                members.push(index);
            }
        }
        // There may be nothing for long before the first call.
        let first = data.calls.kept.iter().map(|call| call.enter).min();
        timeline.cursor = first.unwrap_or(0);
        timeline.clamp(data);
        let strands = data.strands.iter().zip(0..);
        let threads: Vec<u32> = strands
            .filter(|((strand, _), _)| strand.kind == StrandKind::Thread)
            .map(|(_, index)| index)
            .collect();
        // A tree of few rows can be seen whole at once.
        if threads.len() <= 2 {
            timeline.open.extend(threads.into_iter().map(What::Strand));
        }
        timeline.look(data);
        timeline
    }

    /// Finds the lines: rows were opened, closed or chosen. O(strands).
    fn look(&mut self, data: &Data) {
        self.lines = lines(data, self);
    }

    /// What the selected line shows.
    pub fn selected(&self) -> Option<What> {
        self.lines.get(self.list.selected).map(|line| line.what)
    }

    /// Whether what belongs to a row is shown.
    pub fn is_open(&self, what: What) -> bool {
        self.open.contains(&what)
    }

    /// The time at a column of so many, and at the next one.
    pub fn column(&self, column: usize, columns: usize) -> (u64, u64) {
        let columns = columns.max(1) as u128;
        let at = |column: usize| {
            let time = u128::from(self.span) * column as u128 / columns;
            self.from.saturating_add(time as u64)
        };
        let (from, to) = (at(column), at(column + 1));
        (from, to.max(from + 1))
    }

    /// How much time lies between two places that are so many of the `columns` apart.
    pub fn apart(&self, columns: usize, places: usize) -> u64 {
        let time = u128::from(self.span) * places as u128 / columns.max(1) as u128;
        u64::try_from(time).unwrap_or(u64::MAX)
    }

    /// The column of a time; `None`: it is not shown.
    pub fn column_of(&self, time: u64, columns: usize) -> Option<usize> {
        let since = time
            .checked_sub(self.from)
            .filter(|&since| since <= self.span)?;
        let column = u128::from(since) * columns as u128 / u128::from(self.span.max(1));
        Some((column as usize).min(columns.saturating_sub(1)))
    }

    /// Takes a key; `columns` of time and `page` lines have room. False: it is another key.
    pub fn pressed(&mut self, key: Key, data: &Data, columns: usize, page: usize) -> bool {
        let what = self.selected();
        let step = self.apart(columns, 1).max(1);
        match key {
            Key::Left | Key::Char('h') => self.move_to(self.cursor.saturating_sub(step), data),
            Key::Right | Key::Char('l') => self.move_to(self.cursor.saturating_add(step), data),
            Key::Char('H') => self.pan(-1, data),
            Key::Char('L') => self.pan(1, data),
            Key::Char('+' | '=') => self.zoom(self.span / ZOOM, data),
            Key::Char('-' | '_') => self.zoom(self.span.saturating_mul(ZOOM), data),
            Key::Char('0') => self.zoom(u64::MAX, data),
            Key::Char(']' | '[') => {
                let calls = match what {
                    Some(What::Calls(strand, depth)) => Some((strand, depth)),
                    // Those that no other call is around.
                    Some(What::Strand(strand)) => Some((strand, 0)),
                    _ => None,
                };
                let forward = key == Key::Char(']');
                let found = calls.and_then(|calls| next_call(data, calls, self.cursor, forward));
                if let Some(found) = found {
                    self.move_to(found.enter, data);
                }
            }
            Key::Char('t') => {
                self.rows = match self.rows {
                    Rows::Both => Rows::Threads,
                    Rows::Threads => Rows::Strands,
                    Rows::Strands => Rows::Both,
                };
                self.look(data);
                let mut lines = self.lines.iter();
                let same = lines.position(|line| Some(line.what) == what);
                self.list.select(same.unwrap_or(0), self.lines.len(), page);
            }
            Key::Enter => match what {
                Some(row @ (What::Strand(_) | What::Group(_))) => {
                    if !self.open.remove(&row) {
                        self.open.insert(row);
                    }
                    self.look(data);
                    self.list.fit(self.lines.len(), page);
                }
                Some(row @ What::Calls(strand, depth)) => {
                    let found = match under(data, &self.known, row, self.cursor, step) {
                        Under::Call(call) => Some(call),
                        _ => next_call(data, (strand, depth), self.cursor, true),
                    };
                    if let Some(call) = found {
                        self.zoom_to(call.enter, call.exit, data);
                    }
                }
                _ => {}
            },
            _ => return self.list.moved(key, self.lines.len(), page),
        }
        true
    }

    /// Opens a strand, and puts the cursor on its calls of this depth at this time.
    pub fn show(&mut self, (strand, depth): (u32, u32), time: u64, data: &Data, page: usize) {
        let of_group = data.strands.get(strand as usize).map(|(_, group)| *group);
        self.open.extend(of_group.map(What::Group));
        self.open.insert(What::Strand(strand));
        if self.rows == Rows::Threads {
            self.rows = Rows::Both;
        }
        self.look(data);
        let all = &self.lines;
        let of = |what| all.iter().position(|line: &Line| line.what == what);
        let at = of(What::Calls(strand, depth)).or_else(|| of(What::Strand(strand)));
        self.list.select(at.unwrap_or(0), all.len(), page);
        self.move_to(time, data);
    }

    /// Puts the cursor there, and the part that is shown around it.
    fn move_to(&mut self, time: u64, data: &Data) {
        self.cursor = time.min(data.end);
        if self.cursor < self.from || self.cursor - self.from >= self.span {
            let middle = self.cursor.saturating_sub(self.span / 2);
            let over = self.cursor.abs_diff(self.from.saturating_add(self.span));
            // Just beside the edge: the picture moves on a little.
            let quarter = self.span / 4;
            self.from = match self.cursor >= self.from && over < self.span / 8 {
                true => self.from + quarter.max(1),
                false if self.cursor < self.from && self.from - self.cursor < self.span / 8 => {
                    self.from.saturating_sub(quarter.max(1))
                }
                false => middle,
            };
        }
        self.clamp(data);
    }

    fn pan(&mut self, direction: i64, data: &Data) {
        let half = (self.span / 2).max(1);
        let moved = |time: u64| match direction < 0 {
            true => time.saturating_sub(half),
            false => time.saturating_add(half),
        };
        let before = self.from;
        self.from = moved(self.from);
        self.clamp(data);
        let by = self.from.abs_diff(before);
        self.cursor = match direction < 0 {
            true => self.cursor.saturating_sub(by),
            false => self.cursor.saturating_add(by),
        };
        self.clamp(data);
    }

    /// Shows so much time; the cursor stays where it is on the screen.
    fn zoom(&mut self, span: u64, data: &Data) {
        let span = span.clamp(LEAST, data.end.max(LEAST));
        let since = self.cursor.saturating_sub(self.from);
        let left = u128::from(since) * u128::from(span) / u128::from(self.span.max(1));
        self.span = span;
        self.from = self.cursor.saturating_sub(left as u64);
        self.clamp(data);
    }

    /// Shows a call, with a little of what is around it.
    fn zoom_to(&mut self, from: u64, to: u64, data: &Data) {
        let length = to.saturating_sub(from).max(1);
        self.span = length
            .saturating_add(length / 4)
            .clamp(LEAST, data.end.max(LEAST));
        self.from = from.saturating_sub((self.span - length.min(self.span)) / 2);
        self.cursor = from;
        self.clamp(data);
    }

    /// Keeps the part within the trace, and the cursor within the part.
    fn clamp(&mut self, data: &Data) {
        let end = data.end.max(LEAST);
        self.span = self.span.clamp(LEAST, end);
        self.from = self.from.min(end - self.span);
        self.cursor = self.cursor.clamp(self.from, self.from + self.span - 1);
    }
}

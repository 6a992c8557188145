//! The lines of the timeline, from the top.

use super::find::{calls_on, summed_on};
use super::place::{Rows, Timeline};
use heddle_view::{Data, StrandKind};

/// What a line shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum What {
    /// How a strand lives, by its index.
    Strand(u32),
    /// How many of a group live, by its index.
    Group(u32),
    /// Calls of a strand that have so many around them.
    Calls(u32, u32),
    /// So many depths of a strand's calls that have no room.
    Deeper(u32, u32),
    /// So many of a group's strands that are not listed.
    Unlisted(u32, u64),
}

/// A line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// What it shows.
    pub what: What,
    /// Lines around it.
    pub depth: u16,
}

/// Depths of an open strand's calls that have a line each.
const DEEPEST: u32 = 40;

/// The lines, with the calls of what is open. O(strands).
pub fn lines(data: &Data, timeline: &Timeline) -> Vec<Line> {
    let mut lines = Vec::new();
    if timeline.rows != Rows::Strands {
        for ((strand, _), index) in data.strands.iter().zip(0..) {
            if strand.kind == StrandKind::Thread {
                add_strand(data, timeline, index, 0, &mut lines);
            }
        }
    }
    if timeline.rows == Rows::Threads {
        return lines;
    }
    for ((group, members), index) in data.groups.iter().zip(&timeline.members).zip(0..) {
        if group.kind == StrandKind::Thread && timeline.rows != Rows::Strands {
            continue;
        }
        if let (1, [only]) = (group.strands, &members[..]) {
            add_strand(data, timeline, *only, 0, &mut lines);
            continue;
        }
        let what = What::Group(index);
        lines.push(Line { what, depth: 0 });
        if !timeline.is_open(what) {
            continue;
        }
        for &member in members {
            add_strand(data, timeline, member, 1, &mut lines);
        }
        let unlisted = group.strands.saturating_sub(members.len() as u64);
        if unlisted > 0 {
            let what = What::Unlisted(index, unlisted);
            lines.push(Line { what, depth: 1 });
        }
    }
    lines
}

fn add_strand(data: &Data, timeline: &Timeline, index: u32, depth: u16, lines: &mut Vec<Line>) {
    let what = What::Strand(index);
    lines.push(Line { what, depth });
    if !timeline.is_open(what) {
        return;
    }
    let kept = calls_on(data, index, None).last().map(|call| call.depth);
    let summed = summed_on(data, index, None)
        .last()
        .map(|cell| cell.key.depth);
    let Some(deepest) = kept.max(summed) else {
        return;
    };
    let depth = depth + 1;
    for inner in 0..=deepest.min(DEEPEST) {
        let what = What::Calls(index, inner);
        lines.push(Line { what, depth });
    }
    if deepest > DEEPEST {
        let what = What::Deeper(index, deepest - DEEPEST);
        lines.push(Line { what, depth });
    }
}

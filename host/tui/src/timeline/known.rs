//! Until when strands are known: of one that was not seen to end, nothing is after its last event.

use crate::model::{StrandKey, Strands};
use heddle_view::{Data, StrandKind};
use std::collections::HashMap;

/// Until when a strand is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// Its end, or the last that was recorded of it.
    pub until: u64,
    /// When it ended: after the last that was recorded of it where exec ended it.
    pub died: u64,
    /// Its end was not seen.
    pub open: bool,
    /// It waits for what has not come.
    pub waits: bool,
}

impl Known {
    /// Whether a time is after the last event of one whose end was not seen, or came later.
    pub fn is_over(&self, time: u64) -> bool {
        time > self.until && (self.open || time <= self.died)
    }

    /// Whether it may live at this time; `end` is that of the trace.
    pub fn may_live(&self, time: u64, end: u64) -> bool {
        let until = match self.open {
            true => end.max(self.until),
            false => self.died.max(self.until),
        };
        time <= until
    }
}

/// Of each strand of the timeline. O(strands, calls, pauses, runs and events that are kept).
pub fn known(data: &Data, strands: Option<&Strands>) -> Vec<Known> {
    let rows = strands.iter().flat_map(|strands| &strands.rows);
    // A group's row has the number of its first member.
    let last: HashMap<StrandKey, u64> = (rows.filter(|row| row.count == 1))
        .map(|row| (row.key, row.last))
        .collect();
    let begin = |(strand, _): &(heddle_view::Strand, u32)| {
        let key = StrandKey {
            process: strand.process as u32,
            number: strand.own_number(),
        };
        let last = last.get(&key).copied();
        // Of what exec ended, the last event was before.
        let until = last.or(strand.died).unwrap_or(0);
        Known {
            until: until.min(strand.died.unwrap_or(until)).max(strand.born),
            died: strand.died.unwrap_or(0),
            open: strand.died.is_none(),
            waits: false,
        }
    };
    let mut all: Vec<Known> = data.strands.iter().map(begin).collect();
    let mut seen = |strand: u32, time: u64, waits: bool| {
        let lasts = |known: &&mut Known| known.open || known.until < known.died;
        if let Some(known) = all.get_mut(strand as usize).filter(lasts) {
            known.until = known.until.max(time);
            known.waits |= waits;
        }
    };
    for call in &data.calls.kept {
        seen(call.strand, call.exit, false);
    }
    for pause in &data.pauses.kept {
        match pause.open {
            true => seen(pause.strand, pause.from, true),
            false => seen(pause.strand, pause.to, false),
        }
    }
    for run in &data.runs.kept {
        seen(run.strand, run.to, false);
    }
    for event in &data.events {
        seen(event.strand, event.time, false);
    }
    all
}

/// Until when a group counts a strand among those that live.
pub fn lives_until(data: &Data, index: u32, known: &Known) -> u64 {
    let kind = data
        .strands
        .get(index as usize)
        .map(|(strand, _)| strand.kind);
    // The wait of a fiber or coroutine may be among those that were summed up.
    let may_wait = kind != Some(StrandKind::Thread) && data.pauses.summed.calls > 0;
    match (known.open, known.waits || may_wait) {
        (true, true) => data.end.max(known.until),
        (true, false) => known.until,
        (false, _) => known.died.max(known.until),
    }
}

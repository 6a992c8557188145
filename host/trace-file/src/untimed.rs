//! Times of records for which the clock was not read (`--clock sparse`).
//!
//! They are spread evenly between the timed records of the same thread before and after them; but
//! where the thread was preempted before the later one, they lie close behind the earlier one, as
//! far apart as records were so far: so a sleep is seen where it was. One look ahead serves all of
//! a stretch, so reading stays linear, and nothing of it is kept but a few numbers.

use crate::Ticks;
use crate::layout::{SHORT, SHORT_EXIT, SHORT_PREEMPTED, SHORT_UNTIMED, TICKS_SHIFT, kind};
use crate::position::Position;

/// A stretch of records without a time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Untimed {
    before: Ticks,
    /// The time behind it; `None` where the thread's records end first.
    after: Option<Ticks>,
    /// Ticks from one of its records to the next.
    spacing: u64,
    records: u64,
    given: u64,
    /// Time and records of the stretches so far in which the thread ran.
    seen: (u64, u64),
}

/// Whether a record that is not short has ticks in its second word. Of unknown types nothing is
/// known.
fn has_time(kind: u64) -> bool {
    let waits = kind::OBJECT_MET..=kind::WAKE;
    !matches!(kind, kind::BASE | kind::CAPTURE) && kind <= kind::TIME || waits.contains(&kind)
}

impl Untimed {
    /// Goes on to the stretch that begins at this position; `before` is the latest time given.
    pub fn begin(&mut self, at: &Position, before: Ticks) {
        let mut at = at.clone().unlimited();
        let (mut records, mut preempted) = (0, false);
        let after = loop {
            let Some(word) = at.word() else {
                match at.next_run() {
                    Ok(true) => continue,
                    // Damage is told of when it is reached.
                    Ok(false) | Err(_) => break None,
                }
            };
            if word & SHORT != 0 {
                if word & SHORT_UNTIMED == 0 {
                    preempted = word & SHORT_PREEMPTED != 0;
                    break Some(Ticks(at.base_ticks | word >> TICKS_SHIFT));
                }
                records += 1;
                match word & SHORT_EXIT {
                    0 if at.pass_enter().is_err() => break None,
                    0 => {}
                    _ => at.pass_exit(),
                }
                continue;
            }
            match at.pass_record() {
                Err(_) => break None,
                Ok(record) if !has_time(record.kind) => {}
                Ok(record) => break record.word(1).ok().map(Ticks),
            }
        };
        // A run that is decoded on its own has no time before its first record but its base.
        let before = match after {
            Some(after) if before == Ticks(0) => after.min(Ticks(at.base_ticks)),
            _ => before,
        };
        let width = after.map_or(0, |after| after.0.saturating_sub(before.0));
        let mut spacing = width / (records + 1);
        if preempted {
            spacing = spacing.min(self.seen.0.checked_div(self.seen.1).unwrap_or(0));
        } else {
            let (time, number) = self.seen;
            self.seen = (time.saturating_add(width), number + records + 1);
        }
        *self = Untimed {
            before,
            after,
            spacing,
            records,
            given: 0,
            seen: self.seen,
        };
    }

    /// The rest of the stretch cannot be read.
    pub fn leave(&mut self) {
        self.given = self.records;
    }

    /// Whether there was such a stretch.
    pub fn has_begun(&self) -> bool {
        self.records > 0
    }

    /// Whether every record of the stretch has its time.
    pub fn none_left(&self) -> bool {
        self.given >= self.records
    }

    /// The next record's time, and how far in ticks the true one may be from it. Behind the
    /// thread's last time there is no saying: such a record bears that time.
    pub fn next(&mut self) -> (Ticks, Option<u64>) {
        self.given += 1;
        let Some(after) = self.after else {
            return (self.before, None);
        };
        let width = after.0.saturating_sub(self.before.0);
        let since = self.spacing * self.given;
        let time = Ticks(self.before.0 + since);
        (time, Some(since.max(width - since)))
    }
}

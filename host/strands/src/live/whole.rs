//! A strand that lives, with all that is known of it.

use crate::Strand;
use heddle_trace_file::Nanos;

/// What a coroutine did before a call that runs or destroys it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GoesOn {
    /// It was made: its ramp goes on to run it, and it was not suspended yet.
    Begins,
    /// It was suspended.
    Rested,
    /// It was destroyed: this is the rest of that, to which the destroying function has jumped.
    Ends,
}

/// A strand that may be heard of again.
#[derive(Clone, Debug)]
pub(crate) struct Whole {
    pub strand: Strand,
    /// See [`Live::open`].
    pub open: u32,
    /// The coroutine that it is an instance of.
    pub coroutine: u32,
    /// The thread that it ran on last.
    pub on: Option<u32>,
}

impl Whole {
    pub fn run_on(&mut self, thread: u32) {
        self.strand.activations += 1;
        match self.on.replace(thread) {
            Some(before) if before == thread => {}
            None => self.strand.threads = 1,
            Some(before) => self.strand.threads = self.strand.words().visit(before, thread),
        }
    }

    pub fn begin_activation(&mut self, (goes_on, thread): (GoesOn, u32), time: u64) {
        let rested = match self.open {
            0 if goes_on == GoesOn::Rested => time.saturating_sub(self.strand.last.0),
            _ => 0,
        };
        self.open += 1;
        self.run_on(thread);
        self.strand.activations -= u64::from(goes_on == GoesOn::Ends);
        self.strand.suspended.0 = self.strand.suspended.0.saturating_add(rested);
    }

    pub fn end_activation(&mut self, (ran, nested): (u64, u64), time: u64) {
        let Strand {
            running, children, ..
        } = &mut self.strand;
        running.0 = running.0.saturating_add(ran.saturating_sub(nested));
        children.0 = children.0.saturating_add(nested);
        self.strand.last = Nanos(time);
        self.open = self.open.saturating_sub(1);
    }

    pub fn account(&mut self, until: u64, suspended: u64, nested: u64) {
        let strand = &mut self.strand;
        let alive = until.saturating_sub(strand.born.0);
        strand.suspended = Nanos(suspended.min(alive));
        strand.children = Nanos(nested);
        strand.running = Nanos(alive.saturating_sub(suspended).saturating_sub(nested));
        strand.last = Nanos(until);
    }
}

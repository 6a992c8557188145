//! The part of a wait in which its thread made calls: those of a signal's handler.

use heddle_trace_file::Nanos;

/// The calls that began within a wait.
#[derive(Clone, Copy, Debug, Default)]
pub struct Called {
    /// How many of them are open.
    open: u32,
    /// When the outermost of these began.
    since: Nanos,
    /// The time of those that have ended, each within no other.
    pub time: Nanos,
}

impl Called {
    /// A call begins within the wait.
    pub fn enter(&mut self, time: Nanos) {
        if self.open == 0 {
            self.since = time;
        }
        self.open += 1;
    }

    /// A call ends; it may have begun before the wait.
    pub fn leave(&mut self, time: Nanos) {
        if self.open == 1 {
            self.time.0 += time.0.saturating_sub(self.since.0);
        }
        self.open = self.open.saturating_sub(1);
    }
}

//! What a filter shows of what is no call.

use heddle_trace_file::Nanos;
use std::ops::Range;

/// A part of a process.
#[derive(Clone, Debug)]
pub struct Shown {
    pub range: Range<Nanos>,
    /// By index; `None`: all.
    pub threads: Option<Vec<bool>>,
    /// When the process's last event was.
    pub until: Nanos,
}

impl Shown {
    /// Everything.
    pub const ALL: Shown = Shown {
        range: Nanos(0)..Nanos(u64::MAX),
        threads: None,
        until: Nanos(0),
    };

    /// Whether what is no call is shown where this thread does it.
    #[inline]
    pub fn takes_thread(&self, thread: usize) -> bool {
        let threads = self.threads.as_ref();
        threads.is_none_or(|threads| threads.get(thread).copied().unwrap_or(false))
    }

    /// Whether a moment is shown.
    #[inline]
    pub fn has(&self, time: Nanos) -> bool {
        self.range.contains(&time)
    }

    /// The moment of the range that is nearest.
    #[inline]
    pub fn nearest(&self, time: Nanos) -> Nanos {
        time.clamp(self.range.start, self.range.end)
    }

    /// The part of a time that is shown. One without an end goes on to the end of the range, or of
    /// the trace: `None`.
    #[inline]
    pub fn cut(&self, from: Nanos, to: Option<Nanos>) -> Option<(Nanos, Option<Nanos>)> {
        let Range { start, end } = self.range;
        let goes_on = to.is_none() && self.until < end;
        let cut = (from.max(start), to.unwrap_or(end).min(end));
        let is_moment = to == Some(from) && self.has(from);
        let is_shown = is_moment || cut.0 < cut.1;
        is_shown.then_some((cut.0, if goes_on { None } else { Some(cut.1) }))
    }
}

//! Waits that began before a time range, and have not ended when it begins.

use heddle_strands::StrandId;
use heddle_trace_file::{KeptWait, Wait};
use rustc_hash::FxHashMap;

/// By thread.
#[derive(Default)]
pub(super) struct Waits(FxHashMap<usize, HeldWait>);

/// A wait that has not ended.
pub(super) struct HeldWait {
    pub strand: StrandId,
    /// Calls of the strand that were open.
    open: usize,
    pub wait: KeptWait,
}

impl Waits {
    /// The thread waits from now on, within so many open calls of the strand.
    pub fn begin(&mut self, (strand, thread): (StrandId, usize), wait: Wait<'_>, open: usize) {
        let waiting = HeldWait {
            strand,
            open,
            wait: wait.into(),
        };
        self.0.insert(thread, waiting);
    }

    /// The thread's wait has ended.
    pub fn end(&mut self, thread: usize) {
        self.0.remove(&thread);
    }

    /// A call of the strand has ended on the thread, and so many are open. A signal's handler may
    /// have left the call that waited.
    #[inline]
    pub fn left(&mut self, strand: StrandId, thread: usize, open: usize) {
        if !self.0.is_empty()
            && let Some(waiting) = self.0.get(&thread)
            && waiting.strand == strand
            && open < waiting.open
        {
            self.end(thread);
        }
    }

    /// Those that have not ended.
    pub fn take(&mut self) -> impl Iterator<Item = HeldWait> {
        std::mem::take(&mut self.0).into_values()
    }
}

//! What a filter asks of a call.

use super::learned::{Learned, Tids};
use super::range::TimeRange;
use super::verdict::{Limits, Meant};
use heddle_calls::Key;
use heddle_trace_file::{Addr, Nanos, Trace};
use rustc_hash::FxHashMap;

/// The options, as far as they concern the calls of a trace.
pub struct Rules<'a> {
    pub(super) trace: &'a Trace,
    /// By process; a function that no pattern means is not there.
    pub(super) meant: Vec<FxHashMap<Key, Meant>>,
    pub(super) limits: Limits,
    pub(super) min_time: Option<Nanos>,
    pub(super) range: Option<TimeRange>,
    /// By process, if there is a time range: when its last event was recorded.
    pub(super) ends: Vec<Nanos>,
    /// Threads whose calls are kept, by process and index.
    pub(super) threads: Option<Vec<Vec<bool>>>,
    /// By process.
    pub(super) tids: Vec<Tids>,
    /// What a first walk over the trace found, if there was one.
    pub(super) learned: Option<Learned>,
}

impl Rules<'_> {
    /// What the patterns mean of a function.
    pub(super) fn meant(&self, process: usize, address: Addr, time: Nanos) -> Meant {
        let modules = self.trace.processes()[process].modules();
        let generation = modules.generation(time);
        let key = Key {
            address,
            generation,
        };
        self.meant[process].get(&key).copied().unwrap_or_default()
    }

    /// Whether calls are kept that begin on this thread of the process.
    pub(super) fn takes_thread(&self, process: usize, thread: usize) -> bool {
        let threads = self.threads.as_ref();
        threads.is_none_or(|all| all[process].get(thread).copied().unwrap_or(false))
    }
}

//! What a forked process has of its parent's calls.

use heddle_trace_file::Event;

/// The calls that a process began inside.
#[derive(Clone, Debug, Default)]
pub struct Inherited {
    /// The index of the thread that was forked, if it recorded anything.
    pub(crate) thread: Option<usize>,
    /// Their enters, outermost first, at the time at which the thread began.
    pub(crate) enters: Vec<Event<'static>>,
    /// The strand that the thread ran was sure to be one, with all its calls.
    pub(crate) sure: bool,
}

impl Inherited {
    /// Those of the thread with this index in its process.
    pub fn of(&self, thread: usize) -> &[Event<'static>] {
        match self.thread == Some(thread) {
            true => &self.enters,
            false => &[],
        }
    }
}

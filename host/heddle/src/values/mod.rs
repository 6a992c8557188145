//! What calls were given and gave back (`heddle record --args`, `--retval`): values find their
//! call, and are printed.

mod long_double;
mod recorded;
mod text;

pub use recorded::Recorded;
pub use text::{argument_list, named_values, result_text};

use heddle_calls::End;
use heddle_strands::{Call, StrandSpan};
use heddle_trace_file::{Addr, Of, Values};
use rustc_hash::FxHashMap;

/// Values that a thread has told, until its next call begins or ends: they are that one's.
#[derive(Debug, Default)]
pub struct Waiting {
    /// By thread, of its process.
    by_thread: FxHashMap<usize, Recorded>,
}

impl Waiting {
    /// A thread has told these.
    pub fn take(&mut self, thread: usize, values: Values<'_>) {
        self.by_thread.insert(thread, Recorded::new(values));
    }

    /// What a call that begins now was given.
    #[inline]
    pub fn of_enter(&mut self, call: &Call) -> Option<Recorded> {
        if self.by_thread.is_empty() {
            return None;
        }
        self.of(call.thread, call.function, Of::Arguments)
    }

    /// What a call that ends now gives back.
    #[inline]
    pub fn of_leave(&mut self, span: &StrandSpan) -> Option<Recorded> {
        // A call without an exit ends at another one's event.
        if self.by_thread.is_empty() || span.span.end != End::Returned {
            return None;
        }
        self.of(span.thread, span.span.function, Of::Result)
    }

    /// The thread has an exit of a call of which nothing is known.
    pub fn clear(&mut self, thread: usize) {
        self.by_thread.remove(&thread);
    }

    #[cold]
    fn of(&mut self, thread: usize, function: Addr, of: Of) -> Option<Recorded> {
        let recorded = self.by_thread.remove(&thread)?;
        let values = recorded.values();
        (values.of == of && values.function == function.0 as u32).then_some(recorded)
    }
}

//! The events of some threads of a process, in order of time.

use crate::pipe::piped;
use heddle_trace_file::{Error, Event, Process, Remarks};

/// Gives `each` the events of some threads of a process, in order of time, until it has enough;
/// `is_piped`: another processor reads them. Returns what is to be said of them.
pub(super) fn each_event<'a>(
    process: &'a Process,
    threads: &[usize],
    is_piped: bool,
    mut each: impl FnMut(usize, &Event<'a>) -> bool,
) -> Result<Remarks, Error> {
    if !is_piped {
        return process.in_order(threads, each);
    }
    piped(
        |inlet| process.in_order(threads, |thread, event| inlet.put((thread, *event))),
        |(thread, event)| each(*thread, event),
    )
}

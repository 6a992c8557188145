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
    each_of_next(process, threads, true, |events| {
        let wanted = events
            .first()
            .is_some_and(|(thread, event)| each(*thread, event));
        usize::from(wanted)
    })
}

/// The same for who looks at what comes next: `take` gets the next events that are at hand, each
/// with the index of its thread, and says how many it has taken; none if it has enough.
pub(super) fn each_of_next<'a>(
    process: &'a Process,
    threads: &[usize],
    is_piped: bool,
    mut take: impl FnMut(&[(usize, Event<'a>)]) -> usize,
) -> Result<Remarks, Error> {
    if !is_piped {
        return process.in_order(threads, |thread, event| take(&[(thread, *event)]) > 0);
    }
    piped(
        |inlet| process.in_order(threads, |thread, event| inlet.put((thread, *event))),
        take,
    )
}

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

/// Events that are handed over together where one processor does all: they stay in its first cache.
const TOGETHER: usize = 256;

/// The same for who looks at what comes next: `take` gets the next events that are at hand, each
/// with the index of its thread, and says how many it has taken; none if it has enough.
pub(super) fn each_of_next<'a>(
    process: &'a Process,
    threads: &[usize],
    is_piped: bool,
    take: impl FnMut(&[(usize, Event<'a>)]) -> usize,
) -> Result<Remarks, Error> {
    if !is_piped {
        return in_batches(process, threads, take);
    }
    piped(
        |inlet| process.in_order(threads, |thread, event| inlet.put((thread, *event))),
        take,
    )
}

/// [`each_of_next`] by one processor.
fn in_batches<'a>(
    process: &'a Process,
    threads: &[usize],
    mut take: impl FnMut(&[(usize, Event<'a>)]) -> usize,
) -> Result<Remarks, Error> {
    let mut batch = Vec::with_capacity(TOGETHER);
    let mut has_enough = false;
    let remarks = process.in_order(threads, |thread, event| {
        batch.push((thread, *event));
        if batch.len() == TOGETHER {
            has_enough = !takes_all(&batch, &mut take);
            batch.clear();
        }
        !has_enough
    })?;
    if !has_enough {
        takes_all(&batch, &mut take);
    }
    Ok(remarks)
}

/// Whether `take` takes all of these, and may want more.
fn takes_all<T>(items: &[T], mut take: impl FnMut(&[T]) -> usize) -> bool {
    let mut rest = items;
    while !rest.is_empty() {
        match take(rest) {
            0 => return false,
            taken => rest = rest.get(taken..).unwrap_or_default(),
        }
    }
    true
}

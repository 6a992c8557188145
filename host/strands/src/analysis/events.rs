//! The events of some threads of a process, in order of time.

use crate::pipe::piped;
use heddle_trace_file::{Error, Event, Events, Nanos, Process, Remarks};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Gives `each` the events of some threads of a process, in order of time, until it has enough;
/// `is_piped`: another processor reads them. Returns what is to be said of them.
pub(super) fn each_event<'a>(
    process: &'a Process,
    threads: &[usize],
    is_piped: bool,
    mut each: impl FnMut(usize, &Event<'a>) -> bool,
) -> Result<Remarks, Error> {
    if !is_piped {
        return in_order(process, threads, each);
    }
    piped(
        |inlet| {
            in_order(process, threads, |thread, event| {
                inlet.put((thread, *event))
            })
        },
        |(thread, event)| each(*thread, event),
    )
}

/// Gives `each` the events of some threads of a process, in order of time, until it has enough;
/// returns what is to be said of them.
pub(super) fn in_order<'a>(
    process: &'a Process,
    threads: &[usize],
    mut each: impl FnMut(usize, &Event<'a>) -> bool,
) -> Result<Remarks, Error> {
    const NEVER: (Nanos, usize) = (Nanos(u64::MAX), usize::MAX);
    let mut sources: Vec<(Events<'_>, Option<Event<'_>>)> = Vec::new();
    // The times of the next events of all threads but the one that is being read.
    let mut heads: BinaryHeap<Reverse<(Nanos, usize)>> = BinaryHeap::new();
    for (index, &thread) in threads.iter().enumerate() {
        let mut events = process.threads()[thread].events();
        let head = events.next().transpose()?;
        heads.extend(head.map(|head| Reverse((head.time, index))));
        sources.push((events, head));
    }
    while let Some(Reverse((_, current))) = heads.pop() {
        let until = heads.peek().map_or(NEVER, |&Reverse(head)| head);
        let (events, head) = &mut sources[current];
        let Some(first) = head.take() else { continue };
        if !each(threads[current], &first) {
            break;
        }
        let mut more = true;
        for event in events {
            let event = event?;
            if (event.time, current) >= until {
                heads.push(Reverse((event.time, current)));
                *head = Some(event);
                break;
            }
            more = each(threads[current], &event);
            if !more {
                break;
            }
        }
        if !more {
            break;
        }
    }
    let mut all = Remarks::default();
    for (events, _) in &sources {
        all += &events.remarks();
    }
    Ok(all)
}

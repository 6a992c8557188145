//! The events of many threads in one order of time.

use crate::{Error, Event, Events, Nanos, Remarks, Thread};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Where an event happened: indices into [`Trace::processes`](crate::Trace::processes) and
/// [`Process::threads`](crate::Process::threads).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The process's index.
    pub process: usize,
    /// The thread's index in the process.
    pub thread: usize,
}

/// Gives `each` the events of these threads, in order of time and, at the same time, in the order
/// of the threads, until it has enough. One event a thread is held in memory. Returns what is to be
/// said of the events given, and of one more a thread.
pub(crate) fn in_order<'a, P: Copy>(
    threads: impl Iterator<Item = (P, &'a Thread)>,
    mut each: impl FnMut(P, &Event<'a>) -> bool,
) -> Result<Remarks, Error> {
    const NEVER: (Nanos, usize) = (Nanos(u64::MAX), usize::MAX);
    let mut sources: Vec<(P, Events<'_>, Option<Event<'_>>)> = Vec::new();
    // The times of the next events of all threads but the one that is being read.
    let mut heads: BinaryHeap<Reverse<(Nanos, usize)>> = BinaryHeap::new();
    for (index, (place, thread)) in threads.enumerate() {
        let mut events = thread.events();
        let head = events.next().transpose()?;
        heads.extend(head.map(|head| Reverse((head.time, index))));
        sources.push((place, events, head));
    }
    'all: while let Some(Reverse((_, current))) = heads.pop() {
        let until = heads.peek().map_or(NEVER, |&Reverse(head)| head);
        let (place, events, head) = &mut sources[current];
        let Some(first) = head.take() else { continue };
        if !each(*place, &first) {
            break;
        }
        for event in events {
            let event = event?;
            if (event.time, current) >= until {
                heads.push(Reverse((event.time, current)));
                *head = Some(event);
                break;
            }
            if !each(*place, &event) {
                break 'all;
            }
        }
    }
    let mut all = Remarks::default();
    for (_, events, _) in &sources {
        all += &events.remarks();
    }
    Ok(all)
}

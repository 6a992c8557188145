//! The events of many threads in one order of time.

use crate::{Error, Event, Events, Nanos, Remarks, Trace};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Where an event happened: indices into [`Trace::processes`] and [`Process::threads`](crate::Process::threads).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The process's index.
    pub process: usize,
    /// The thread's index in the process.
    pub thread: usize,
}

/// Events merged by time; at the same time, by process and thread. One event a thread is held in memory.
#[derive(Debug)]
pub struct Merged<'a> {
    sources: Vec<(Events<'a>, Option<Event<'a>>)>,
    places: Vec<Place>,
    /// The next time of every source that has a next event.
    heads: BinaryHeap<Reverse<(Nanos, usize)>>,
    failed: Option<Error>,
}

impl<'a> Merged<'a> {
    pub(crate) fn new(trace: &'a Trace) -> Self {
        let mut merged = Merged {
            sources: Vec::new(),
            places: Vec::new(),
            heads: BinaryHeap::new(),
            failed: None,
        };
        for (process, recorded) in trace.processes().iter().enumerate() {
            for (thread, records) in recorded.threads().iter().enumerate() {
                merged.sources.push((records.events(), None));
                merged.places.push(Place { process, thread });
                merged.advance(merged.sources.len() - 1);
            }
        }
        merged
    }

    /// What there is to say about the events given so far, and one more a thread.
    pub fn remarks(&self) -> Remarks {
        let mut all = Remarks::default();
        for (events, _) in &self.sources {
            all += &events.remarks();
        }
        all
    }

    fn advance(&mut self, source: usize) {
        let (events, head) = &mut self.sources[source];
        *head = match events.next() {
            Some(Ok(event)) => {
                self.heads.push(Reverse((event.time, source)));
                Some(event)
            }
            Some(Err(error)) => {
                self.failed = Some(error);
                None
            }
            None => None,
        };
    }
}

impl<'a> Iterator for Merged<'a> {
    type Item = Result<(Place, Event<'a>), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(error) = self.failed.take() {
            self.heads.clear();
            return Some(Err(error));
        }
        let Reverse((_, source)) = self.heads.pop()?;
        let event = self.sources[source].1.take()?;
        self.advance(source);
        Some(Ok((self.places[source], event)))
    }
}

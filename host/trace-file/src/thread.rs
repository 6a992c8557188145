//! One thread and its events.

use crate::clock::TimeLine;
use crate::layout::{ENDED, MADE_BY_SHIFT, RUN_SIZE, RunRecord, SP_BITS, text};
use crate::run::RunPlace;
use crate::store::Store;
use crate::{Addr, Error, Events, Modules, Nanos, Remarks, Shapes, Ticks};
use std::ops::Range;
use std::sync::Arc;

/// State that the threads of a process share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub store: Store,
    pub modules: Modules,
    pub shapes: Arc<Shapes>,
    pub line: TimeLine,
}

/// A kernel thread of a traced process.
#[derive(Debug)]
pub struct Thread {
    pub(crate) shared: Arc<Shared>,
    pub(crate) places: Vec<RunPlace>,
    number: u32,
    tid: u32,
    name: String,
    ended: bool,
    made_by: u32,
    dropped: u64,
    stack: Option<Range<Addr>>,
    first: Nanos,
}

impl Thread {
    /// The thread of these runs, in order; `dropped` events are told of it outside them.
    pub(crate) fn new(
        shared: &Arc<Shared>,
        places: Vec<RunPlace>,
        dropped: u64,
    ) -> Result<Option<Self>, Error> {
        let [first, ..] = places.as_slice() else {
            return Ok(None);
        };
        let mut thread = Thread {
            shared: shared.clone(),
            number: first.thread,
            tid: 0,
            name: String::new(),
            ended: false,
            made_by: 0,
            dropped,
            stack: None,
            first: Nanos(u64::MAX),
            places: Vec::new(),
        };
        for place in &places {
            let record = place.record(&shared.store)?;
            let first = shared.line.at(Ticks(record.first_ticks.get()));
            let (low, high) = (record.stack_low.get(), record.stack_high.get());
            // The last record counts; for a field that is not always known, the last record that
            // knows it.
            thread.tid = record.tid.get();
            thread.ended = record.flags.get() & ENDED != 0;
            thread.made_by = record.flags.get() >> MADE_BY_SHIFT;
            thread.first = thread.first.min(first);
            if low != 0 {
                thread.stack = Some(Addr(low)..Addr(high));
            }
            let name = text(&record.name);
            if !name.is_empty() {
                thread.name = name;
            }
            let (source, records) = place.records(&shared.store);
            source.release(records);
        }
        thread.places = places;
        Ok(Some(thread))
    }

    /// Number in order of birth, from 1.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The kernel's thread id.
    pub fn tid(&self) -> u32 {
        self.tid
    }

    /// The last name it had.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the recorder saw its end.
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// The number of the [`EventKind::Making`](crate::EventKind::Making), of a thread of its
    /// process, by which it was created; `None` if that is not known, or nobody created it.
    pub fn made_by(&self) -> Option<u32> {
        (self.made_by != 0).then_some(self.made_by)
    }

    /// Events lost for lack of space or memory, as far as is known without reading its events: see
    /// [`Remarks::dropped`].
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Where its stack is, if known.
    pub fn stack(&self) -> Option<Range<Addr>> {
        self.stack.clone()
    }

    /// When its first event was recorded.
    pub fn first(&self) -> Nanos {
        self.first
    }

    /// When its last event was recorded, as its last run tells: reads that run.
    ///
    /// # Errors
    /// What reading the run gives.
    pub fn last(&self) -> Result<Nanos, Error> {
        let began = self
            .shared
            .line
            .at(Ticks(self.last_run()?.base_ticks.get()));
        let mut runs = self.runs();
        let last = runs.next_back();
        let mut events = last.into_iter().flat_map(Run::events);
        events.try_fold(began, |latest, event| Ok(latest.max(event?.time)))
    }

    /// Bytes of its records: a measure of the work that reading it takes. An event has 8 to 40 of
    /// them, 12 on average.
    pub fn bytes(&self) -> u64 {
        self.places
            .iter()
            .map(|place| (place.end - place.begin) as u64)
            .sum()
    }

    /// Its events, in order; times never decrease.
    pub fn events(&self) -> Events<'_> {
        Events::new(self, 0, self.places.len())
    }

    /// The stretches that its events are stored in, in order: each can be decoded on its own, so
    /// one thread's events can be read by several.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), heddle_trace_file::Error> {
    /// let trace = heddle_trace_file::Trace::open("heddle.trace".as_ref())?;
    /// let thread = &trace.processes()[0].threads()[0];
    /// let counts: Vec<usize> = std::thread::scope(|scope| {
    ///     let work = |run: heddle_trace_file::Run<'_>| run.events().count();
    ///     let workers: Vec<_> = thread.runs().map(|run| scope.spawn(move || work(run))).collect();
    ///     workers.into_iter().filter_map(|worker| worker.join().ok()).collect()
    /// });
    /// # Ok(())
    /// # }
    /// ```
    pub fn runs(&self) -> impl DoubleEndedIterator<Item = Run<'_>> + ExactSizeIterator {
        let run = |index| Run {
            thread: self,
            index,
        };
        (0..self.places.len()).map(run)
    }

    /// The events of some of its runs, which are those that [`Thread::events`] gives of them if
    /// `after` is the time of the event before, and every event has read the clock
    /// ([`Events::is_sparse`]). [`Events::remarks`] says nothing there of what was dropped outside
    /// the thread's records ([`Thread::dropped`]).
    pub fn stretch(&self, runs: Range<usize>, after: Ticks) -> Events<'_> {
        let end = runs.end.min(self.places.len());
        Events::stretch(self, runs.start.min(end), end, after)
    }

    /// When the last run began before which others are missing: overwritten by a flight recorder,
    /// or lost with a part of the trace. `None` if none are.
    pub fn complete_from(&self) -> Option<Nanos> {
        let mut before = 0;
        let mut latest = None;
        for place in &self.places {
            if place.number != before + 1 {
                latest = Some(place);
            }
            before = place.number;
        }
        let record = latest?.record(&self.shared.store).ok()?;
        Some(self.shared.line.at(Ticks(record.base_ticks.get())))
    }

    /// Runs that are missing between others: overwritten by a flight recorder, or lost with a part
    /// of the trace.
    pub fn missing_runs(&self) -> u64 {
        let missing = |pair: &[RunPlace]| u64::from(pair[1].number - pair[0].number - 1);
        self.places.windows(2).map(missing).sum()
    }

    /// Counts its enters and exits, without completing them: several times as fast as
    /// [`Thread::events`]. With the remarks of that walk: they tell what was dropped, and what
    /// cannot be read.
    ///
    /// # Errors
    /// What [`Thread::events`] gives.
    pub fn count(&self) -> Result<(u64, Remarks), Error> {
        let mut events = self.events();
        let calls = events.count_calls()?;
        Ok((calls, events.remarks()))
    }

    /// Events lost that its records tell of, as far as they can be read.
    pub(crate) fn dropped_in_gaps(&self) -> Result<u64, Error> {
        let mut events = self.events();
        events.count_calls()?;
        Ok(events.dropped_in_gaps())
    }

    /// The record that its last run begins with.
    pub(crate) fn last_run(&self) -> Result<RunRecord, Error> {
        let last = &self.places[self.places.len() - 1];
        last.record(&self.shared.store).cloned()
    }

    /// The remarks of a walk over all its events.
    ///
    /// # Errors
    /// What [`Thread::events`] gives.
    pub fn remarks(&self) -> Result<Remarks, Error> {
        let mut events = self.events();
        events.by_ref().try_for_each(|event| event.map(drop))?;
        Ok(events.remarks())
    }
}

/// A stretch of a thread's events.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    thread: &'a Thread,
    index: usize,
}

impl<'a> Run<'a> {
    /// Its number among its thread's; numbers between those of neighbours are missing.
    pub fn number(self) -> u32 {
        self.thread.places[self.index].number
    }

    /// Whether it begins on another stack than its thread's own, as far as it is known where that
    /// is.
    pub fn begins_elsewhere(self) -> bool {
        let record = self.thread.places[self.index].record(&self.thread.shared.store);
        let Some((record, own)) = record.ok().zip(self.thread.stack()) else {
            return false;
        };
        // Where the stack pointers are that its short records can say.
        let low = record.base_sp.get();
        let high = low.saturating_add(8 << SP_BITS);
        low != 0 && (high <= own.start.0 || low >= own.end.0)
    }

    /// Bytes that it takes up.
    pub fn bytes(self) -> usize {
        let place = &self.thread.places[self.index];
        place.end - place.begin + RUN_SIZE
    }

    /// Its events, in order; times never decrease within it.
    pub fn events(self) -> Events<'a> {
        Events::new(self.thread, self.index, self.index + 1)
    }
}

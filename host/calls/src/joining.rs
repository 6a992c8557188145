//! Puts the chunks of a thread together, in order, to what one walk over all its events gives.
//!
//! A chunk whose assumptions do not hold (its calls are not below those that were open before it,
//! as a fiber's may be; times go back; the clock was not always read) is walked once more, now that
//! it is known what was before.

use crate::chunk::{Chunk, feed};
use crate::pieces::Piece;
use crate::tally::Tally;
use crate::{Key, Profile, Source, Stack, Stats};
use heddle_trace_file::{Error, Remarks, Thread, Ticks};
use std::ops::Range;

/// A thread's events so far.
#[derive(Debug)]
pub(crate) struct Joining<'a> {
    thread: &'a Thread,
    stack: Stack,
    tally: Tally<'a>,
    latest: Ticks,
    /// The runs before this one are in, if they came in chunks.
    joined: usize,
    events: u64,
    remarks: Remarks,
    /// Chunks that came, and those that had to be walked again.
    chunks: u32,
    misfits: u32,
    failed: Option<Error>,
    /// All its events are in: what comes is not wanted.
    complete: bool,
}

/// Chunks that are walked again before all that follow are.
const PATIENCE: u32 = 8;

impl<'a> Joining<'a> {
    /// Before the first event of the thread.
    pub fn new(source: Source<'a>) -> Self {
        let mut stack = Stack::of(source.thread);
        let mut tally = Tally::new(source.modules, source.variants);
        for enter in source.before {
            feed(&mut stack, &mut tally, *enter);
        }
        Joining {
            thread: source.thread,
            stack,
            tally,
            latest: Ticks(0),
            joined: 0,
            events: 0,
            remarks: Remarks::default(),
            chunks: 0,
            misfits: 0,
            failed: None,
            complete: false,
        }
    }

    /// What calls that have ended come to so far.
    pub fn functions(&self) -> Vec<(Key, Stats)> {
        self.tally.so_far()
    }

    /// The state of the thread where its next chunk begins; `None` if the rest was not read in
    /// chunks.
    pub fn place(&self) -> Option<Piece> {
        let place = || Piece::new(self.joined, self.stack.clone(), self.latest);
        (self.joined > 0 && !self.complete).then(place)
    }

    /// Adds all its events, one by one, as long as `go_on` says so, which is asked now and then.
    pub fn walk_all(&mut self, go_on: impl Fn(&Self) -> bool) {
        self.failed = self.walk(0..usize::MAX, go_on).err();
        self.complete = true;
    }

    /// Whether the events so far may be those of several stacks: they do not nest, or they do and
    /// are on another stack than the thread's own, which a fiber leaves unseen where nothing is
    /// called between two switches.
    pub fn may_leave_stack(&self) -> bool {
        self.stack.may_have_fibers() || self.stack.was_elsewhere()
    }

    /// Whether the events so far show another strand than the thread: a fiber or a coroutine.
    pub fn may_have_strands(&self) -> bool {
        self.may_leave_stack() || self.tally.captured()
    }

    /// Adds the events of the next runs, which `chunk` is of; whether more are wanted.
    pub fn add(&mut self, runs: Range<usize>, chunk: Result<Chunk<'_>, Error>) -> bool {
        if !self.complete {
            let end = runs.end;
            match self.try_to_add(runs, chunk) {
                Ok(()) => self.joined = end,
                Err(error) => {
                    self.failed = Some(error);
                    self.complete = true;
                }
            }
        }
        !self.complete
    }

    fn try_to_add(
        &mut self,
        runs: Range<usize>,
        chunk: Result<Chunk<'_>, Error>,
    ) -> Result<(), Error> {
        let chunk = chunk?;
        self.chunks += 1;
        let hopeless = self.misfits > PATIENCE && self.misfits > self.chunks / 2;
        if chunk.sparse || hopeless {
            self.complete = true;
            return self.walk(runs.start..usize::MAX, |_| true);
        }
        if chunk.first.is_some_and(|first| first < self.latest) {
            self.misfits += 1;
            return self.walk(runs, |_| true);
        }
        let numbers = self.tally.numbers(&chunk.keys);
        let (mut sums, mut open, mut walked) = (0, 0, 0);
        for part in &chunk.parts {
            if !self.stack.takes(&part.above) {
                self.misfits += 1;
                self.walk_from(&runs, walked)?;
                break;
            }
            let (parts_sums, parts_open) = (sums..part.sums, open..part.open);
            (sums, open) = (part.sums, part.open);
            walked += part.walked;
            self.stack
                .put_above(&part.above, &chunk.open[parts_open.clone()]);
            self.tally.put(
                &numbers,
                &chunk.sums[parts_sums],
                &chunk.open_functions[parts_open],
            );
            if let Some(event) = part.event {
                feed(&mut self.stack, &mut self.tally, event);
            }
        }
        self.latest = self.latest.max(chunk.last);
        self.events += chunk.events;
        self.remarks += &chunk.remarks;
        Ok(())
    }

    /// Walks over the events of these runs.
    fn walk(&mut self, runs: Range<usize>, go_on: impl Fn(&Self) -> bool) -> Result<(), Error> {
        const NOW_AND_THEN: u64 = 1 << 16;
        let mut events = self.thread.stretch(runs, self.latest);
        let mut walked = 0;
        for event in events.by_ref() {
            self.events += u64::from(feed(&mut self.stack, &mut self.tally, event?));
            walked += 1;
            if walked % NOW_AND_THEN == 0 && !go_on(self) {
                break;
            }
        }
        self.latest = events.latest();
        self.remarks += &events.remarks();
        Ok(())
    }

    /// Walks over the events of these runs behind the first so many. They are counted elsewhere.
    fn walk_from(&mut self, runs: &Range<usize>, first: u64) -> Result<(), Error> {
        let events = self.thread.stretch(runs.clone(), self.latest);
        let mut before = first;
        for event in events {
            let event = event?;
            match before.checked_sub(1) {
                Some(less) => before = less,
                None => _ = feed(&mut self.stack, &mut self.tally, event),
            }
        }
        Ok(())
    }

    /// Ends what is still open: there are no more events.
    ///
    /// # Errors
    /// The first that a chunk gave.
    pub fn finish(mut self) -> Result<Profile, Error> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let (open, latest_site) = (self.stack.open().to_vec(), self.stack.latest_site());
        self.stack.finish(|span, _| self.tally.leave(&span));
        self.remarks.dropped = self.remarks.dropped.max(self.thread.dropped());
        Ok(Profile {
            loose: self.stack.loose(),
            events: self.events,
            last: self.stack.latest(),
            remarks: self.remarks,
            may_have_fibers: self.stack.may_have_fibers(),
            elsewhere: self.stack.was_elsewhere(),
            open,
            latest_site,
            functions: self.tally.finish(),
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use heddle_trace_file::Trace;
    use heddle_trace_file::write::TraceWriter;

    /// Calls as a plain program makes them: `depth` deep, each level twice, divided everywhere.
    #[test]
    fn chunks_of_plain_calls_need_no_second_walk() {
        let directory = tempfile::tempdir().unwrap();
        let writer = TraceWriter::create(directory.path()).unwrap();
        let mut process = writer.process(1, 0, "/x").unwrap();
        let mut thread = process.thread(1, "x");
        let mut time = 0;
        let mut call = |thread: &mut heddle_trace_file::write::ThreadWriter, enter, depth: u64| {
            time += 1;
            let (function, sp) = (0x1000 + ((depth % 3) << 4), 10_000 - 32 * depth);
            match enter {
                true => thread.enter(time, function, 7, sp),
                // The hook may have been tail-called: its stack pointer is above the frame then.
                false => thread.exit(time, function, 7, sp + 8 * (depth % 2)),
            };
            if time % 5 == 0 {
                thread.next_run();
            }
        };
        (0..40).for_each(|depth| call(&mut thread, true, depth));
        for depth in (0..40).rev() {
            call(&mut thread, false, depth);
            call(&mut thread, true, depth);
            call(&mut thread, false, depth);
        }
        thread.finish().unwrap();
        process.finish().unwrap();
        let trace = Trace::open(directory.path()).unwrap();
        let process = &trace.processes()[0];
        let thread = &process.threads()[0];
        let source = Source::new(thread, process.modules());
        let mut joining = Joining::new(source);
        for run in 0..thread.runs().len() {
            let runs = run..run + 1;
            let chunk = Chunk::of(source, runs.clone());
            assert!(joining.add(runs, chunk));
        }
        assert!(joining.chunks > 30, "{} chunks", joining.chunks);
        assert_eq!(joining.misfits, 0);
        let joined = joining.finish().unwrap();
        assert_eq!(joined, Profile::of(thread, process.modules()).unwrap());
        assert_eq!(joined.events, 160);
    }
}

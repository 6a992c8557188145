//! A stretch of a thread's events, decoded without knowing what was open before it.
//!
//! ```text
//! events:   enter exit enter enter exit | exit | enter exit | exit | enter …
//! parts:    f called, g open            | raw  | h called   | raw  | …
//! ```
//!
//! What calls did that began and ended within it is summed up; an exit that ends none of its calls
//! ends a *part*, and is kept until it is known what was open before. Parts and those events, taken
//! in order ([`crate::joining`]), give what the events do one by one.

use crate::stack::{Above, Frame};
use crate::tally::{Sums, Tally};
use crate::{FunctionId, Key, Source, Stack, Step};
use heddle_trace_file::{Error, Event, EventKind, Remarks, Ticks};
use std::ops::Range;

/// What is known of the stretch.
#[derive(Debug)]
pub(crate) struct Chunk<'a> {
    /// Its functions, in the order of first calls.
    pub keys: Vec<Key>,
    pub parts: Vec<Part<'a>>,
    /// What its parts say of functions, one part's behind the other's.
    pub sums: Sums,
    /// The calls that its parts leave open, and their functions, likewise.
    pub open: Vec<Frame>,
    pub open_functions: Vec<FunctionId>,
    /// Time of its first event; `None` if it has none.
    pub first: Option<Ticks>,
    pub last: Ticks,
    /// Enters and exits.
    pub events: u64,
    pub remarks: Remarks,
    /// The times of its events depend on what was before.
    pub sparse: bool,
}

/// Events between two of which it is not known what they do.
#[derive(Debug)]
pub(crate) struct Part<'a> {
    pub above: Above,
    /// Where its sums and its open calls end.
    pub sums: usize,
    pub open: usize,
    /// Events of all kinds in it, with the one behind it.
    pub walked: u64,
    /// What comes behind it; `None`: the end of the stretch.
    pub event: Option<Event<'a>>,
}

impl<'a> Chunk<'a> {
    /// Decodes these runs of the source's thread. Memory: of the size of what it leaves open, and
    /// of the exits that end nothing of its own.
    ///
    /// # Errors
    /// What the thread's iterator gives.
    pub fn of(source: Source<'a>, runs: Range<usize>) -> Result<Chunk<'a>, Error> {
        let mut chunk = Chunk {
            keys: Vec::new(),
            parts: Vec::new(),
            sums: Sums::new(),
            open: Vec::new(),
            open_functions: Vec::new(),
            first: None,
            last: Ticks(0),
            events: 0,
            remarks: Remarks::default(),
            sparse: false,
        };
        let mut stack = Stack::of(source.thread);
        let mut tally = Tally::new(source.modules, source.variants);
        let mut events = source.thread.stretch(runs, Ticks(0));
        let mut walked = 0;
        while let Some(event) = events.next() {
            let event = event?;
            if chunk.first.is_none() {
                chunk.first = Some(events.latest());
            }
            walked += 1;
            if !stack.decides(&event) {
                chunk.events += u64::from(matches!(event.kind, EventKind::Exit { .. }));
                chunk.end_part(&mut stack, &mut tally, walked, Some(event));
                walked = 0;
                continue;
            }
            chunk.events += u64::from(feed(&mut stack, &mut tally, event));
        }
        chunk.end_part(&mut stack, &mut tally, walked, None);
        chunk.keys = tally.keys().to_vec();
        chunk.last = events.latest();
        chunk.remarks = events.remarks();
        chunk.sparse = events.is_sparse();
        Ok(chunk)
    }

    fn end_part(
        &mut self,
        stack: &mut Stack,
        tally: &mut Tally<'_>,
        walked: u64,
        event: Option<Event<'a>>,
    ) {
        tally.take(&mut self.sums, &mut self.open_functions);
        self.parts.push(Part {
            above: stack.take_above(&mut self.open),
            sums: self.sums.len(),
            open: self.open.len(),
            walked,
            event,
        });
    }
}

/// Takes an event; whether it is an enter or an exit.
#[inline]
pub(crate) fn feed(stack: &mut Stack, tally: &mut Tally<'_>, event: Event<'_>) -> bool {
    if let EventKind::Enter {
        function, frame, ..
    } = event.kind
    {
        // What the enter ends is inside what it is called from, not inside it.
        stack.feed(event, |span, _| tally.leave(&span));
        tally.enter(function, event.time, frame.is_some());
        return true;
    }
    stack.feed(event, |span, _| tally.leave(&span)) != Step::Other
}

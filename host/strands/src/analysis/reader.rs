//! What puts the events of one process on strands, whichever way the analysis takes.

use super::decoded::Part;
use crate::decoder::{Decoder, NotAlone};
use crate::inherited::Inherited;
use crate::one_stack::OneStack;
use crate::sink::Sink;
use heddle_trace_file::{Event, Process, Remarks};

/// The decoder of a process.
pub(super) enum Reader<'a, S> {
    Strands(Box<Decoder<'a, S>>),
    Threads(Box<OneStack<'a, S>>),
}

impl<S: Sink> Reader<'_, S> {
    /// The process begins inside these calls.
    pub fn begin_within(&mut self, before: &Inherited) {
        let Some(thread) = before.thread else {
            return;
        };
        match self {
            Reader::Strands(decoder) => {
                let _: Result<(), NotAlone> = decoder.begin_within(thread, before);
            }
            Reader::Threads(stacks) => stacks.begin_within(thread, before.of(thread)),
        }
    }

    /// Takes the next event of the thread with this index; gives the sink, which was told of it.
    pub fn feed(&mut self, thread: usize, event: &Event<'_>) -> &mut S {
        match self {
            Reader::Strands(decoder) => {
                let _: Result<(), NotAlone> = decoder.feed(thread, event);
                decoder.sink()
            }
            Reader::Threads(stacks) => {
                stacks.feed(thread, event);
                &mut stacks.sink
            }
        }
    }

    /// Ends all that is open in `process`: there are no more events.
    pub fn finish(self, process: &Process) -> Part<S> {
        match self {
            Reader::Strands(decoder) => Part::found(decoder.finish(), Remarks::default()),
            Reader::Threads(stacks) => {
                let events = (stacks.events, stacks.calls);
                let (sink, loose) = stacks.finish(process);
                Part::by_thread(sink, events, loose, Remarks::default())
            }
        }
    }
}

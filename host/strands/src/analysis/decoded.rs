//! The result of decoding a trace, made of those for parts of its processes.

use crate::decoder::Found;
use crate::sink::Summing;
use crate::{Strand, StrandId, Unresolved};
use heddle_calls::{Loose, Profile};
use heddle_trace_file::{Remarks, Thread};

/// The result of decoding a trace.
#[derive(Debug)]
pub struct Decoded<S> {
    /// The sinks in order of processes, each with the index of its process. Those of a process's
    /// threads that stayed alone come first, then the one of the group of the others.
    pub sinks: Vec<(usize, S)>,
    /// The counts of what could not be told, by process.
    pub unresolved: Vec<Unresolved>,
    /// The counts of enters and exits that did not pair up.
    pub loose: Loose,
    /// The remarks of reading the events.
    pub remarks: Remarks,
}

/// The result for some threads of a process.
pub(super) struct Part<S> {
    sink: S,
    unresolved: Unresolved,
    loose: Loose,
    remarks: Remarks,
}

impl<S> Decoded<S> {
    /// All parts in one, each with the index of its process. `remarks`: what else is to be said of
    /// the events.
    pub(super) fn new(
        processes: usize,
        parts: impl IntoIterator<Item = (usize, Part<S>)>,
        remarks: Remarks,
    ) -> Self {
        let mut decoded = Decoded {
            sinks: Vec::new(),
            unresolved: vec![Unresolved::default(); processes],
            loose: Loose::default(),
            remarks,
        };
        for (process, part) in parts {
            decoded.unresolved[process] += part.unresolved;
            decoded.loose += part.loose;
            decoded.remarks += &part.remarks;
            decoded.sinks.push((process, part.sink));
        }
        decoded
    }
}

impl<S> Decoded<S> {
    /// The same with what `change` makes of each sink; without those of which it makes nothing.
    pub fn with<T>(self, mut change: impl FnMut(S) -> Option<T>) -> Decoded<T> {
        let sinks = self.sinks.into_iter();
        let sinks = sinks.filter_map(|(process, sink)| Some((process, change(sink)?)));
        Decoded {
            sinks: sinks.collect(),
            unresolved: self.unresolved,
            loose: self.loose,
            remarks: self.remarks,
        }
    }
}

impl<S> Part<S> {
    /// The result for a decoder's threads.
    pub fn found(found: Found<S>, remarks: Remarks) -> Self {
        Part {
            unresolved: found.unresolved,
            loose: found.loose,
            remarks,
            sink: found.sink,
        }
    }

    /// The result for threads that were each taken for one stack, and had so many events, so many
    /// of them enters.
    pub fn by_thread(sink: S, (events, calls): (u64, u64), loose: Loose, remarks: Remarks) -> Self {
        Part {
            sink,
            unresolved: Unresolved {
                events,
                calls,
                exits: loose.unmatched,
                ..Unresolved::default()
            },
            loose,
            remarks,
        }
    }
}

impl<S: Summing> Part<S> {
    /// The result for a thread that was read by itself: the one with this index in its process.
    pub fn summed(
        id: StrandId,
        index: usize,
        thread: &Thread,
        profile: Profile,
        mut sink: S,
    ) -> Self {
        let born = Strand::of_thread(id, index, thread, 0);
        sink.born(&born);
        sink.called(&born, &profile.functions);
        let strand = alone(born, thread, &profile);
        sink.ended(&strand);
        let unresolved = Unresolved {
            events: profile.events,
            calls: strand.calls,
            exits: profile.loose.unmatched,
            ..Unresolved::default()
        };
        Part {
            sink,
            unresolved,
            loose: profile.loose,
            remarks: profile.remarks,
        }
    }
}

/// What became of a thread that ran nothing but its own stack.
pub(super) fn alone(mut strand: Strand, thread: &Thread, profile: &Profile) -> Strand {
    if let Some((first, _)) = profile.functions.first() {
        strand.begins_with(first.address);
    }
    let calls = profile.functions.iter().map(|(_, stats)| stats.calls);
    strand.calls = calls.sum();
    strand.ran_alone(profile.last, thread.ended());
    strand
}

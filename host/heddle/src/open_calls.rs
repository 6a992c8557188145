//! The calls of strands that are open.

use crate::aside::Aside;
use heddle_strands::{Call, Strand, StrandId, StrandSpan};
use heddle_trace_file::{Addr, Nanos};
use rustc_hash::FxHashMap;

/// The functions of the calls that are open, and when they were entered, outermost first.
type Open = Vec<(Addr, Nanos)>;

/// The open calls of each strand.
#[derive(Default)]
pub struct OpenCalls {
    /// Those of the activation that was looked at last, with its thread.
    latest: FxHashMap<StrandId, (u32, Open)>,
    aside: Aside<Open, StrandId>,
}

impl OpenCalls {
    /// A call began.
    pub fn enter(&mut self, call: &Call) {
        let (on, open) = self.latest.entry(call.strand).or_default();
        let now = (on, &mut *open);
        self.aside
            .turn_to(call.strand, now, call.thread, call.depth == 0);
        open.push((call.function, call.enter));
    }

    /// A call ended. The trace's end ends none.
    pub fn leave(&mut self, span: &StrandSpan) {
        let Some((on, open)) = self.latest.get_mut(&span.strand) else {
            return;
        };
        let now = (on, &mut *open);
        self.aside.turn_to(span.strand, now, span.thread, false);
        let call = (span.span.function, span.span.enter);
        match open.iter().rposition(|&open| open == call) {
            Some(index) => _ = open.remove(index),
            None => _ = open.pop(),
        }
    }

    /// Those of the strand's activation on this thread; of a strand that is no coroutine, those
    /// that it has, wherever it runs.
    pub fn on(&self, strand: StrandId, thread: usize) -> &[(Addr, Nanos)] {
        if let Some(aside) = self.aside.get(strand, thread) {
            return aside;
        }
        let latest = self.latest.get(&strand);
        latest.map_or(&[][..], |(_, open)| open)
    }

    /// Those of all activations of the strand.
    pub fn of(&self, strand: StrandId) -> impl Iterator<Item = (Addr, Nanos)> {
        let latest = self.latest.get(&strand).map(|(_, open)| open);
        let all = latest.into_iter().chain(self.aside.of(strand));
        all.flatten().copied()
    }

    /// Nothing more will be heard of the strand.
    pub fn ended(&mut self, strand: &Strand) {
        self.latest.remove(&strand.id);
        self.aside.forget(strand.id);
    }
}

//! The one sink of these tests.

use heddle_calls::{Key, Span, Stats};
use heddle_strands::{Call, Kind, Sink, Strand, StrandId, StrandSpan, Summing};
use heddle_trace_file::{Addr, Callee, Event, Nanos};

/// What a sink is told.
#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    Strand(&'static str, StrandId, Kind, Option<StrandId>, u64, u64),
    Runs(StrandId, Option<StrandId>, usize, Nanos),
    Rests(StrandId, usize, Nanos),
    Enter(StrandId, u32, usize, Addr, bool, usize, Nanos),
    Leave(StrandId, u32, usize, Span),
    Unmatched(StrandId, usize, Callee, Nanos),
    Other(StrandId, usize, Nanos),
    Called(Key, u64),
    /// A coroutine has ended, and who ran it first, as far as is known.
    RunBy(StrandId, Option<StrandId>),
    /// It has ended, and is not sure.
    Unsure(StrandId),
}

/// Keeps all that it is told.
#[derive(Default)]
pub struct Log(pub Vec<Told>);

impl Log {
    fn strand(&mut self, what: &'static str, strand: &Strand) {
        let told = Told::Strand(
            what,
            strand.id,
            strand.kind,
            strand.parent,
            strand.calls,
            strand.running.0,
        );
        self.0.push(told);
    }
}

impl Sink for Log {
    fn born(&mut self, strand: &Strand) {
        self.strand("born", strand);
    }
    fn named(&mut self, strand: &Strand) {
        self.strand("named", strand);
    }
    fn ended(&mut self, strand: &Strand) {
        self.strand("ended", strand);
        if strand.kind == Kind::Coroutine {
            self.0.push(Told::RunBy(strand.id, strand.first_resumer()));
        }
        if !strand.is_sure() {
            self.0.push(Told::Unsure(strand.id));
        }
    }
    fn resumed(&mut self, strand: StrandId, by: Option<StrandId>, thread: usize, time: Nanos) {
        self.0.push(Told::Runs(strand, by, thread, time));
    }
    fn suspended(&mut self, strand: StrandId, thread: usize, time: Nanos) {
        self.0.push(Told::Rests(strand, thread, time));
    }
    fn enter(&mut self, call: &Call) {
        let (function, inlined, depth) = (call.function, call.inlined, call.depth);
        let (strand, slot, thread) = (call.strand, call.slot, call.thread);
        let told = Told::Enter(strand, slot, thread, function, inlined, depth, call.enter);
        self.0.push(told);
    }
    fn leave(&mut self, call: &StrandSpan) {
        self.0
            .push(Told::Leave(call.strand, call.slot, call.thread, call.span));
    }
    fn unmatched(&mut self, strand: StrandId, thread: usize, function: Callee, time: Nanos) {
        self.0.push(Told::Unmatched(strand, thread, function, time));
    }
    fn other(&mut self, strand: StrandId, thread: usize, event: &Event<'_>) {
        self.0.push(Told::Other(strand, thread, event.time));
    }
}

impl Summing for Log {
    fn called(&mut self, _: &Strand, functions: &[(Key, Stats)]) {
        let told = functions
            .iter()
            .map(|(key, stats)| Told::Called(*key, stats.calls));
        self.0.extend(told);
    }
}

//! A trace's calls by function, each without its callees.

use super::spread::Spread;
use crate::filter::{Filter, FilterArgs, Filterable, LeftOut, decode};
use crate::incomplete;
use crate::names::Names;
use crate::notes;
use heddle_calls::{End, Functions, Key, Loose, Wanted};
use heddle_strands::{Sink, StrandSpan};
use heddle_trace_file::{Modules, Nanos, Process, Trace};
use std::collections::BTreeMap;

/// The calls of one function.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    pub calls: u64,
    /// The time that it took without its callees.
    pub own: Nanos,
    /// Of the calls that returned.
    pub spread: Spread,
}

/// Reads the trace, functions by name, and says what is missing of it.
///
/// # Errors
/// What reading the trace gives, and options that do not fit it.
pub fn read(trace: &Trace, filter: &FilterArgs) -> anyhow::Result<BTreeMap<String, Calls>> {
    let mut names = Names::new(trace);
    let filter = Filter::new(filter, trace, &mut names)?;
    let sink = |process: usize| ByFunction::new(trace.processes()[process].modules());
    let wanted = Wanted::OneStack;
    let (decoded, left_out) = decode(trace, names.images(), wanted, filter, sink)?;
    // Of which of the two traces the notes are.
    let lost = trace.lost().0 > 0 || trace.processes().iter().any(|of| Process::dropped(of) > 0);
    let remarks = &decoded.remarks;
    let incomplete = remarks.dropped > 0 || remarks.pauses > 0 || remarks.damages.places > 0;
    if lost || incomplete || decoded.loose != Loose::default() || left_out.is_some() {
        notes::note(format_args!("of {}:", trace.path().display()));
    }
    incomplete::tell(trace, decoded.loose, remarks);
    left_out.iter().for_each(LeftOut::tell);
    let mut all: BTreeMap<String, Calls> = BTreeMap::new();
    for (process, sink) in decoded.sinks {
        let modules = trace.processes()[process].modules();
        for (key, calls) in sink.functions.keys().iter().zip(&sink.calls) {
            let time = modules.time_of(key.address, key.generation);
            let location = names.function(process, key.address, time);
            let sum = all.entry(location.name.clone()).or_default();
            sum.calls += calls.calls;
            sum.own.0 = sum.own.0.saturating_add(calls.own.0);
            sum.spread.merge(&calls.spread);
        }
    }
    Ok(all)
}

struct ByFunction<'a> {
    modules: &'a Modules,
    functions: Functions<'static>,
    /// By number of the function.
    calls: Vec<Calls>,
}

impl<'a> ByFunction<'a> {
    fn new(modules: &'a Modules) -> Self {
        ByFunction {
            modules,
            functions: Functions::default(),
            calls: Vec::new(),
        }
    }
}

impl Sink for ByFunction<'_> {
    fn leave(&mut self, span: &StrandSpan) {
        let key = Key {
            address: span.span.function,
            generation: self.modules.generation(span.span.enter),
        };
        let id = self.functions.id(key).0 as usize;
        if id >= self.calls.len() {
            self.calls.resize_with(id + 1, Calls::default);
        }
        let calls = &mut self.calls[id];
        let own = span.span.own();
        calls.calls += 1;
        calls.own.0 = calls.own.0.saturating_add(own.0);
        if span.span.end == End::Returned {
            calls.spread.add(own.0);
        }
    }
}

impl Filterable for ByFunction<'_> {}

//! Calls by what they were given and gave back (`heddle record --args`, `--retval`).

use super::row::{Row, Shown};
use super::rows::Rows;
use crate::aside::{Activation, Aside};
use crate::filter::{Filter, FilterArgs, Filterable, Pattern, unwrap};
use crate::names::Names;
use crate::notes;
use crate::usage::Usage;
use crate::values::{Recorded, Waiting, argument_list, result_text};
use heddle_calls::{End, Functions, Key, Stats, Variants};
use heddle_strands::{Analysis, Call, Decoded, Sink, Strand, StrandSpan};
use heddle_symbols::short_name;
use heddle_trace_file::{Addr, Event, EventKind, Modules, Trace};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// Reads the trace call by call. A row is the calls of a function with the same arguments and
/// result; functions of which no values were recorded have none. `of`: only functions of these
/// names, if there are any.
///
/// # Errors
/// What reading the trace gives, options that do not fit it, and a trace without values.
pub fn read(trace: &Trace, filter: &FilterArgs, of: &[Pattern]) -> anyhow::Result<Rows> {
    if trace.shapes().is_empty() {
        let shapeless = trace.in_order(|_, _| true)?.shapeless;
        anyhow::ensure!(
            shapeless == 0,
            "{}: arguments or results of {} were recorded, but not known is what they are: the file shapes is gone",
            trace.path().display(),
            notes::counted(shapeless, "call")
        );
        anyhow::bail!(
            "no arguments or results were recorded; record them with: heddle record --args PATTERN --retval PATTERN"
        );
    }
    let mut names = Names::new(trace);
    let filter = Filter::new(filter, trace, &mut names)?;
    let analysis = Analysis::new(trace, names.images());
    let variants = names.variants();
    let sink = |process: usize| {
        let modules = trace.processes()[process].modules();
        ByValues::new(modules, &variants[process])
    };
    let (decoded, left_out) = match filter {
        None => (analysis.decode(sink)?, None),
        Some(mut filter) => {
            if filter.must_learn() {
                let learned = analysis.decode(|process| filter.learning(process))?;
                filter.learn(learned.sinks.into_iter().collect());
            }
            let over = |process| filter.over(process, sink(process));
            let (decoded, left_out) = unwrap(analysis.decode(over)?);
            (decoded, Some(left_out))
        }
    };
    let Decoded {
        sinks,
        loose,
        remarks,
        unresolved,
        ..
    } = decoded;
    let mut merged: BTreeMap<(String, String, Shown), Stats> = BTreeMap::new();
    for (process, sink) in &sinks {
        sink.merge(trace, *process, &mut names, of, &mut merged);
    }
    if merged.is_empty() && !of.is_empty() {
        return Err(Usage::new(
            "--of matched no function of which values were recorded; without it, `heddle report --by args` prints those that there are",
        )
        .into());
    }
    let rows = merged.into_iter();
    let rows = rows.map(|((module, function, values), stats)| Row {
        short: short_name(&function),
        function,
        module,
        group: None,
        values: Some(values),
        from: None,
        stats,
        place: None,
    });
    Ok(Rows {
        rows: rows.collect(),
        loose,
        remarks,
        unresolved,
        fibers: 0,
        left_out,
        standing: Vec::new(),
    })
}

/// The calls of a part of a process, added up.
struct ByValues<'a> {
    modules: &'a Modules,
    waiting: Waiting,
    functions: Functions<'a>,
    /// Numbers of functions with what they were given.
    given: FxHashMap<(u32, Option<Recorded>), u32>,
    /// By slot.
    lives: Vec<Life>,
    aside: Aside<OpenCalls>,
    sums: FxHashMap<(u32, Option<Recorded>), Stats>,
}

/// A strand that lives.
#[derive(Default)]
struct Life {
    /// The thread of the activation that `calls` is of, of a coroutine.
    thread: u32,
    calls: OpenCalls,
}

/// The open calls of an activation, by the numbers in [`ByValues::given`]; and how many of each.
#[derive(Default)]
struct OpenCalls {
    open: Vec<u32>,
    counts: FxHashMap<u32, u32>,
}

impl Activation for OpenCalls {
    fn runs(&self) -> bool {
        !self.open.is_empty()
    }
}

impl<'a> ByValues<'a> {
    fn new(modules: &'a Modules, variants: &'a Variants) -> Self {
        ByValues {
            modules,
            waiting: Waiting::default(),
            functions: Functions::merging(modules, variants),
            given: FxHashMap::default(),
            lives: Vec::new(),
            aside: Aside::default(),
            sums: FxHashMap::default(),
        }
    }

    /// The open calls of the strand in this slot, of its activation on `thread`, which `begins` or
    /// is open.
    fn calls(&mut self, slot: u32, thread: usize, begins: bool) -> &mut OpenCalls {
        let index = slot as usize;
        if index >= self.lives.len() {
            self.lives.resize_with(index + 1, Life::default);
        }
        let Life { thread: on, calls } = &mut self.lives[index];
        self.aside.turn_to(slot, (on, &mut *calls), thread, begins);
        calls
    }

    fn ends(&mut self, slot: u32) {
        if let Some(life) = self.lives.get_mut(slot as usize) {
            *life = Life::default();
        }
        self.aside.forget(slot);
    }

    /// Adds its calls to those of other parts.
    fn merge(
        &self,
        trace: &Trace,
        process: usize,
        names: &mut Names<'_>,
        of: &[Pattern],
        merged: &mut BTreeMap<(String, String, Shown), Stats>,
    ) {
        let mut keys: Vec<(u32, Option<&Recorded>)> = vec![(0, None); self.given.len()];
        for ((function, values), &number) in &self.given {
            keys[number as usize] = (*function, values.as_ref());
        }
        let mut with: FxHashSet<u32> = FxHashSet::default();
        for (given, result) in self.sums.keys() {
            let (function, arguments) = keys[*given as usize];
            if arguments.is_some() || result.is_some() {
                with.insert(function);
            }
        }
        for ((given, result), stats) in &self.sums {
            let (function, arguments) = keys[*given as usize];
            if !with.contains(&function) {
                continue;
            }
            let key = self.functions.keys()[function as usize];
            let time = self.modules.time_of(key.address, key.generation);
            let location = names.function(process, key.address, time);
            if !of.is_empty() && !of.iter().any(|pattern| pattern.matches(&location.name)) {
                continue;
            }
            let mut named = |address| names.function_at(process, Addr(address), time);
            let shapes = trace.shapes();
            let values = Shown {
                arguments: arguments.map(|given| argument_list(given, shapes, &mut named)),
                result: result
                    .as_ref()
                    .and_then(|result| result_text(result, shapes, &mut named)),
            };
            let row = (location.module.clone(), location.name.clone(), values);
            merged.entry(row).or_default().merge(stats);
        }
    }
}

impl Sink for ByValues<'_> {
    fn enter(&mut self, call: &Call) {
        let given = self.waiting.of_enter(call);
        let key = Key {
            address: call.function,
            generation: self.modules.generation(call.enter),
        };
        let function = self.functions.id(key).0;
        let next = self.given.len() as u32;
        let given = *self.given.entry((function, given)).or_insert(next);
        let calls = self.calls(call.slot, call.thread, call.depth == 0);
        calls.open.push(given);
        *calls.counts.entry(given).or_default() += 1;
    }

    fn leave(&mut self, span: &StrandSpan) {
        let result = self.waiting.of_leave(span);
        let calls = self.calls(span.slot, span.thread, false);
        let Some(given) = calls.open.pop() else {
            return;
        };
        let count = calls.counts.entry(given).or_default();
        *count = count.saturating_sub(1);
        let outermost = *count == 0;
        if outermost {
            calls.counts.remove(&given);
        }
        let stats = self.sums.entry((given, result)).or_default();
        stats.add(&span.span, outermost);
    }

    fn unmatched(
        &mut self,
        _: heddle_strands::StrandId,
        thread: usize,
        _: heddle_trace_file::Callee,
        _: heddle_trace_file::Nanos,
    ) {
        self.waiting.clear(thread);
    }

    fn other(&mut self, _: heddle_strands::StrandId, thread: usize, event: &Event<'_>) {
        if let EventKind::Values(values) = event.kind {
            self.waiting.take(thread, values);
        }
    }

    fn ended(&mut self, strand: &Strand) {
        self.ends(strand.slot);
    }
}

impl Filterable for ByValues<'_> {
    fn left_late(&mut self, span: &StrandSpan) {
        let mut span = *span;
        span.span.end = End::Unwound;
        self.leave(&span);
    }
}

//! From what the decoder tells to rows.

use super::record::{self, KINDS, Pause, Record};
use crate::filter::Filterable;
use crate::names::printable;
use crate::notes;
use crate::strand_list::Makers;
use crate::values::{Waiting, named_values};
use crate::verbs::export::selection::Selection;
use crate::verbs::export::spill::{Spill, Stream};
use crate::verbs::export::tracks::Ended;
use crate::waits::Labels;
use heddle_calls::{Functions, Key};
use heddle_strands::{Call, Kind, Sink, Strand, StrandId, StrandSpan};
use heddle_trace_file::{Addr, Callee, Event, EventKind, Modules, Nanos, Process, Shapes};
use rustc_hash::FxHashMap;

/// What all parts have in common.
pub struct Whole<'a> {
    pub spill: &'a Spill,
    pub selection: Selection,
    pub labels: Labels,
    pub shapes: &'a Shapes,
}

/// The rows of a part of a process.
pub struct Rows<'a> {
    whole: &'a Whole<'a>,
    modules: &'a Modules,
    index: usize,
    pub records: Stream<'a>,
    pub ended: Stream<'a>,
    met: Option<Box<Met>>,
    /// The functions and call sites, when there is nothing more to come.
    pub functions: Vec<Key>,
    pub sites: Vec<Key>,
    pub calls: u64,
    pub strands: u64,
    pub makers: Makers,
    lives: FxHashMap<StrandId, Life>,
    waiting: Waiting,
    /// By strand: what calls that are open were given.
    given: FxHashMap<StrandId, Vec<Given>>,
}

/// Functions and call sites; some hundred kilobytes, so only while strands live.
#[derive(Default)]
struct Met {
    functions: Functions,
    sites: Functions,
}

/// A strand that lives.
#[derive(Default)]
struct Life {
    /// Since when it does not run, and whether its thread waits.
    pause: Option<(Nanos, bool)>,
    /// What it is about to wait for, or waits for.
    reason: Option<Box<str>>,
    thread: usize,
}

/// What a call was given.
struct Given {
    function: Addr,
    enter: Nanos,
    values: Vec<(String, String)>,
}

impl<'a> Rows<'a> {
    /// For a part of the process with this index.
    pub fn new(whole: &'a Whole<'a>, process: &'a Process, index: usize) -> Self {
        Rows {
            whole,
            modules: process.modules(),
            index,
            records: whole.spill.stream(),
            ended: whole.spill.stream(),
            met: None,
            functions: Vec::new(),
            sites: Vec::new(),
            calls: 0,
            strands: 0,
            makers: Makers::default(),
            lives: FxHashMap::default(),
            waiting: Waiting::default(),
            given: FxHashMap::default(),
        }
    }

    fn write(&mut self, record: &Record<'_>) {
        self.records.append(|bytes| record.write(bytes));
    }

    /// The strand does not run from now on, or its thread waits.
    fn pause(&mut self, id: StrandId, thread: usize, from: Nanos, blocked: bool) {
        if let Some(life) = self.lives.get_mut(&id) {
            life.pause = Some((from, blocked));
            life.thread = thread;
        }
    }

    /// The strand goes on; `to` is `None` if it does not before the trace ends.
    fn goes_on(&mut self, id: StrandId, thread: usize, to: Option<Nanos>, by: Option<StrandId>) {
        let Some(life) = self.lives.get_mut(&id) else {
            return;
        };
        let Some((from, blocked)) = life.pause.take() else {
            return;
        };
        let reason = life.reason.take();
        if to.is_some_and(|to| to <= from) || !self.whole.selection.has(id) {
            return;
        }
        self.write(&Record::Pause(Pause {
            strand: id.number(),
            thread: thread as u32,
            from,
            to,
            blocked,
            reason: reason.as_deref().unwrap_or_default(),
            by: by.map(StrandId::number),
        }));
    }

    fn event(&mut self, id: StrandId, thread: usize, time: Nanos, kind: usize, text: &str) {
        if self.whole.selection.has(id) {
            self.write(&Record::Event(record::Event {
                strand: id.number(),
                thread: thread as u32,
                time,
                kind: KINDS[kind],
                text,
            }));
        }
    }

    fn end(&mut self, strand: &Strand, died: Option<Nanos>) {
        let thread = self.lives.get(&strand.id).map_or(0, |life| life.thread);
        self.goes_on(strand.id, thread, died, None);
        self.given.remove(&strand.id);
        if self.lives.remove(&strand.id).is_some() && self.whole.selection.has(strand.id) {
            self.strands += 1;
            self.ended.append(|bytes| Ended::new(strand).write(bytes));
        }
        if self.lives.is_empty() {
            if let Some(met) = self.met.take() {
                self.functions = met.functions.keys().to_vec();
                self.sites = met.sites.keys().to_vec();
            }
            self.records.rest();
            self.ended.rest();
        }
    }
}

impl Sink for Rows<'_> {
    fn born(&mut self, strand: &Strand) {
        let life = Life {
            // Until it runs, it is suspended.
            pause: (strand.kind != Kind::Thread).then_some((strand.born, false)),
            thread: strand.thread(),
            ..Life::default()
        };
        self.lives.insert(strand.id, life);
    }

    fn resumed(&mut self, id: StrandId, by: Option<StrandId>, thread: usize, time: Nanos) {
        self.goes_on(id, thread, Some(time), by.filter(|&by| by != id));
    }

    fn suspended(&mut self, id: StrandId, thread: usize, time: Nanos) {
        self.pause(id, thread, time, false);
    }

    fn enter(&mut self, call: &Call) {
        let Some(given) = self.waiting.of_enter(call) else {
            return;
        };
        self.given.entry(call.strand).or_default().push(Given {
            function: call.function,
            enter: call.enter,
            values: named_values(&given, self.whole.shapes),
        });
    }

    #[inline]
    fn leave(&mut self, span: &StrandSpan) {
        let result = self.waiting.of_leave(span);
        if !self.whole.selection.has(span.strand) {
            return;
        }
        let call = &span.span;
        let is_of =
            |given: &mut Given| (given.function, given.enter) == (call.function, call.enter);
        let given = match self.given.is_empty() {
            true => None,
            false => self.given.get_mut(&span.strand),
        };
        let given = given.and_then(|open| match open.last_mut().is_some_and(is_of) {
            true => open.pop(),
            false => None,
        });
        let mut values = given.map_or_else(Vec::new, |given| given.values);
        if let Some(result) = result {
            values.append(&mut named_values(&result, self.whole.shapes));
        }
        let generation = self.modules.generation(call.enter);
        let met = self.met.get_or_insert_default();
        let id = |functions: &mut Functions, address| {
            functions
                .id(Key {
                    address,
                    generation,
                })
                .0
        };
        let record = record::Call {
            strand: span.strand.number(),
            thread: span.thread as u32,
            function: id(&mut met.functions, call.function),
            site: id(&mut met.sites, call.caller),
            inlined: call.inlined,
            enter: call.enter,
            exit: call.exit,
            own: call.own(),
            depth: call.depth as u32,
            end: call.end,
            values,
        };
        self.calls += 1;
        self.write(&Record::Call(record));
    }

    fn unmatched(&mut self, id: StrandId, thread: usize, _: Callee, time: Nanos) {
        self.waiting.clear(thread);
        self.event(id, thread, time, 2, "");
    }

    fn other(&mut self, id: StrandId, thread: usize, event: &Event<'_>) {
        if let EventKind::Values(values) = event.kind {
            return self.waiting.take(thread, values);
        }
        self.makers.note(id, thread, event);
        match event.kind {
            EventKind::Mark { text, .. } => {
                let text = printable(&String::from_utf8_lossy(text));
                self.event(id, thread, event.time, 0, &text);
            }
            EventKind::Gap { why, missing } => {
                self.event(id, thread, event.time, 1, &notes::gap(why, missing));
            }
            EventKind::StrandWaits { reason, .. } => {
                if let Some(life) = self.lives.get_mut(&id) {
                    life.reason = Some(printable(&String::from_utf8_lossy(reason)).into());
                }
            }
            EventKind::Wait(wait) => {
                let label = self.whole.labels.of_wait(self.index, wait);
                self.pause(id, thread, event.time, true);
                if let Some(life) = self.lives.get_mut(&id) {
                    life.reason = Some(label.as_ref().into());
                }
            }
            EventKind::WaitEnded { .. } => {
                let life = self.lives.get(&id);
                if life.is_some_and(|life| matches!(life.pause, Some((_, true)))) {
                    self.goes_on(id, thread, Some(event.time), None);
                }
            }
            _ => {}
        }
    }

    fn ended(&mut self, strand: &Strand) {
        self.end(strand, strand.died());
    }
}

impl Filterable for Rows<'_> {
    fn goes_on(&mut self, strand: &Strand) {
        self.end(strand, None);
    }
}

//! Labels of the objects that strands wait for.

use super::key::Key;
use super::names::{Describe, Met, own_function};
use crate::names::Names;
use crate::open_calls::OpenCalls;
use heddle_strands::{Analysis, Call, Sink, Strand, StrandId, StrandSpan};
use heddle_trace_file::{Addr, Error, Event, EventKind, Trace, Wait};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// `mutex ledger`, by key, of the objects that the trace has counted.
pub struct Labels(HashMap<Key, Arc<str>>);

impl Labels {
    /// Looks all names up. Where only the call tells in which an object was first used, or whether
    /// it was initialised before a fork, the trace is read until all of these calls were seen.
    ///
    /// # Errors
    /// What reading the trace gives.
    pub fn of_all(trace: &Trace, names: &mut Names<'_>) -> Result<Self, Error> {
        let mut describe = Describe::new(trace);
        let mut labels = HashMap::new();
        let mut unnamed = Vec::new();
        let mut wanted = HashSet::new();
        let made = made_in_forkers(trace);
        for (process, recorded) in trace.processes().iter().enumerate() {
            let objects = recorded.objects();
            for object in objects.into_iter().flat_map(|objects| &objects.all) {
                let key = Key::Number(process, object.number);
                let fallback = (object.made, object.site);
                let forked = !object.made && trace.is_forked(process);
                let before = made.get(&object.address).filter(|_| forked);
                wanted.extend(before.into_iter().flatten());
                match describe.told(names, key, object.kind, object.address, fallback) {
                    Some(name) if before.is_none() => {
                        let label = format!("{} {name}", object.kind.name());
                        labels.insert(key, label.into());
                    }
                    _ => unnamed.push((key, object)),
                }
            }
        }
        if !unnamed.is_empty() {
            wanted.extend(unnamed.iter().map(|(key, _)| *key));
            describe.extend(met(trace, names, wanted)?);
        }
        for (key, object) in unnamed {
            let fallback = (object.made, object.site);
            let name = describe.object(names, key, object.kind, object.address, fallback);
            let label = format!("{} {name}", object.kind.name());
            labels.insert(key, label.into());
        }
        Ok(Labels(labels))
    }

    /// The label of the object that is waited for.
    pub fn of_wait(&self, process: usize, wait: Wait<'_>) -> Arc<str> {
        let known = wait.number().and_then(|number| self.of(process, number));
        let unknown = || format!("{} {}", wait.kind.name(), wait.address()).into();
        known.unwrap_or_else(unknown)
    }

    /// The label of the object with this number.
    pub fn of(&self, process: usize, number: u32) -> Option<Arc<str>> {
        self.0.get(&Key::Number(process, number)).cloned()
    }
}

/// The objects that were initialised, by address, if there are processes that were forked.
fn made_in_forkers(trace: &Trace) -> HashMap<Addr, Vec<Key>> {
    let mut made: HashMap<Addr, Vec<Key>> = HashMap::new();
    let all = 0..trace.processes().len();
    if !all.clone().any(|process| trace.is_forked(process)) {
        return made;
    }
    for process in all {
        let objects = trace.processes()[process].objects().into_iter();
        for object in objects
            .flat_map(|objects| &objects.all)
            .filter(|it| it.made)
        {
            let keys = made.entry(object.address).or_default();
            keys.push(Key::Number(process, object.number));
        }
    }
    made
}

/// How these objects were met.
fn met(
    trace: &Trace,
    names: &mut Names<'_>,
    wanted: HashSet<Key>,
) -> Result<HashMap<Key, Met>, Error> {
    let analysis = Analysis::new(trace, names.images());
    let wanted = RefCell::new(wanted);
    let names = RefCell::new(names);
    let make = |process| Meetings {
        process,
        wanted: &wanted,
        names: &names,
        open: OpenCalls::default(),
        met: HashMap::new(),
    };
    let decoded = analysis.stream(make, |_, _, _| !wanted.borrow().is_empty())?;
    let mut all = HashMap::new();
    for (_, meetings) in decoded.sinks {
        all.extend(meetings.met);
    }
    Ok(all)
}

/// Takes the events of one process until all wanted objects were met.
struct Meetings<'s, 'n, 'a> {
    process: usize,
    wanted: &'s RefCell<HashSet<Key>>,
    names: &'s RefCell<&'n mut Names<'a>>,
    open: OpenCalls,
    met: HashMap<Key, Met>,
}

impl Sink for Meetings<'_, '_, '_> {
    fn enter(&mut self, call: &Call) {
        self.open.enter(call);
    }

    fn leave(&mut self, span: &StrandSpan) {
        self.open.leave(span);
    }

    fn other(&mut self, strand: StrandId, thread: usize, event: &Event<'_>) {
        let EventKind::ObjectMet {
            address,
            number,
            kind,
            made,
            site,
        } = event.kind
        else {
            return;
        };
        let key = Key::Number(self.process, number);
        if !self.wanted.borrow_mut().remove(&key) {
            return;
        }
        let calls = self.open.on(strand, thread).iter().rev().copied();
        let names = &mut *self.names.borrow_mut();
        let met = Met {
            address,
            kind,
            made,
            function: own_function(names, self.process, calls, Some((site, event.time))),
            time: event.time,
        };
        self.met.insert(key, met);
    }

    fn ended(&mut self, strand: &Strand) {
        self.open.ended(strand);
    }
}

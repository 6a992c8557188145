//! The calls in which a process was forked: its thread begins inside them.
//!
//! A forked process names the thread that made it, and that thread's record of it
//! ([`Trace::forked_by`]). The calls that are open there are open in the child, at the same places.
//! They are those of the stack that the thread runs and of its own stack: what else rests in the
//! parent, other fibers and coroutines, rests in the child unseen.

use super::events::each_event;
use crate::code::Code;
use crate::decoder::{Decoder, NotAlone};
use crate::inherited::Inherited;
use crate::one_stack::OneStack;
use crate::sink::Ignore;
use crate::survey::Survey;
use heddle_trace_file::{Error, Event, EventKind, Made, Process, Trace};
use std::collections::BTreeMap;

/// A process that a thread has forked: the number of the making, and the process's index.
type Child = (u32, usize);

/// The enters of the calls that are open on a thread, and whether the strand that it runs is sure
/// to be one, with all its calls.
type OpenCalls = (Vec<Event<'static>>, bool);

/// The means by which the threads that forked are read.
pub struct Parents<'a, F> {
    pub trace: &'a Trace,
    pub codes: &'a [Code],
    /// Each thread is read as one stack.
    pub by_thread: bool,
    /// The facts that a first look at some threads of a process finds.
    pub survey: F,
}

impl<F: Fn(usize, &[usize], &Inherited) -> Result<Survey, Error>> Parents<'_, F> {
    /// For each process, the calls that it began inside.
    pub fn inherited(&self) -> Result<Vec<Inherited>, Error> {
        let processes = self.trace.processes();
        let mut all = vec![Inherited::default(); processes.len()];
        let mut families: BTreeMap<(usize, usize), Vec<Child>> = BTreeMap::new();
        for (child, process) in processes.iter().enumerate() {
            // The calls of a thread that recorded nothing are nowhere.
            let thread = thread_of_fork(process);
            if let Some((parent, making)) = self.trace.forked_by(child).filter(|_| thread.is_some())
            {
                let family = families.entry((parent.process, parent.thread)).or_default();
                family.push((making, child));
                all[child].thread = thread;
            }
        }
        // A process is behind its parent, so that the parent's own are known.
        for ((process, thread), children) in families {
            let open = self.open_at_forks(process, thread, &children, &all[process])?;
            for (child, (enters, sure)) in open {
                (all[child].enters, all[child].sure) = (enters, sure);
            }
        }
        Ok(all)
    }

    /// What was open on a thread where it forked these processes.
    fn open_at_forks(
        &self,
        process: usize,
        thread: usize,
        children: &[Child],
        before: &Inherited,
    ) -> Result<Vec<(usize, OpenCalls)>, Error> {
        let (recorded, code) = (&self.trace.processes()[process], &self.codes[process]);
        let mut forks = Forks {
            processes: self.trace.processes(),
            thread,
            children,
            open: Vec::new(),
        };
        let only = [thread];
        if self.by_thread {
            let at = (recorded, process);
            let mut stacks = OneStack::new(at, code, thread..thread + 1, Ignore);
            stacks.begin_within(thread, before.of(thread));
            each_event(recorded, &only, false, |_, event| {
                stacks.feed(thread, event);
                forks.note(thread, event, || (stacks.open(thread), true))
            })?;
            return Ok(forks.open);
        }
        let mut decoder = Decoder::new((recorded, process), code, &only, true, None, Ignore);
        let mut alone = decoder.begin_within(thread, before).is_ok();
        if alone {
            each_event(recorded, &only, false, |_, event| {
                alone = decoder.feed(thread, event).is_ok();
                alone && forks.note(thread, event, || decoder.open(thread))
            })?;
        }
        if alone {
            return Ok(forks.open);
        }
        forks.open.clear();
        let all: Vec<usize> = (0..recorded.threads().len()).collect();
        let survey = (self.survey)(process, &all, before)?;
        let known = Some(&survey);
        let mut decoder = Decoder::new((recorded, process), code, &all, false, known, Ignore);
        for &each in &all {
            let _: Result<(), NotAlone> = decoder.begin_within(each, before);
        }
        each_event(recorded, &all, false, |of_thread, event| {
            let _: Result<(), NotAlone> = decoder.feed(of_thread, event);
            forks.note(of_thread, event, || decoder.open(thread))
        })?;
        Ok(forks.open)
    }
}

/// For each process, whether it forked another of the trace.
pub(super) fn are_parents(trace: &Trace) -> Vec<bool> {
    let mut parents = vec![false; trace.processes().len()];
    for child in 0..parents.len() {
        if let Some((parent, _)) = trace.forked_by(child) {
            parents[parent.process] = true;
        }
    }
    parents
}

/// The forks of a thread that have been met.
struct Forks<'a> {
    processes: &'a [Process],
    thread: usize,
    children: &'a [Child],
    /// The children, and what was open.
    open: Vec<(usize, OpenCalls)>,
}

impl Forks<'_> {
    /// Takes the next event of the thread with this index; whether there are more forks to come.
    fn note(&mut self, thread: usize, event: &Event<'_>, open: impl FnOnce() -> OpenCalls) -> bool {
        if let EventKind::Making {
            made: Made::Process,
            number,
            ..
        } = event.kind
            && thread == self.thread
            && let Some(&(_, child)) = self.children.iter().find(|child| child.0 == number)
        {
            let process = &self.processes[child];
            let begun = thread_of_fork(process).map(|thread| process.threads()[thread].first());
            let (enters, sure) = open();
            let enters = enters.into_iter().map(|enter| Event {
                time: begun.unwrap_or(event.time),
                ..enter
            });
            self.open.push((child, (enters.collect(), sure)));
        }
        self.open.len() < self.children.len()
    }
}

/// The index of the thread that a forked process began with.
fn thread_of_fork(process: &Process) -> Option<usize> {
    let mut threads = process.threads().iter();
    threads.position(|thread| thread.tid() == process.pid())
}

//! Takes the events of one process in order of time, and puts each stretch that a thread was off
//! its processor on the strand that it ran and in the call in which that was.

use super::between::Between;
use super::on_thread::OnThread;
use super::sum::{Cause, Group, Split, State};
use crate::names::Names;
use crate::open_calls::OpenCalls;
use crate::strand_list;
use crate::waits::{Labels, own_function};
use heddle_calls::End;
use heddle_strands::{Call, Kind, Sink, Strand, StrandId, StrandSpan};
use heddle_trace_file::{Addr, Callee, Event, EventKind, Nanos, OffCpu, Trace};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// How a process's strands spent their time.
pub struct Collect<'a> {
    trace: &'a Trace,
    process: usize,
    off: Between,
    names: Rc<RefCell<Names<'a>>>,
    labels: Rc<Labels>,
    threads: Vec<OfThread>,
    open: OpenCalls,
    splits: FxHashMap<StrandId, Split>,
    /// For how long each strand ran in which function, and a time at which that address meant it.
    ran: FxHashMap<StrandId, FxHashMap<Addr, (Nanos, Nanos)>>,
    /// For how long it is not known what each strand did.
    unknown_time: FxHashMap<StrandId, Nanos>,
    groups: BTreeMap<(Kind, Rc<str>, Option<String>), Group>,
    one: Option<StrandId>,
    found: Option<Split>,
    unknown: Rc<str>,
    /// What calls into the kernel wait for, by what their records say.
    calls: FxHashMap<Box<[u8]>, Rc<str>>,
}

/// A thread as its events come.
struct OfThread {
    on: OnThread,
    begin: Nanos,
    /// Up to then its time is accounted for.
    at: Nanos,
    /// The time of stretches off a processor that was not yet taken from its running time.
    off: Nanos,
    /// The waits that have not ended, innermost last: a handler may wait within one.
    waiting: Vec<Waiting>,
    /// The latest call into the kernel that took long: since when, for what.
    call: Option<(Nanos, Rc<str>)>,
}

/// A wait that has not ended.
struct Waiting {
    on: Rc<str>,
    function: Rc<str>,
    strand: StrandId,
    /// Open calls of the strand.
    depth: usize,
}

impl OfThread {
    /// The waits of a strand that began within so many calls, or more, were left: by a jump, or as
    /// the thread was cancelled.
    fn leave_waits(&mut self, strand: StrandId, depth: usize) {
        let left = |wait: &Waiting| wait.strand == strand && wait.depth >= depth;
        while self.waiting.last().is_some_and(left) {
            self.waiting.pop();
        }
    }
}

impl<'a> Collect<'a> {
    pub fn new(
        trace: &'a Trace,
        process: usize,
        off: Between,
        names: Rc<RefCell<Names<'a>>>,
        labels: Rc<Labels>,
        one: Option<StrandId>,
    ) -> Self {
        let threads = trace.processes()[process].threads().iter().enumerate();
        let threads = threads.map(|(index, thread)| OfThread {
            on: OnThread::new(StrandId::of_thread(process, index)),
            begin: thread.first(),
            at: thread.first(),
            off: Nanos(0),
            waiting: Vec::new(),
            call: None,
        });
        Collect {
            threads: threads.collect(),
            trace,
            process,
            off,
            names,
            labels,
            open: OpenCalls::default(),
            splits: FxHashMap::default(),
            ran: FxHashMap::default(),
            unknown_time: FxHashMap::default(),
            groups: BTreeMap::new(),
            one,
            found: None,
            unknown: "".into(),
            calls: FxHashMap::default(),
        }
    }

    /// The thread did until `time` what its strand and its calls say.
    fn advance(&mut self, thread: usize, time: Nanos) {
        while let Some(stretch) = self.off.next(thread, time) {
            self.take(thread, stretch);
        }
        let of = &mut self.threads[thread];
        let strand = of.on.strand();
        let told = self.off.told();
        let unknown = time - of.at.max(told);
        let all = time - of.at - unknown;
        let off = all.min(of.off);
        of.at = of.at.max(time);
        of.off = of.off - off;
        if unknown.0 > 0 {
            let sum = self.unknown_time.entry(strand).or_default();
            *sum = Nanos(sum.0.saturating_add(unknown.0));
        }
        let ran = all - off;
        if ran.0 > 0 {
            let innermost = self.open.on(strand, thread).last();
            let call = innermost.copied().unwrap_or((Addr(0), Nanos(0)));
            let functions = self.ran.entry(strand).or_default();
            functions.entry(call.0).or_insert((Nanos(0), call.1)).0.0 += ran.0;
        }
    }

    /// A stretch in which the thread was off its processor.
    fn take(&mut self, thread: usize, stretch: OffCpu) {
        let strand = self.threads[thread].on.strand();
        let innermost = self.function(strand, thread);
        let of = &mut self.threads[thread];
        // It may have begun before the thread was told of.
        let took = stretch.to - stretch.from.max(of.begin);
        of.off = Nanos(of.off.0.saturating_add(took.0));
        let mut cause = Cause {
            state: State::Ready,
            function: innermost,
            on: self.unknown.clone(),
        };
        if !stretch.preempted {
            cause.state = State::Blocked;
            let call = of.call.as_ref().filter(|(since, _)| *since <= stretch.from);
            if let Some(wait) = of.waiting.last() {
                (cause.on, cause.function) = (wait.on.clone(), wait.function.clone());
            } else if let Some((_, on)) = call {
                cause.on = on.clone();
            }
        }
        self.splits.entry(strand).or_default().add(cause, took);
    }

    /// The innermost call of the program's own code.
    fn function(&self, strand: StrandId, thread: usize) -> Rc<str> {
        let names = &mut *self.names.borrow_mut();
        let calls = self.open.on(strand, thread).iter().rev().copied();
        own_function(names, self.process, calls, None)
    }

    fn runs(&mut self, thread: usize, strand: StrandId, time: Nanos) {
        self.advance(thread, time);
        self.threads[thread].on.runs(strand);
    }

    /// `read pipe` for `read 3 pipe:[4711]`: what many descriptors have in common.
    fn call_label(&mut self, text: &[u8]) -> Rc<str> {
        if let Some(known) = self.calls.get(text) {
            return known.clone();
        }
        let said = crate::names::printable(&String::from_utf8_lossy(text));
        let mut words = said.splitn(3, ' ');
        let name = words.next().unwrap_or_default();
        let label = match words.nth(1) {
            None => name.to_owned(),
            Some(path) if path.starts_with('/') => format!("{name} {path}"),
            Some(target) => {
                let (kind, inode) = target.split_once(':').unwrap_or((target, ""));
                let kind = match kind {
                    "anon_inode" => inode.trim_matches(|c| c == '[' || c == ']'),
                    kind => kind,
                };
                format!("{name} {kind}")
            }
        };
        let label: Rc<str> = label.into();
        self.calls.insert(text.into(), label.clone());
        label
    }

    /// Groups, and the split of the strand that was asked for.
    pub fn finish(self) -> (Vec<Group>, Option<Split>) {
        (self.groups.into_values().collect(), self.found)
    }
}

impl Sink for Collect<'_> {
    fn resumed(&mut self, strand: StrandId, _: Option<StrandId>, thread: usize, time: Nanos) {
        self.advance(thread, time);
        self.threads[thread].on.resumed(strand);
    }

    fn suspended(&mut self, _: StrandId, thread: usize, time: Nanos) {
        self.advance(thread, time);
    }

    fn enter(&mut self, call: &Call) {
        self.advance(call.thread, call.enter);
        self.threads[call.thread].on.enter(call);
        self.open.enter(call);
    }

    fn leave(&mut self, span: &StrandSpan) {
        // What it did after its last event, it did in this call.
        if span.span.end == End::Open {
            return;
        }
        self.advance(span.thread, span.span.exit);
        self.open.leave(span);
        let depth = self.open.on(span.strand, span.thread).len();
        self.threads[span.thread].leave_waits(span.strand, depth + 1);
        self.threads[span.thread].on.leave(span);
    }

    fn unmatched(&mut self, strand: StrandId, thread: usize, _: Callee, time: Nanos) {
        self.runs(thread, strand, time);
    }

    fn other(&mut self, strand: StrandId, thread: usize, event: &Event<'_>) {
        let time = event.time;
        if let EventKind::LongCall { since, text, .. } = event.kind {
            let on = self.call_label(text);
            self.threads[thread].call = Some((since, on));
        }
        self.runs(thread, strand, time);
        self.threads[thread].call = None;
        match event.kind {
            EventKind::Wait(wait) => {
                let on: Rc<str> = (&*self.labels.of_wait(self.process, wait)).into();
                let open = self.open.on(strand, thread);
                let calls = open.iter().rev().copied();
                let names = &mut *self.names.borrow_mut();
                let function = own_function(names, self.process, calls, Some((wait.site(), time)));
                let of = &mut self.threads[thread];
                // One within the same call: the one before was left.
                of.leave_waits(strand, open.len());
                of.waiting.push(Waiting {
                    on,
                    function,
                    strand,
                    depth: open.len(),
                });
            }
            EventKind::WaitEnded { .. } => {
                self.threads[thread].waiting.pop();
            }
            _ => {}
        }
    }

    fn ended(&mut self, strand: &Strand) {
        if strand.kind == Kind::Thread {
            let thread = strand.thread();
            let last = self
                .off
                .all(thread)
                .last()
                .map_or(strand.last, |stretch| stretch.to);
            self.advance(thread, last.max(strand.last));
        }
        self.open.ended(strand);
        let mut split = self.splits.remove(&strand.id).unwrap_or_default();
        for (address, (ran, time)) in self.ran.remove(&strand.id).unwrap_or_default() {
            let call = (address != Addr(0)).then_some((address, time)).into_iter();
            let names = &mut *self.names.borrow_mut();
            let cause = Cause {
                state: State::Running,
                function: own_function(names, self.process, call, None),
                on: self.unknown.clone(),
            };
            split.add(cause, ran);
        }
        if let Some(time) = self.unknown_time.remove(&strand.id) {
            let cause = Cause {
                state: State::NotKnown,
                function: self.unknown.clone(),
                on: self.unknown.clone(),
            };
            split.add(cause, time);
        }
        if self.one == Some(strand.id) {
            self.found = Some(split.clone());
        }
        let name = self.names.borrow_mut().strand(strand);
        let label =
            (strand.kind == Kind::Thread).then(|| strand_list::label(self.trace, strand.id));
        let group = self
            .groups
            .entry((strand.kind, name.clone(), label.clone()));
        let group = group.or_insert_with(|| Group {
            process: self.trace.processes()[self.process].id(),
            kind: strand.kind,
            label,
            name,
            shown: self.names.borrow_mut().single(self.trace, strand),
            strands: 0,
            split: Split::default(),
        });
        group.strands += 1;
        group.split.merge(split);
    }
}

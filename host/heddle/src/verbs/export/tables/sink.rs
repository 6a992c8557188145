//! From what the decoder tells to rows.

use super::called::Called;
use super::outlet::Outlet;
use super::record::{self, KINDS, Pause, Place, Record, Run};
use crate::by_slot::BySlot;
use crate::filter::Filterable;
use crate::names::printable;
use crate::notes;
use crate::sched::{self, Between, OnThread, Stretches};
use crate::strand_list::Makers;
use crate::values::{Waiting, named_values};
use crate::verbs::export::selection::Selection;
use crate::verbs::export::spill::{Spill, Stream};
use crate::verbs::export::tracks::Ended;
use crate::waits::{Labels, is_no_wait};
use heddle_calls::{End, Functions, Key};
use heddle_strands::{Call, Kind, Sink, Strand, StrandId, StrandSpan};
use heddle_trace_file::{Addr, Callee, Event, EventKind, Modules, Nanos, Process, Shapes};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// What all parts have in common.
pub struct Whole<'a> {
    pub spill: &'a Spill,
    pub selection: Selection,
    pub labels: Labels,
    pub shapes: &'a Shapes,
    /// Whether it is wanted when fibers and coroutines run, and where strands are that do not.
    pub lives: bool,
    /// When threads were off their processors, if that is known and wanted.
    pub off: Option<Arc<Stretches>>,
}

/// The rows of a part of a process.
pub struct Rows<'a> {
    whole: &'a Whole<'a>,
    modules: &'a Modules,
    index: usize,
    pub records: Stream<'a>,
    /// Where records go as soon as there are enough.
    outlet: Option<Outlet>,
    /// The part's number, if it has an outlet.
    pub number: Option<u64>,
    pub ended: Stream<'a>,
    met: Option<Box<Met>>,
    /// The functions and call sites, when there is nothing more to come.
    pub functions: Vec<Key>,
    pub sites: Vec<Key>,
    pub calls: u64,
    pub strands: u64,
    pub makers: Makers,
    lives: BySlot<Life>,
    waiting: Waiting,
    off: Option<Between>,
    /// By thread: the strand that it runs, where stretches off the processor are wanted.
    running: FxHashMap<usize, OnThread>,
    /// By strand: what calls that are open were given.
    given: FxHashMap<StrandId, Vec<Given>>,
}

/// Functions and call sites; some hundred kilobytes, so only while strands live.
#[derive(Default)]
struct Met {
    functions: Functions<'static>,
    sites: Functions<'static>,
}

impl Met {
    /// Those that were met while strands lived before, by the indices that they had.
    fn again(functions: &[Key], sites: &[Key]) -> Box<Self> {
        let mut met = Box::<Met>::default();
        for (all, keys) in [(&mut met.functions, functions), (&mut met.sites, sites)] {
            keys.iter().for_each(|&key| _ = all.id(key));
        }
        met
    }
}

/// A strand that lives.
#[derive(Default)]
struct Life {
    /// Since when it does not run, and whether its thread waits.
    pause: Option<(Nanos, bool)>,
    /// The calls that its thread made while it waited.
    called: Called,
    /// What it is about to wait for, or waits for.
    reason: Option<Box<str>>,
    /// The thread that runs it, or ran it last.
    thread: usize,
    /// Whether it is a thread's own.
    is_thread: bool,
    /// Whether it is a coroutine.
    is_coroutine: bool,
    /// What runs it or ran it last, destroys it.
    destroyed: bool,
    /// Since when a fiber or coroutine runs, on which thread, and who ran before.
    runs: Option<(Nanos, usize, Option<StrandId>)>,
    /// The strand that a coroutine runs, since when, if that has not returned: where the coroutine
    /// is resumed meanwhile, it had been suspended before, and has handed over by a call.
    runs_other: Option<(StrandId, Nanos)>,
    /// The coroutine of which this strand is that.
    run_by: Option<StrandId>,
    /// A pause that has ended, until what follows it tells where the coroutine was.
    held: Option<Box<Held>>,
    /// Functions of the calls that are open, and when they began, if that is wanted.
    open: Vec<(Addr, Nanos)>,
    /// How many of these do not run or destroy a coroutine themselves.
    inner: usize,
    /// The last call that a coroutine's own code made: where it is suspended, if nothing better
    /// tells.
    site: Option<(Addr, Nanos)>,
    /// Who has what it waits for, and the place where it waits.
    waits: Option<(Option<u32>, Addr)>,
}

/// A pause with what it owns.
struct Held {
    pause: Pause<'static>,
    reason: Box<str>,
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
            outlet: None,
            number: None,
            ended: whole.spill.stream(),
            met: None,
            functions: Vec::new(),
            sites: Vec::new(),
            calls: 0,
            strands: 0,
            makers: Makers::default(),
            lives: BySlot::default(),
            waiting: Waiting::default(),
            off: whole.off.as_ref().map(|off| Between::new(off, index)),
            running: FxHashMap::default(),
            given: FxHashMap::default(),
        }
    }

    /// Hands records over as soon as there are enough. Until then they are in memory, for as long
    /// as strands live.
    pub fn with_outlet(self, outlet: Outlet) -> Self {
        Rows {
            records: self.whole.spill.stream_of(2 * outlet.enough),
            number: Some(outlet.part),
            outlet: Some(outlet),
            ..self
        }
    }

    /// Hands over no more.
    pub fn close_outlet(&mut self) {
        self.outlet = None;
    }

    /// Indices among functions (`of_function`) or call sites.
    fn met(&mut self, of_function: bool, (address, time): (Addr, Nanos)) -> u32 {
        let generation = self.modules.generation(time);
        let met = self
            .met
            .get_or_insert_with(|| Met::again(&self.functions, &self.sites));
        let of = match of_function {
            true => &mut met.functions,
            false => &mut met.sites,
        };
        let key = Key {
            address,
            generation,
        };
        of.id(key).0
    }

    /// Where a strand is that does not run since `from`.
    fn place(&mut self, id: StrandId, from: Nanos) -> Place {
        let Some(life) = self.lives.of(id).filter(|_| self.whole.lives) else {
            return Place::default();
        };
        let inner = life.open.last().copied();
        let site = match life.waits {
            Some((_, site)) => Some((site, from)),
            None => life.site,
        };
        let site = site.filter(|(site, _)| site.0 != 0);
        Place {
            function: inner.map(|inner| self.met(true, inner)),
            site: site.map(|site| self.met(false, site)),
            index: None,
        }
    }

    /// The pause that was held back has not ended: as the program exited, it was noted where the
    /// coroutine is suspended.
    fn is_left(&mut self, strand: &Strand) {
        let Some((index, entry)) = strand.left_behind().zip(strand.entry()) else {
            return;
        };
        let function = self.met(true, entry);
        if let Some(life) = self.lives.of_mut(strand.id)
            && let Some(held) = &mut life.held
            && held.pause.to.is_none()
        {
            held.pause.place.function = Some(function);
            held.pause.place.index = Some(index);
        }
    }

    /// Writes the pause that was held back; `resumes`: the call that goes on behind it.
    fn release(&mut self, id: StrandId, resumes: Option<&Call>) {
        let Some(life) = self.lives.of_mut(id) else {
            return;
        };
        let destroyed = life.destroyed;
        let Some(mut held) = life.held.take() else {
            return;
        };
        held.pause.destroyed = destroyed;
        let index = resumes.and_then(|call| call.frame?.resume_index());
        if let Some((call, index)) = resumes.zip(index) {
            held.pause.place.function = Some(self.met(true, (call.function, call.enter)));
            held.pause.place.index = Some(index);
        }
        self.write(&Record::Pause(Pause {
            reason: &held.reason,
            ..held.pause
        }));
    }

    /// Writes when the thread was off its processor before `time`, but for what is written anyway:
    /// that it waits, or that its strand is suspended. `call`: since when it was in which call into
    /// the kernel.
    fn processor(&mut self, thread: usize, time: Nanos, call: Option<(Nanos, &[u8])>) {
        let Some(off) = &mut self.off else { return };
        let mut stretches = Vec::new();
        while let Some(stretch) = off.next(thread, time) {
            stretches.push(stretch);
        }
        let Some(id) = self.running.get(&thread).map(OnThread::strand) else {
            return;
        };
        let pauses = self.lives.of(id).is_none_or(|life| life.pause.is_some());
        for stretch in stretches {
            if pauses || !self.whole.selection.has(id) {
                continue;
            }
            let text = sched::why_off(&stretch, call);
            let place = self.place(id, stretch.from);
            self.write(&Record::Pause(Pause {
                strand: id.number(),
                thread: thread as u32,
                from: stretch.from,
                to: Some(stretch.to.min(time)),
                blocked: true,
                reason: &text,
                by: None,
                holder: None,
                place,
                called: Nanos(0),
                destroyed: false,
            }));
        }
    }

    /// Notes which strand the thread runs from now on.
    #[inline]
    fn on_thread(&mut self, thread: usize, note: impl FnOnce(&mut OnThread)) {
        if self.off.is_some()
            && let Some(on) = self.running.get_mut(&thread)
        {
            note(on);
        }
    }

    /// `by` runs the strand `id` from now on, if `by` is a coroutine that is not suspended.
    fn runs_other(&mut self, by: Option<StrandId>, id: StrandId, time: Nanos) {
        let Some(by) = by else { return };
        let Some(life) = self.lives.of_mut(by) else {
            return;
        };
        if life.is_coroutine && life.pause.is_none() && !life.destroyed {
            life.runs_other = Some((id, time));
            if let Some(other) = self.lives.of_mut(id) {
                other.run_by = Some(by);
            }
        }
    }

    /// The strand that now runs or destroys the strand `id` was run by it, and has not returned. So
    /// `id` had handed over to that strand, and has not run since then.
    fn had_handed_over(&mut self, id: StrandId) {
        let Some(life) = self.lives.of_mut(id) else {
            return;
        };
        let runs_other = life.runs_other.take();
        let thread = life.thread;
        if let (Some((_, since)), None) = (runs_other, life.pause) {
            self.ran(id, since);
            self.pause(id, thread, since, false);
        }
    }

    /// The strand `id` has returned to what ran it.
    fn returns(&mut self, id: StrandId) {
        let by = self.lives.of_mut(id).and_then(|life| life.run_by.take());
        if let Some(life) = by.and_then(|by| self.lives.of_mut(by)) {
            life.runs_other.take_if(|(other, _)| *other == id);
        }
    }

    /// Writes until when a fiber or coroutine ran.
    fn ran(&mut self, id: StrandId, to: Nanos) {
        let runs = self.lives.of_mut(id).and_then(|life| life.runs.take());
        if let Some((from, thread, by)) = runs
            && self.whole.selection.has(id)
        {
            self.write(&Record::Run(Run {
                strand: id.number(),
                thread: thread as u32,
                from,
                to: to.max(from),
                by: by.map(StrandId::number),
            }));
        }
    }

    fn write(&mut self, record: &Record<'_>) {
        self.records.append(|bytes| record.write(bytes));
        if let Some(outlet) = &mut self.outlet
            && self.records.pending().len() >= outlet.enough
            && let Some(met) = &self.met
        {
            let met = [met.functions.keys(), met.sites.keys()];
            outlet.hand_over(self.index, met, self.records.take_pending());
        }
    }

    /// The strand does not run from now on, or its thread waits.
    fn pause(&mut self, id: StrandId, thread: usize, from: Nanos, blocked: bool) {
        if let Some(life) = self.lives.of_mut(id) {
            life.pause = Some((from, blocked));
            life.called = Called::default();
            life.thread = thread;
        }
    }

    /// The strand goes on; `to` is `None` if it does not before the trace ends.
    fn goes_on(&mut self, id: StrandId, thread: usize, to: Option<Nanos>, by: Option<StrandId>) {
        let Some(life) = self.lives.of_mut(id) else {
            return;
        };
        let Some((from, blocked)) = life.pause.take() else {
            return;
        };
        let reason = life.reason.take();
        let called = life.called.time;
        let holds = self.whole.lives && life.is_coroutine;
        let (place, waits) = match self.whole.lives {
            true => {
                let place = self.place(id, from);
                let life = self.lives.of_mut(id);
                (place, life.and_then(|life| life.waits.take()))
            }
            false => (Place::default(), None),
        };
        if to.is_some_and(|to| to <= from) || !self.whole.selection.has(id) {
            return;
        }
        let pause = Pause {
            strand: id.number(),
            thread: thread as u32,
            from,
            to,
            blocked,
            reason: "",
            by: by.map(StrandId::number),
            holder: waits.and_then(|(holder, _)| holder),
            place,
            called,
            destroyed: false,
        };
        if holds && let Some(life) = self.lives.of_mut(id) {
            let reason = reason.unwrap_or_default();
            life.held = Some(Box::new(Held { pause, reason }));
            return;
        }
        self.write(&Record::Pause(Pause {
            reason: reason.as_deref().unwrap_or_default(),
            ..pause
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
        let thread = self.lives.of(strand.id).map_or(0, |life| life.thread);
        if self.whole.lives {
            self.ran(strand.id, died.unwrap_or(strand.last));
            self.release(strand.id, None);
        }
        self.goes_on(strand.id, thread, died, None);
        if self.whole.lives {
            if died.is_none() {
                self.is_left(strand);
            }
            self.release(strand.id, None);
        }
        self.given.remove(&strand.id);
        if self.lives.remove(strand).is_some() && self.whole.selection.has(strand.id) {
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
        if strand.kind == Kind::Thread {
            self.running
                .insert(strand.thread(), OnThread::new(strand.id));
        }
        let life = Life {
            // Until it runs, it is suspended: of a coroutine that is told, as that may be at once.
            pause: (strand.kind == Kind::Fiber).then_some((strand.born, false)),
            thread: strand.thread(),
            is_thread: strand.kind == Kind::Thread,
            is_coroutine: strand.kind == Kind::Coroutine,
            ..Life::default()
        };
        self.lives.insert(strand, life);
    }

    fn rests(&mut self, id: StrandId, since: Nanos) {
        if let Some(life) = self.lives.of_mut(id) {
            life.pause = Some((since, false));
        }
    }

    fn resumed(&mut self, id: StrandId, by: Option<StrandId>, thread: usize, time: Nanos) {
        let by = by.filter(|&by| by != id);
        if self.whole.lives {
            self.processor(thread, time, None);
            self.on_thread(thread, |on| on.resumed(id));
            self.release(id, None);
        }
        self.had_handed_over(id);
        if self.whole.lives {
            self.ran(id, time);
            let life = self.lives.of_mut(id);
            if let Some(life) = life.filter(|life| !life.is_thread) {
                life.runs = Some((time, thread, by));
            }
        }
        self.runs_other(by, id, time);
        self.goes_on(id, thread, Some(time), by);
        if let Some(life) = self.lives.of_mut(id) {
            life.thread = thread;
        }
    }

    fn suspended(&mut self, id: StrandId, thread: usize, time: Nanos) {
        if self.whole.lives {
            self.processor(thread, time, None);
        }
        // Another thread may go on with a coroutine before the call that suspended it returns.
        if self.lives.of(id).is_some_and(|life| life.thread != thread) {
            return;
        }
        if self.whole.lives {
            self.release(id, None);
            self.ran(id, time);
        }
        self.returns(id);
        // An activation that handed over by a call ends later than what it called. What is
        // destroyed does not wait.
        let rests = |life: &Life| life.is_coroutine && matches!(life.pause, Some((_, false)));
        if !self
            .lives
            .of(id)
            .is_some_and(|life| life.destroyed || rests(life))
        {
            self.pause(id, thread, time, false);
        }
    }

    fn enter(&mut self, call: &Call) {
        if let Some(life) = self.lives.at(call.slot) {
            life.destroyed |= call.destroys;
            life.runs_other = None;
        }
        if self.whole.lives {
            self.processor(call.thread, call.enter, None);
            self.on_thread(call.thread, |on| on.enter(call));
            self.release(call.strand, Some(call).filter(|call| call.body));
            if let Some(life) = self.lives.at(call.slot) {
                if call.body {
                    life.site = None;
                } else if life.is_coroutine && life.inner == 0 && !call.inlined {
                    life.site = Some((call.caller, call.enter));
                }
                life.inner += usize::from(!call.body);
                life.open.push((call.function, call.enter));
                if let Some((_, true)) = life.pause {
                    life.called.enter(call.enter);
                }
            }
        }
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
        if self.off.is_some() && span.span.end != End::Open {
            self.processor(span.thread, span.span.exit, None);
            self.on_thread(span.thread, |on| on.leave(span));
        }
        let result = self.waiting.of_leave(span);
        if self.whole.lives
            && let Some(life) = self.lives.at(span.slot)
        {
            if let Some((_, true)) = life.pause {
                life.called.leave(span.span.exit);
            }
            // A call that the trace ends within still tells where its strand waits.
            if span.span.end != End::Open {
                life.open.pop();
                life.inner -= usize::from(!span.body && life.inner > 0);
            }
        }
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
        let met = self
            .met
            .get_or_insert_with(|| Met::again(&self.functions, &self.sites));
        let id = |functions: &mut Functions<'_>, address| {
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
        self.on_thread(thread, |on| on.runs(id));
        self.event(id, thread, time, 2, "");
    }

    fn other(&mut self, id: StrandId, thread: usize, event: &Event<'_>) {
        if let EventKind::Values(values) = event.kind {
            return self.waiting.take(thread, values);
        }
        if self.off.is_some() {
            let call = match event.kind {
                EventKind::LongCall { since, text, .. } => Some((since, text)),
                _ => None,
            };
            self.processor(thread, event.time, call);
            self.on_thread(thread, |on| on.runs(id));
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
                if let Some(life) = self.lives.of_mut(id) {
                    life.reason = Some(printable(&String::from_utf8_lossy(reason)).into());
                }
            }
            EventKind::Wait(wait) => {
                let label = self.whole.labels.of_wait(self.index, wait);
                self.pause(id, thread, event.time, true);
                if let Some(life) = self.lives.of_mut(id) {
                    life.reason = Some(label.as_ref().into());
                    let holder = wait.holder().filter(|holder| !holder.released);
                    life.waits = Some((holder.map(|holder| holder.tid), wait.site()));
                }
            }
            EventKind::WaitEnded { error, .. } => {
                let life = self.lives.of(id);
                if let Some((from, true)) = life.and_then(|life| life.pause) {
                    let to = if is_no_wait(error) { from } else { event.time };
                    self.goes_on(id, thread, Some(to), None);
                }
            }
            _ => {}
        }
    }

    fn ended(&mut self, strand: &Strand) {
        // Its calls are open still: it was blocked in one until it was killed, or is still.
        let life = self.lives.of(strand.id);
        let cut = strand.died().is_none() && life.is_some_and(|life| !life.open.is_empty());
        if strand.kind == Kind::Thread && cut {
            self.processor(strand.thread(), Nanos(u64::MAX), None);
        }
        self.end(strand, strand.died());
    }
}

impl Filterable for Rows<'_> {
    /// It tells all the same where the coroutine was.
    fn body_left_out(&mut self, call: &Call) {
        if let Some(life) = self.lives.at(call.slot) {
            life.destroyed |= call.destroys;
            (life.site, life.runs_other) = (None, None);
        }
        if self.whole.lives {
            self.on_thread(call.thread, |on| on.enter(call));
            self.release(call.strand, Some(call));
        }
    }

    fn left_body(&mut self, strand: StrandId) {
        if let Some(thread) = self.lives.of(strand).map(|life| life.thread) {
            self.on_thread(thread, |on| on.left_body(strand));
        }
    }

    fn goes_on(&mut self, strand: &Strand) {
        self.end(strand, None);
    }
}

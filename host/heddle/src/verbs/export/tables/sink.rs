//! From what the decoder tells to rows.

use super::called::Called;
use super::outlet::Outlet;
use super::record::{self, CONTAINER, KINDS, Pause, Place, Record, Run};
use crate::aside::{Activation, Aside};
use crate::by_slot::BySlot;
use crate::filter::{Filterable, Kept, Shown};
use crate::names::printable;
use crate::notes;
use crate::sched::{self, Between, OnThread, Stretches};
use crate::strand_list::Makers;
use crate::values::{Waiting, named_values};
use crate::verbs::export::selection::Selection;
use crate::verbs::export::spill::{Spill, Stream};
use crate::verbs::export::tracks::{Ended, numbers};
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
    /// By process: what is shown of it.
    pub shown: Vec<Shown>,
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
    aside: Aside<Active>,
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
    /// The activation that is looked at, and its thread.
    active: Active,
    on: u32,
    /// The thread that runs it, or ran it last.
    thread: usize,
    /// Whether it is a thread's own.
    is_thread: bool,
    /// Whether it is a coroutine.
    is_coroutine: bool,
    /// What runs it or ran it last, destroys it.
    destroyed: bool,
    /// The strand that a coroutine runs, since when, if that has not returned: where the coroutine
    /// is resumed meanwhile, it had been suspended before, and has handed over by a call.
    runs_other: Option<(StrandId, Nanos)>,
    /// The coroutine of which this strand is that.
    run_by: Option<StrandId>,
    /// A pause that has ended, until what follows it tells where the coroutine was.
    held: Option<Box<Held>>,
    /// What was on its second row, and on further ones, where rows are wanted.
    further: Vec<Further>,
}

/// What was on a further row of a strand.
#[derive(Clone, Copy)]
struct Further {
    since: Nanos,
    until: Nanos,
    ran: Nanos,
    runs: u64,
    calls: u64,
}

impl Further {
    fn takes(&mut self, from: Nanos, to: Nanos) {
        self.since = self.since.min(from);
        self.until = self.until.max(to);
    }
}

/// An activation of a strand: of a coroutine, there may be two at once.
#[derive(Default)]
struct Active {
    /// Since when it does not run, and whether its thread waits.
    pause: Option<(Nanos, bool)>,
    /// The calls that its thread made while it waited.
    called: Called,
    /// How many were open when its thread began to wait.
    around: usize,
    /// What it is about to wait for, or waits for.
    reason: Option<Box<str>>,
    /// Since when a fiber or coroutine runs, on which thread, and who ran before.
    runs: Option<(Nanos, usize, Option<StrandId>)>,
    /// How many calls are open.
    depth: usize,
    /// Functions of the calls that are open, and when they began, if that is wanted; and whether a
    /// filter keeps them.
    open: Vec<(Addr, Nanos, bool)>,
    /// How many of these do not run or destroy a coroutine themselves.
    inner: usize,
    /// The last call that a coroutine's own code made: where it is suspended, if nothing better
    /// tells.
    site: Option<(Addr, Nanos)>,
    /// Where that call was made, if it is open and not inlined.
    within: Option<(Addr, Nanos)>,
    /// Who has what it waits for, and the place where it waits.
    waits: Option<(Option<u32>, Addr)>,
    /// On which of the strand's rows it is: what lies on one row nests.
    lane: u64,
}

impl Activation for Active {
    fn runs(&self) -> bool {
        self.depth > 0
    }

    fn is_needed(&self) -> bool {
        self.depth > 0 || self.runs.is_some() || self.pause.is_some()
    }
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
            aside: Aside::default(),
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

    /// What happens next with the strand in this slot belongs to its activation on this thread,
    /// which `begins` now or is open.
    #[inline]
    fn turn_to(&mut self, slot: u32, thread: usize, begins: bool) {
        let Some(life) = self.lives.at(slot) else {
            return;
        };
        if life.is_coroutine {
            let now = (&mut life.on, &mut life.active);
            self.aside.turn_to(slot, now, thread, begins);
            if begins && self.whole.lives && !life.active.is_needed() {
                life.active.lane = numbers::free_lane(self.aside.of(slot).map(|other| other.lane));
            }
        } else if begins {
            life.on = thread as u32;
        }
    }

    /// The same, of this strand.
    fn turn(&mut self, id: StrandId, thread: usize, begins: bool) {
        if let Some(slot) = self.lives.slot(id) {
            self.turn_to(slot, thread, begins);
        }
    }

    /// The strand is suspended, on the first of its rows that is free.
    fn takes_lane(&mut self, id: StrandId) {
        if let Some(slot) = self.lives.slot(id).filter(|_| self.whole.lives)
            && let Some(life) = self.lives.at(slot).filter(|life| life.is_coroutine)
            && !life.active.is_needed()
        {
            life.active.lane = numbers::free_lane(self.aside.of(slot).map(|other| other.lane));
        }
    }

    /// The number of the strand's row that its activation is on, and that of the strand itself on
    /// its first.
    fn row(&self, id: StrandId) -> u64 {
        let lane = self.lives.of(id).map_or(0, |life| life.active.lane);
        numbers::lane(id, lane) & StrandId::NUMBER
    }

    /// The row that the activation of this strand is on, if it is a further one.
    #[inline]
    fn further(&mut self, id: StrandId) -> Option<&mut Further> {
        let life = self.lives.of_mut(id).filter(|life| life.active.lane > 0)?;
        let index = life.active.lane as usize - 1;
        if life.further.len() <= index {
            let none = Further {
                since: Nanos(u64::MAX),
                until: Nanos(0),
                ran: Nanos(0),
                runs: 0,
                calls: 0,
            };
            life.further.resize(index + 1, none);
        }
        life.further.get_mut(index)
    }

    /// The strand is resumed by `by`, on this thread: ends the suspension of its latest
    /// activation, and turns to that which goes on.
    fn goes_on_from(&mut self, id: StrandId, thread: usize, time: Nanos, by: Option<StrandId>) {
        let Some(latest) = self.lives.of(id).map(|life| life.thread) else {
            return;
        };
        self.turn(id, latest, false);
        let handed_over = self.had_handed_over(id);
        let rests = |life: &Life| matches!(life.active.pause, Some((_, false)));
        if self.lives.of(id).is_some_and(rests) {
            self.goes_on(id, thread, Some(time), by);
            if let Some(life) = self.lives.of_mut(id)
                && life.active.depth > 0
                && !handed_over
            {
                // The fiber that it is on has moved.
                life.on = thread as u32;
            }
        }
        self.turn(id, thread, true);
    }

    /// Where a strand is that does not run since `from`; `blocked`: its thread waits, within so
    /// many of its open calls.
    fn place(&mut self, id: StrandId, from: Nanos, blocked: Option<usize>) -> Place {
        let Some(life) = self.lives.of(id).filter(|_| self.whole.lives) else {
            return Place::default();
        };
        let open = blocked.and_then(|within| life.active.open.get(..within));
        let open = open.unwrap_or(&life.active.open).iter().rev();
        let inner = open.clone().find(|(.., kept)| *kept);
        let inner = inner.map(|&(function, enter, _)| (function, enter));
        let site = match (life.active.waits, blocked) {
            (Some((_, site)), _) => Some((site, from)),
            (None, Some(_)) => life.active.within,
            (None, None) => life.active.site,
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
        self.write_pause(Pause {
            reason: &held.reason,
            ..held.pause
        });
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
        if !stretches.is_empty() {
            self.turn(id, thread, false);
        }
        let pauses = self
            .lives
            .of(id)
            .is_none_or(|life| life.active.pause.is_some());
        for stretch in stretches {
            if pauses || !self.whole.selection.has(id) {
                continue;
            }
            let text = sched::why_off(&stretch, call);
            let place = self.place(id, stretch.from, Some(usize::MAX));
            let row = self.row(id);
            self.write_pause(Pause {
                strand: row,
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
            });
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
        if life.is_coroutine && life.active.pause.is_none() && !life.destroyed {
            life.runs_other = Some((id, time));
            if let Some(other) = self.lives.of_mut(id) {
                other.run_by = Some(by);
            }
        }
    }

    /// Whether the strand that now runs or destroys the strand `id` was run by it, and has not
    /// returned. Then `id` had handed over to that strand, and has not run since then.
    fn had_handed_over(&mut self, id: StrandId) -> bool {
        let Some(life) = self.lives.of_mut(id) else {
            return false;
        };
        let runs_other = life.runs_other.take();
        let (Some((_, since)), None) = (runs_other, life.active.pause) else {
            return false;
        };
        self.ran(id, since);
        self.pause(id, since, false);
        true
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
        let runs = self
            .lives
            .of_mut(id)
            .and_then(|life| life.active.runs.take());
        if let Some((from, thread, by)) = runs
            && self.whole.selection.has(id)
        {
            let shown = &self.whole.shown[self.index];
            let cut = shown.cut(from, Some(to.max(from)));
            let cut = cut.filter(|_| shown.takes_thread(thread));
            let Some((from, Some(to))) = cut else { return };
            if let Some(further) = self.further(id) {
                further.takes(from, to);
                further.ran.0 += to.0 - from.0;
                further.runs += 1;
            }
            let row = self.row(id);
            self.write(&Record::Run(Run {
                strand: row,
                thread: thread as u32,
                from,
                to,
                by: by.map(StrandId::number),
            }));
        }
    }

    /// Writes a pause, as far as it is shown.
    fn write_pause(&mut self, mut pause: Pause<'_>) {
        let shown = &self.whole.shown[self.index];
        if pause.blocked && !shown.takes_thread(pause.thread as usize) {
            return;
        }
        let Some((from, to)) = shown.cut(pause.from, pause.to) else {
            return;
        };
        if to != pause.to {
            // It goes on behind what is shown.
            (pause.by, pause.destroyed) = (None, false);
        }
        (pause.from, pause.to) = (from, to);
        self.write(&Record::Pause(pause));
    }

    #[inline]
    fn write(&mut self, record: &Record<'_>) {
        if self.outlet.is_none() {
            return self.records.append(|bytes| record.write_small(bytes));
        }
        // Groups are of as many bytes as of records that are not small.
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
    fn pause(&mut self, id: StrandId, from: Nanos, blocked: bool) {
        if let Some(life) = self.lives.of_mut(id) {
            life.active.pause = Some((from, blocked));
            life.active.called = Called::default();
            life.active.around = life.active.open.len();
        }
    }

    /// The strand goes on; `to` is `None` if it does not before the trace ends.
    fn goes_on(&mut self, id: StrandId, thread: usize, to: Option<Nanos>, by: Option<StrandId>) {
        let Some(life) = self.lives.of_mut(id) else {
            return;
        };
        let Some((from, blocked)) = life.active.pause.take() else {
            return;
        };
        let reason = life.active.reason.take();
        let called = life.active.called.time;
        // A signal's handler may have calls open within the wait.
        let around = blocked.then_some(life.active.around);
        let holds = self.whole.lives && life.is_coroutine && !blocked;
        let (place, waits) = match self.whole.lives {
            true => {
                let place = self.place(id, from, around);
                let life = self.lives.of_mut(id);
                (place, life.and_then(|life| life.active.waits.take()))
            }
            false => (Place::default(), None),
        };
        if to.is_some_and(|to| to <= from) || !self.whole.selection.has(id) {
            return;
        }
        let pause = Pause {
            strand: self.row(id),
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
        self.write_pause(Pause {
            reason: reason.as_deref().unwrap_or_default(),
            ..pause
        });
    }

    fn event(&mut self, id: StrandId, thread: usize, time: Nanos, kind: usize, text: &str) {
        let shown = &self.whole.shown[self.index];
        if self.whole.selection.has(id) && shown.has(time) && shown.takes_thread(thread) {
            let row = self.row(id);
            self.write(&Record::Event(record::Event {
                strand: row,
                thread: thread as u32,
                time,
                kind: KINDS[kind],
                text,
            }));
        }
    }

    /// What the strand's other activations were about that had not ended when it did.
    fn end_others(&mut self, strand: &Strand, died: Option<Nanos>) {
        for (thread, other) in self.aside.take(strand.slot) {
            let blocked = matches!(other.pause, Some((_, true)));
            let Some(life) = self.lives.at(strand.slot) else {
                return;
            };
            let latest = std::mem::replace(&mut life.active, other);
            if self.whole.lives {
                self.ran(strand.id, died.unwrap_or(strand.last));
            }
            if blocked {
                self.goes_on(strand.id, thread, died, None);
            }
            if let Some(life) = self.lives.at(strand.slot) {
                life.active = latest;
            }
        }
    }

    fn end(&mut self, strand: &Strand, died: Option<Nanos>) {
        let thread = self.lives.of(strand.id).map_or(0, |life| life.thread);
        self.turn(strand.id, thread, false);
        self.end_others(strand, died);
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
        if let Some(life) = self.lives.remove(strand)
            && self.whole.selection.has(strand.id)
        {
            self.strands += 1;
            self.ended.append(|bytes| Ended::new(strand).write(bytes));
            for (further, lane) in life.further.iter().zip(1..) {
                let uuid = numbers::lane(strand.id, lane);
                let row = Ended {
                    uuid,
                    number: uuid & StrandId::NUMBER,
                    parent: Some(strand.id.number()),
                    resumer: None,
                    activations: further.runs,
                    calls: further.calls,
                    running: further.ran,
                    suspended: Nanos(0),
                    children: Nanos(0),
                    born: further.since.min(further.until),
                    died: Some(further.until),
                    ..Ended::new(strand)
                };
                self.ended.append(|bytes| row.write(bytes));
            }
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
            active: Active {
                // Until it runs, it is suspended: of a coroutine that is told, as that may be at
                // once.
                pause: (strand.kind == Kind::Fiber).then_some((strand.born, false)),
                ..Active::default()
            },
            on: strand.thread() as u32,
            thread: strand.thread(),
            is_thread: strand.kind == Kind::Thread,
            is_coroutine: strand.kind == Kind::Coroutine,
            ..Life::default()
        };
        self.lives.insert(strand, life);
    }

    fn rests(&mut self, id: StrandId, since: Nanos) {
        if let Some(life) = self.lives.of_mut(id) {
            life.active.pause = Some((since, false));
        }
    }

    fn resumed(&mut self, id: StrandId, by: Option<StrandId>, thread: usize, time: Nanos) {
        let by = by.filter(|&by| by != id);
        if self.whole.lives {
            self.processor(thread, time, None);
            self.on_thread(thread, |on| on.resumed(id));
            self.release(id, None);
        }
        self.goes_on_from(id, thread, time, by);
        if self.whole.lives {
            self.ran(id, time);
            let life = self.lives.of_mut(id);
            if let Some(life) = life.filter(|life| !life.is_thread) {
                life.active.runs = Some((time, thread, by));
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
        self.turn(id, thread, false);
        let life = self.lives.of(id);
        if let Some(latest) = life.map(|life| life.thread).filter(|&on| on != thread) {
            // Another thread has gone on with it before the call that suspended it returned.
            if life.is_some_and(|life| life.on as usize == thread) {
                self.ran(id, time);
                self.turn(id, latest, false);
            }
            return;
        }
        if self.whole.lives {
            self.release(id, None);
            self.ran(id, time);
        }
        self.returns(id);
        // An activation that handed over by a call ends later than what it called. What is
        // destroyed does not wait.
        let rests =
            |life: &Life| life.is_coroutine && matches!(life.active.pause, Some((_, false)));
        if !self
            .lives
            .of(id)
            .is_some_and(|life| life.destroyed || rests(life))
        {
            self.takes_lane(id);
            self.pause(id, time, false);
        }
    }

    fn enter(&mut self, call: &Call) {
        self.enter_of(call, true);
    }

    #[inline]
    fn leave(&mut self, span: &StrandSpan) {
        let late = false;
        self.leave_of(span, Some(Kept { span, late }));
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
                self.turn(id, thread, false);
                if let Some(life) = self.lives.of_mut(id) {
                    life.active.reason = Some(printable(&String::from_utf8_lossy(reason)).into());
                }
            }
            EventKind::Wait(wait) => {
                let label = self.whole.labels.of_wait(self.index, wait);
                self.turn(id, thread, false);
                self.pause(id, event.time, true);
                if let Some(life) = self.lives.of_mut(id) {
                    life.active.reason = Some(label.as_ref().into());
                    let holder = wait.holder().filter(|holder| !holder.released);
                    life.active.waits = Some((holder.map(|holder| holder.tid), wait.site()));
                }
            }
            EventKind::WaitEnded { error, .. } => {
                self.turn(id, thread, false);
                let life = self.lives.of(id);
                if let Some((from, true)) = life.and_then(|life| life.active.pause) {
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
        let cut = strand.died().is_none() && life.is_some_and(|life| !life.active.open.is_empty());
        if strand.kind == Kind::Thread && cut {
            self.processor(strand.thread(), Nanos(u64::MAX), None);
        }
        self.end(strand, strand.died());
    }
}

impl Filterable for Rows<'_> {
    const FOLLOWS: bool = true;

    fn was_open(&mut self, _: &Call) {}

    fn enter_of(&mut self, call: &Call, kept: bool) {
        let whole = self.whole;
        let shown = &whole.shown[self.index];
        self.turn_to(call.slot, call.thread, call.depth == 0);
        if let Some(life) = self.lives.at(call.slot) {
            life.active.depth += 1;
            life.destroyed |= call.destroys;
            life.runs_other = None;
        }
        if self.whole.lives {
            self.processor(call.thread, call.enter, None);
            self.on_thread(call.thread, |on| on.enter(call));
            self.release(call.strand, Some(call).filter(|call| call.body));
            if let Some(life) = self.lives.at(call.slot) {
                if call.body {
                    (life.active.site, life.active.within) = (None, None);
                } else if life.is_coroutine && life.active.inner == 0 {
                    let site = (!call.inlined).then_some((call.caller, call.enter));
                    life.active.within = site;
                    life.active.site = site.or(life.active.site);
                }
                life.active.inner += usize::from(!call.body);
                life.active.open.push((call.function, call.enter, kept));
                if let Some((_, true)) = life.active.pause {
                    life.active.called.enter(shown.nearest(call.enter));
                }
            }
        }
        let Some(given) = self.waiting.of_enter(call).filter(|_| kept) else {
            return;
        };
        self.given.entry(call.strand).or_default().push(Given {
            function: call.function,
            enter: call.enter,
            values: named_values(&given, self.whole.shapes),
        });
    }

    #[inline]
    fn leave_of(&mut self, span: &StrandSpan, kept: Option<Kept<'_>>) {
        let whole = self.whole;
        let shown = &whole.shown[self.index];
        if self.off.is_some() && span.span.end != End::Open {
            self.processor(span.thread, span.span.exit, None);
            self.on_thread(span.thread, |on| on.leave(span));
        }
        let result = self.waiting.of_leave(span);
        self.turn_to(span.slot, span.thread, false);
        if let Some(life) = self.lives.at(span.slot)
            && span.span.end != End::Open
        {
            life.active.depth = life.active.depth.saturating_sub(1);
        }
        if self.whole.lives
            && let Some(life) = self.lives.at(span.slot)
        {
            if let Some((_, true)) = life.active.pause {
                life.active.called.leave(shown.nearest(span.span.exit));
            }
            // A call that the trace ends within still tells where its strand waits.
            if span.span.end != End::Open {
                life.active.open.pop();
                life.active.inner -= usize::from(!span.body && life.active.inner > 0);
                if life.active.inner == 0 {
                    life.active.within = None;
                }
            }
        }
        let Some(kept) = kept.filter(|_| self.whole.selection.has(span.strand)) else {
            return;
        };
        let call = &kept.span.span;
        let is_of =
            |given: &mut Given| (given.function, given.enter) == (call.function, span.span.enter);
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
        let lane = self.lives.at(span.slot).map_or(0, |life| life.active.lane);
        if lane > 0
            && let Some(further) = self.further(span.strand)
        {
            further.takes(call.enter, call.exit);
            further.calls += 1;
        }
        let generation = self.modules.generation(span.span.enter);
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
        let container = kept.span.around.filter(|_| call.inlined);
        let site = container.map_or(call.caller, |around| Addr(around.0 | CONTAINER));
        let record = record::Call {
            strand: numbers::lane(span.strand, lane) & StrandId::NUMBER,
            thread: span.thread as u32,
            function: id(&mut met.functions, call.function),
            site: id(&mut met.sites, site),
            inlined: call.inlined,
            enter: call.enter,
            exit: call.exit,
            own: call.own(),
            depth: call.depth as u32,
            // What is cut is no duration of its function's.
            end: match kept.late && self.whole.lives {
                true => End::Unwound,
                false => call.end,
            },
            values,
        };
        self.calls += 1;
        self.write(&Record::Call(record));
    }
}

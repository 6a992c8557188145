//! From strands to tracks.
//!
//! A strand's calls are slices of its track. Within them it may do nothing itself, and then a slice
//! more says what goes on: `suspended`, or what it waits for; or the strand that runs in its place,
//! `fiber 3` on the thread that runs it, `coroutine 12` in the call that resumed that. So a slice's
//! own time is time that it ran.
//!
//! Flows lead from who resumed a strand to where it goes on, and from who made it to its first
//! call. They begin in the slice that begins at that moment, else in an instant: the viewer draws
//! them from a slice's end if it begins before.

use super::ended::Ended;
use super::numbers;
use super::row::{Active, Leaf, Meanwhile, Row, label};
use crate::aside::{Activation, Aside};
use crate::by_slot::BySlot;
use crate::filter::{Filterable, Kept, Shown};
use crate::names::printable;
use crate::notes;
use crate::sched::{self, Between, Stretches};
use crate::strand_list::Makers;
use crate::values::{Recorded, Waiting, named_values};
use crate::verbs::export::selection::Selection;
use crate::verbs::export::spill::{Spill, Stream};
use crate::waits::{Labels, is_no_wait};
use heddle_calls::{End, Functions, Key};
use heddle_perfetto::{Annotation, Begin, Clock, Name, Sequence, Value};
use heddle_strands::{Call, Kind, Sink, Strand, StrandId, StrandSpan};
use heddle_trace_file::{Addr, Callee, Event, EventKind, Made, Nanos, Process, Shapes};
use rustc_hash::FxHashMap;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

/// Calls that may be open on a track. Perfetto's trace processor drops what begins when 512 slices
/// are open, and takes the end of what it dropped for that of another; within the innermost call
/// may be a slice that is none, and an instant.
pub const DEEPEST: u64 = 500;

/// What all parts of an export have in common.
pub struct Whole<'a> {
    pub spill: &'a Spill,
    pub clock: Clock,
    pub selection: Selection,
    /// By process: the number of sequences before its own.
    pub sequences: Vec<u32>,
    /// Names of what threads wait for.
    pub labels: Labels,
    /// By process, of which all events are exported: the indices of its threads, by the numbers of
    /// the makings by which they were created.
    pub created: Vec<HashMap<u32, usize>>,
    pub shapes: &'a Shapes,
    /// When threads were off their processors, if that is known.
    pub off: Option<Arc<Stretches>>,
    /// By process: when it ended with all its strands, if that was before the range and the trace
    /// did.
    pub ends: Vec<Option<Nanos>>,
    /// By process: what is shown of it.
    pub shown: Vec<Shown>,
    /// Calls that may be open on a track: see [`DEEPEST`].
    pub deepest: u64,
}

/// The tracks of a part of a process.
pub struct Rows<'a> {
    whole: &'a Whole<'a>,
    process: &'a Process,
    index: usize,
    pub pen: Pen<'a>,
    /// Strands that have ended.
    pub ended: Stream<'a>,
    functions: Option<Functions<'static>>,
    /// The functions, when there is nothing more to come.
    pub keys: Vec<Key>,
    /// Calls that were exported.
    pub calls: u64,
    /// Calls that were left out because they are too deep.
    pub deep: u64,
    /// Strands that were exported.
    pub strands: u64,
    /// Their kinds.
    pub kinds: HashSet<Kind>,
    /// Who creates threads.
    pub makers: Makers,
    rows: BySlot<Row>,
    aside: Aside<Active>,
    /// Threads by index: their own strand, and the one that they run.
    own: FxHashMap<usize, StrandId>,
    running: FxHashMap<usize, StrandId>,
    /// By thread: the coroutines that it runs, innermost last, each with the strand on whose calls.
    /// A coroutine may be there twice: another thread goes on with it before the call returns that
    /// has suspended it.
    within: FxHashMap<usize, Vec<(StrandId, StrandId)>>,
    resumptions: u64,
    waiting: Waiting,
    off: Option<Between>,
}

/// Writes events.
pub struct Pen<'a> {
    pub events: Stream<'a>,
    pub sequence: Sequence,
    /// The time that is shown. Slices are within it; moments that are not are left out.
    range: Range<u64>,
}

impl Pen<'_> {
    #[inline]
    fn begin(&mut self, time: u64, track: u64, what: &Begin<'_>) {
        let sequence = &mut self.sequence;
        self.events
            .append(|bytes| sequence.begin(bytes, time, track, what));
    }

    #[inline]
    fn end(&mut self, time: u64, track: u64) {
        let sequence = &mut self.sequence;
        self.events.append(|bytes| sequence.end(bytes, time, track));
    }

    #[cold]
    fn end_with(&mut self, time: u64, track: u64, texts: &[(String, String)]) {
        let sequence = &mut self.sequence;
        self.events
            .append(|bytes| sequence.end_with(bytes, time, track, texts));
    }

    fn instant(&mut self, time: u64, track: u64, what: &Begin<'_>) {
        if !self.range.contains(&time) {
            return;
        }
        let sequence = &mut self.sequence;
        self.events
            .append(|bytes| sequence.instant(bytes, time, track, what));
    }

    /// Writes the beginning of what a strand does that does not call, if it is not written; this
    /// flow begins with it.
    fn begin_leaf(&mut self, row: &mut Row, flow: Option<u64>) {
        let Some(leaf) = row.active.leaf.as_mut().filter(|leaf| !leaf.written) else {
            return;
        };
        if leaf.since >= self.range.end {
            return;
        }
        leaf.written = true;
        let text;
        let name = match (leaf.what, &row.active.waits) {
            (Meanwhile::Suspended | Meanwhile::Blocked, None) => Name::Interned(numbers::SUSPENDED),
            (Meanwhile::Suspended | Meanwhile::Blocked, Some(reason)) => {
                text = format!("waits: {}", printable(reason));
                Name::Text(&text)
            }
            (Meanwhile::Hosts(other, kind) | Meanwhile::Calls(other, kind), _) => {
                text = label(other, kind);
                Name::Text(&text)
            }
        };
        let what = Begin {
            category: numbers::STRAND,
            flows: flow.as_slice(),
            ..Begin::named(name)
        };
        let since = leaf.since.max(self.range.start);
        self.begin(since, row.track(), &what);
    }
}

impl<'a> Rows<'a> {
    /// For a part of the process with this index.
    pub fn new(whole: &'a Whole<'a>, process: &'a Process, index: usize) -> Self {
        Rows {
            whole,
            process,
            index,
            pen: Pen {
                events: whole.spill.stream(),
                sequence: Sequence::new(0, whole.clock, 0),
                range: whole.shown[index].range.start.0..whole.shown[index].range.end.0,
            },
            ended: whole.spill.stream(),
            functions: None,
            keys: Vec::new(),
            calls: 0,
            deep: 0,
            strands: 0,
            kinds: HashSet::new(),
            makers: Makers::default(),
            rows: BySlot::default(),
            aside: Aside::default(),
            own: FxHashMap::default(),
            running: FxHashMap::default(),
            within: FxHashMap::default(),
            resumptions: 0,
            waiting: Waiting::default(),
            off: whole.off.as_ref().map(|off| Between::new(off, index)),
        }
    }

    /// What happens next with the strand in this slot belongs to its activation on this thread,
    /// which `begins` now or is open.
    #[inline]
    fn turn_to(&mut self, slot: u32, thread: usize, begins: bool) {
        turn_to(&mut self.rows, &mut self.aside, slot, thread, begins);
    }

    /// The same of this strand's, which is open.
    fn turn(&mut self, strand: StrandId, thread: usize) {
        if let Some(slot) = self.rows.slot(strand) {
            self.turn_to(slot, thread, false);
        }
    }

    fn shown(&self, strand: StrandId) -> bool {
        self.whole.selection.has(strand)
    }

    /// Has `strand` do something else than call from now on.
    fn begin_leaf(&mut self, strand: StrandId, what: Meanwhile, since: u64) {
        if let Some(row) = self.rows.of_mut(strand) {
            row.settle(&mut self.pen, since);
            row.active.leaf = Some(Leaf {
                since,
                what,
                written: false,
            });
        }
    }

    /// Begins a flow at `by`, which resumes `strand` now.
    fn depart(&mut self, by: StrandId, strand: StrandId, kind: Kind, time: u64) -> u64 {
        let flow = numbers::resumption(self.index, self.resumptions);
        self.resumptions += 1;
        // The reader must meet its beginning before its end, which may be at the same time.
        match self.rows.of_mut(by) {
            Some(row) if row.begins_leaf(time) => self.pen.begin_leaf(row, Some(flow)),
            _ => self.moment(by, time, &format!("resumes {}", label(strand, kind)), flow),
        }
        flow
    }

    /// Writes an instant from which a flow leads away.
    fn moment(&mut self, strand: StrandId, time: u64, text: &str, flow: u64) {
        let what = Begin {
            category: numbers::STRAND,
            flows: &[flow],
            ..Begin::named(Name::Text(text))
        };
        let track = self.rows.of_mut(strand).map_or(strand.unique(), Row::track);
        self.pen.instant(time, track, &what);
    }

    /// An activation of `id` has ended, and `outer` runs on. Where that runs within a call of `id`
    /// itself, which it has destroyed, the time of this call is that of `outer` still.
    fn hands_back(&mut self, thread: usize, outer: StrandId, id: StrandId, time: u64) {
        let within = self.within.get(&thread);
        if within.is_some_and(|within| within.contains(&(outer, id)))
            && let Some(kind) = self.rows.of(outer).map(|row| row.kind)
            && self.rows.of(id).is_some_and(|row| row.active.open > 0)
        {
            self.begin_leaf(id, Meanwhile::Calls(outer, kind), time);
        }
    }

    /// The thread's innermost activation of this coroutine has ended: on whose calls it was.
    fn left(&mut self, thread: usize, id: StrandId) -> Option<StrandId> {
        let within = self.within.get_mut(&thread)?;
        let at = within.iter().rposition(|&(inner, _)| inner == id)?;
        let (_, outer) = within[at];
        within.truncate(at);
        Some(outer)
    }

    fn tid(&self, thread: usize) -> Annotation {
        let tid = self
            .process
            .threads()
            .get(thread)
            .map_or(0, |thread| thread.tid());
        Annotation {
            name: numbers::THREAD,
            value: Value::Number(tid.into()),
        }
    }

    /// The strand has ended; `None`: it goes on, as far as is known.
    fn end(&mut self, strand: &Strand, died: Option<Nanos>) {
        let others = self.aside.take(strand.slot);
        if let Some(mut row) = self.rows.remove(strand) {
            let mut end = |row: &mut Row| match died {
                Some(Nanos(died)) => row.settle(&mut self.pen, died),
                None if row.shown => self.pen.begin_leaf(row, None),
                None => {}
            };
            end(&mut row);
            for (_, active) in others {
                row.active = active;
                end(&mut row);
            }
            if row.shown {
                self.strands += 1;
                self.kinds.insert(row.kind);
                for lane in 0..row.lanes {
                    let ended = Ended {
                        uuid: numbers::lane(strand.id, lane),
                        died,
                        ..Ended::new(strand)
                    };
                    self.ended.append(|bytes| ended.write(bytes));
                }
            }
        }
        if self.rows.is_empty() {
            // There may be ten thousand threads, and none of them has more to say.
            let functions = self.functions.take();
            self.keys = functions.map_or_else(Vec::new, |functions| functions.keys().to_vec());
            self.pen.events.rest();
            self.ended.rest();
        }
    }

    /// The slice of a call begins, on the track that its activation is on.
    #[inline]
    fn begin(&mut self, call: &Call, given: Option<Recorded>) {
        let tid = call.frame.map(|_| self.tid(call.thread));
        let Nanos(time) = call.enter;
        let Some(row) = self.rows.at(call.slot) else {
            return;
        };
        row.begun = true;
        row.active.begun += 1;
        if !row.shown {
            return;
        }
        if row.active.begun > self.whole.deepest {
            self.deep += 1;
            return;
        }
        self.calls += 1;
        let function = number(self.process, &mut self.functions, call.function, call.enter);
        let mut what = Begin::call(function, numbers::CALL);
        let annotations;
        if let Some((frame, tid)) = call.frame.zip(tid) {
            let pointer = Annotation {
                name: numbers::FRAME,
                value: Value::Pointer(frame.address().0),
            };
            let index = frame.resume_index().map(|index| Annotation {
                name: numbers::RESUME_INDEX,
                value: Value::Number(index.into()),
            });
            annotations = [tid, pointer, index.unwrap_or(pointer)];
            what.annotations = &annotations[..if index.is_some() { 3 } else { 2 }];
        }
        let arriving = std::mem::take(&mut row.arriving);
        what.arriving = &arriving;
        let texts = given.map(|given| named_values(&given, self.whole.shapes));
        what.texts = texts.as_deref().unwrap_or_default();
        self.pen.begin(time, row.track(), &what);
    }

    /// What the strand does that does not call is cut at this time.
    fn settle(&mut self, strand: &Strand, Nanos(time): Nanos) {
        let Some(row) = self.rows.at(strand.slot) else {
            return;
        };
        row.settle(&mut self.pen, time);
        for (_, active) in self.aside.take(strand.slot) {
            row.active = active;
            row.settle(&mut self.pen, time);
        }
    }

    /// Its process has ended, and with it what the strand does, and its calls.
    fn close(&mut self, strand: &Strand, Nanos(time): Nanos) {
        let Some(row) = self.rows.at(strand.slot) else {
            return;
        };
        let others = self.aside.take(strand.slot).into_iter();
        for active in others.map(|(_, active)| Some(active)).chain([None]) {
            // The activation that is looked at comes last.
            let latest = active.map(|active| std::mem::replace(&mut row.active, active));
            row.settle(&mut self.pen, time);
            row.active.open = 0;
            let open = std::mem::take(&mut row.active.begun).min(self.whole.deepest);
            if row.shown {
                (0..open).for_each(|_| self.pen.end(time, row.track()));
            }
            if let Some(latest) = latest {
                row.active = latest;
            }
        }
    }

    /// Writes when the thread was off its processor before `time`, but for what is shown anyway:
    /// that it waits, or that its strand is suspended. `call`: since when it was in which call into
    /// the kernel.
    #[inline]
    fn processor(&mut self, thread: usize, time: Nanos, call: Option<(Nanos, &[u8])>) {
        if self.off.is_some() {
            self.off_processor(thread, time, call);
        }
    }

    fn off_processor(&mut self, thread: usize, time: Nanos, call: Option<(Nanos, &[u8])>) {
        let Some(off) = &mut self.off else { return };
        while let Some(stretch) = off.next(thread, time) {
            let id = self.running.get(&thread).copied();
            if let Some(slot) = id.and_then(|id| self.rows.slot(id)) {
                turn_to(&mut self.rows, &mut self.aside, slot, thread, false);
            }
            let row = id.and_then(|id| self.rows.of_mut(id));
            let Some(row) = row.filter(|row| row.shown && row.active.leaf.is_none()) else {
                continue;
            };
            let shown = &self.whole.shown[self.index];
            let cut = shown.cut(stretch.from, Some(stretch.to.min(time)));
            let cut = cut.filter(|_| shown.takes_thread(thread));
            let Some((from, Some(to))) = cut else {
                continue;
            };
            let text = sched::why_off(&stretch, call);
            let what = Begin {
                category: numbers::PROCESSOR,
                ..Begin::named(Name::Text(&text))
            };
            let track = row.track();
            self.pen.begin(from.0, track, &what);
            self.pen.end(to.0, track);
        }
    }

    /// The strand is suspended, on the first of its tracks that is free.
    fn takes_lane(&mut self, strand: StrandId) {
        if let Some(slot) = self.rows.slot(strand)
            && let Some(row) = self.rows.at(slot).filter(|row| !row.active.is_needed())
        {
            row.take_lane(self.aside.of(slot).map(|other| other.lane));
        }
    }

    /// A thread runs another stack: what its own track shows meanwhile.
    fn host(&mut self, thread: usize, what: Meanwhile, time: u64) {
        let Some(own) = self.own.get(&thread).and_then(|own| self.rows.of(*own)) else {
            return;
        };
        if own.does(|does| matches!(does, Meanwhile::Suspended | Meanwhile::Hosts(..))) {
            let own = own.id;
            self.begin_leaf(own, what, time);
        }
    }
}

#[inline]
fn turn_to(
    rows: &mut BySlot<Row>,
    aside: &mut Aside<Active>,
    slot: u32,
    thread: usize,
    begins: bool,
) {
    if let Some(row) = rows.at(slot).filter(|row| row.kind == Kind::Coroutine) {
        let now = (&mut row.on, &mut row.active);
        aside.turn_to(slot, now, thread, begins);
        if begins && !row.active.is_needed() {
            row.take_lane(aside.of(slot).map(|other| other.lane));
        }
    }
}

/// The number of a function's name and location.
#[inline]
fn number(
    process: &Process,
    known: &mut Option<Functions<'static>>,
    address: Addr,
    time: Nanos,
) -> u64 {
    let key = Key {
        address,
        generation: process.modules().generation(time),
    };
    let known = known.get_or_insert_with(Functions::default);
    numbers::function(known.id(key).0)
}

impl Row {
    /// Whether a slice that is not written begins now.
    fn begins_leaf(&self, time: u64) -> bool {
        let leaf = self.active.leaf.as_ref();
        leaf.is_some_and(|leaf| leaf.since == time && !leaf.written)
    }

    /// Ends what it does that does not call.
    #[inline]
    fn settle(&mut self, pen: &mut Pen<'_>, time: u64) {
        if self.active.leaf.is_some() {
            self.settle_leaf(pen, time);
        }
    }

    fn settle_leaf(&mut self, pen: &mut Pen<'_>, time: u64) {
        let Some(leaf) = &self.active.leaf else {
            return;
        };
        let what = leaf.what;
        let since = leaf.since.max(pen.range.start);
        let time = time.max(leaf.since).min(pen.range.end);
        if self.shown && (leaf.written || since < time) {
            pen.begin_leaf(self, None);
            pen.end(time, self.track());
        }
        self.active.leaf = None;
        if matches!(what, Meanwhile::Suspended | Meanwhile::Blocked) {
            self.active.waits = None;
        }
    }
}

impl Sink for Rows<'_> {
    fn born(&mut self, strand: &Strand) {
        let (id, kind) = (strand.id, strand.kind);
        if self.own.is_empty() {
            // Each part begins with a thread, which is in no other part.
            let number = self.whole.sequences[self.index].saturating_add(id.number() as u32);
            self.pen.sequence = Sequence::new(number, self.whole.clock, id.unique());
        }
        let mut row = Row::new(id, kind, self.shown(id), strand.thread());
        if kind == Kind::Thread {
            self.own.insert(strand.thread(), id);
            self.running.insert(strand.thread(), id);
            let making = self.process.threads()[strand.thread()].made_by();
            let created = &self.whole.created[self.index];
            if making.is_some_and(|making| created.contains_key(&making)) {
                row.arriving.push(numbers::birth(id));
            }
        } else if let Some(parent) = strand.parent
            && self.pen.range.contains(&strand.born.0)
            && row.shown
            && self.shown(parent)
        {
            let flow = numbers::birth(id);
            let text = format!("makes {}", label(id, kind));
            self.moment(parent, strand.born.0, &text, flow);
            row.arriving.push(flow);
        }
        self.rows.insert(strand, row);
    }

    fn rests(&mut self, id: StrandId, since: Nanos) {
        self.begin_leaf(id, Meanwhile::Suspended, since.0);
    }

    fn resumed(&mut self, id: StrandId, by: Option<StrandId>, thread: usize, Nanos(time): Nanos) {
        self.processor(thread, Nanos(time), None);
        let Some(slot) = self.rows.slot(id) else {
            return;
        };
        let latest = self.rows.at(slot).map_or(thread, |row| row.thread);
        self.turn_to(slot, latest, false);
        let Some(row) = self.rows.of(id) else {
            return;
        };
        let (kind, shown) = (row.kind, row.shown);
        let rested = row.does(|does| does == Meanwhile::Suspended);
        let activation = kind == Kind::Coroutine && !(row.active.open > 0 && rested);
        let outer = self.running.insert(thread, id);
        if activation {
            if let Some(outer) = outer.filter(|&outer| outer != id) {
                self.turn(outer, thread);
                self.begin_leaf(outer, Meanwhile::Calls(id, kind), time);
            }
        } else if self.own.get(&thread) != Some(&id) {
            self.host(thread, Meanwhile::Hosts(id, kind), time);
        }
        let is_shown = shown && self.pen.range.contains(&time);
        let by = by.filter(|&by| is_shown && self.shown(by) && by != id);
        if let Some(by) = by {
            self.turn(by, thread);
        }
        let flow = by.map(|by| self.depart(by, id, kind, time));
        let tid = self.tid(thread);
        if rested && let Some(row) = self.rows.at(slot) {
            row.settle(&mut self.pen, time);
            if !activation {
                // The fiber that it is on has moved.
                row.on = thread as u32;
            }
        }
        self.turn_to(slot, thread, true);
        let Some(row) = self.rows.at(slot) else {
            return;
        };
        row.settle(&mut self.pen, time);
        row.active.returned = false;
        row.thread = thread;
        if activation && let Some(outer) = outer.filter(|&outer| outer != id) {
            self.within.entry(thread).or_default().push((id, outer));
        }
        if activation || !row.begun {
            row.arriving.extend(flow);
        } else if shown {
            let what = Begin {
                category: numbers::STRAND,
                arriving: flow.as_slice(),
                annotations: &[tid],
                ..Begin::named(Name::Interned(numbers::RESUMED))
            };
            self.pen.instant(time, row.track(), &what);
        }
    }

    fn suspended(&mut self, id: StrandId, thread: usize, Nanos(time): Nanos) {
        self.processor(thread, Nanos(time), None);
        self.turn(id, thread);
        let Some(row) = self.rows.of_mut(id).filter(|row| !row.cut) else {
            return;
        };
        let latest = row.thread;
        if std::mem::take(&mut row.active.returned) {
            let kind = row.kind;
            if let Some(outer) = self.left(thread, id) {
                self.running.insert(thread, outer);
                self.turn(outer, thread);
                let calls = Meanwhile::Calls(id, kind);
                let row = self.rows.of_mut(outer);
                if let Some(row) = row.filter(|row| row.does(|does| does == calls)) {
                    row.settle(&mut self.pen, time);
                }
                self.hands_back(thread, outer, id, time);
            }
        } else if self.own.get(&thread) != Some(&id) {
            self.host(thread, Meanwhile::Suspended, time);
        }
        // A coroutine that was destroyed does not wait, even where one of its activations, which
        // handed over by a call, is still open.
        if latest != thread {
            self.turn(id, latest);
        } else if self.rows.of(id).is_some_and(|row| !row.destroyed) {
            self.takes_lane(id);
            self.begin_leaf(id, Meanwhile::Suspended, time);
        }
    }

    #[inline]
    fn enter(&mut self, call: &Call) {
        self.enter_of(call, true);
    }

    #[inline]
    fn leave(&mut self, span: &StrandSpan) {
        let late = false;
        self.leave_of(span, Some(Kept { span, late }));
    }

    fn unmatched(&mut self, id: StrandId, thread: usize, callee: Callee, time: Nanos) {
        self.waiting.clear(thread);
        self.processor(thread, time, None);
        self.turn(id, thread);
        let Some(row) = self.rows.of_mut(id).filter(|row| row.shown) else {
            return;
        };
        let function = match callee {
            Callee::Known(address) => {
                Some(number(self.process, &mut self.functions, address, time))
            }
            Callee::Bits(_) | Callee::Unknown => None,
        };
        row.settle(&mut self.pen, time.0);
        let what = Begin {
            category: numbers::UNMATCHED,
            ..Begin::named(function.map_or(Name::Text("?"), Name::Interned))
        };
        self.pen.instant(time.0, row.track(), &what);
    }

    fn other(&mut self, id: StrandId, thread: usize, event: &Event<'_>) {
        if let EventKind::Values(values) = event.kind {
            return self.waiting.take(thread, values);
        }
        let call = match event.kind {
            EventKind::LongCall { since, text, .. } => Some((since, text)),
            _ => None,
        };
        self.processor(thread, event.time, call);
        self.turn(id, thread);
        self.makers.note(id, thread, event);
        let text;
        let category = match event.kind {
            EventKind::Mark { text: mark, .. } => {
                text = printable(&String::from_utf8_lossy(mark));
                numbers::MARK
            }
            EventKind::Gap {
                why,
                missing: count,
            } => {
                text = notes::gap(why, count);
                numbers::GAP
            }
            EventKind::Making {
                made: Made::Thread,
                number,
                ..
            } => {
                if let Some(&index) = self.whole.created[self.index].get(&number) {
                    let made = StrandId::of_thread(self.index, index);
                    let text = format!("makes {}", label(made, Kind::Thread));
                    self.moment(id, event.time.0, &text, numbers::birth(made));
                }
                return;
            }
            EventKind::StrandWaits { reason, .. } => {
                if let Some(row) = self.rows.of_mut(id) {
                    row.active.waits = Some(String::from_utf8_lossy(reason).into());
                }
                return;
            }
            EventKind::Wait(wait) if self.whole.shown[self.index].takes_thread(thread) => {
                let label = self.whole.labels.of_wait(self.index, wait);
                self.begin_leaf(id, Meanwhile::Blocked, event.time.0);
                if let Some(row) = self.rows.of_mut(id) {
                    row.active.waits = Some(label.as_ref().into());
                }
                return;
            }
            EventKind::WaitEnded { error, .. } => {
                let row = self.rows.of_mut(id);
                let blocked = row.filter(|row| row.does(|does| does == Meanwhile::Blocked));
                if let Some(row) = blocked {
                    // What lasts no time is not shown.
                    let time = if is_no_wait(error) { 0 } else { event.time.0 };
                    row.settle(&mut self.pen, time);
                }
                return;
            }
            _ => return,
        };
        let takes = self.whole.shown[self.index].takes_thread(thread);
        let Some(row) = self.rows.of_mut(id).filter(|row| row.shown && takes) else {
            return;
        };
        row.settle(&mut self.pen, event.time.0);
        let what = Begin {
            category,
            ..Begin::named(Name::Text(&text))
        };
        self.pen.instant(event.time.0, row.track(), &what);
    }

    fn ended(&mut self, strand: &Strand) {
        // Its calls are open still: it was blocked in one until it was killed, or is still.
        let cut = self.rows.of(strand.id).is_some_and(|row| row.cut);
        let end = self.whole.ends[self.index];
        if strand.kind == Kind::Thread && cut {
            let until = end.map_or(Nanos(u64::MAX), |end| end.max(strand.last));
            self.processor(strand.thread(), until, None);
        }
        let shown = &self.whole.shown[self.index];
        match (strand.died(), end) {
            (None, Some(end)) => {
                let end = end.max(strand.last);
                self.close(strand, end);
                self.end(strand, Some(end));
            }
            (Some(died), _) if died < shown.range.end => self.end(strand, Some(died)),
            (died, _) => {
                if died.is_some() || shown.until >= shown.range.end {
                    self.settle(strand, shown.range.end);
                }
                self.end(strand, None);
            }
        }
    }
}

impl Filterable for Rows<'_> {
    const FOLLOWS: bool = true;

    #[inline]
    fn enter_of(&mut self, call: &Call, kept: bool) {
        self.processor(call.thread, call.enter, None);
        let Nanos(time) = call.enter;
        let given = self.waiting.of_enter(call);
        self.turn_to(call.slot, call.thread, call.depth == 0);
        let Some(row) = self.rows.at(call.slot) else {
            return;
        };
        row.settle(&mut self.pen, time);
        row.active.open += 1;
        row.destroyed |= call.destroys;
        row.active.returned = false;
        if kept && self.pen.range.contains(&time) {
            self.begin(call, given);
        }
    }

    #[inline]
    fn leave_of(&mut self, span: &StrandSpan, kept: Option<Kept<'_>>) {
        if span.span.end != End::Open {
            self.processor(span.thread, span.span.exit, None);
        }
        let result = self.waiting.of_leave(span);
        self.turn_to(span.slot, span.thread, false);
        let Some(row) = self.rows.at(span.slot) else {
            return;
        };
        if span.span.end == End::Open {
            // Its slice has no end, as the call has none.
            row.cut = true;
            return;
        }
        let Nanos(mut time) = span.span.exit;
        match &row.active.leaf {
            // It ended at the latest when its strand went on, or was gone: it did not run since
            // then.
            Some(leaf) if span.span.end == End::Unwound && leaf.what == Meanwhile::Suspended => {
                time = leaf.since;
            }
            _ => row.settle(&mut self.pen, time),
        }
        row.active.returned = span.body && span.span.depth == 0;
        row.active.open -= 1;
        if kept.is_none() {
            return;
        }
        let is_within = row.active.begun <= self.whole.deepest;
        row.active.begun = row.active.begun.saturating_sub(1);
        // What goes on behind what is shown has no end.
        if row.shown && is_within && span.span.exit.0 < self.pen.range.end {
            let time = time.max(self.pen.range.start);
            let track = row.track();
            match result {
                None => self.pen.end(time, track),
                Some(result) => {
                    let texts = named_values(&result, self.whole.shapes);
                    self.pen.end_with(time, track, &texts);
                }
            }
        }
    }

    fn was_open(&mut self, call: &Call) {
        self.turn_to(call.slot, call.thread, false);
        self.begin(call, None);
    }
}

//! The filter itself: a sink between the engine and a verb's own.
//!
//! The own time of a call that is left out counts as its nearest caller's that is kept, as if it
//! had no hooks. With a time range, calls and their times are cut to it.

use super::before::Waits;
use super::learned::{Bits, Learning};
use super::left_out::{By, LeftOut};
use super::open::{Active, Base, Change, Fate, Life, Open};
use super::range::TimeRange;
use super::rules::Rules;
use super::verdict::Meant;
use crate::aside::Aside;
use crate::by_slot::BySlot;
use crate::values::Waiting;
use heddle_calls::End;
use heddle_strands::{Call, Decoded, Kind, Sink, Strand, StrandId, StrandSpan};
use heddle_trace_file::{Callee, Event, EventKind, Nanos};

/// A sink that a filter may be before.
pub trait Filterable: Sink {
    /// It is told of everything that happens, as without a filter, and of calls by
    /// [`Filterable::enter_of`] and [`Filterable::leave_of`], with what the filter makes of them:
    /// who shows what strands do beside calls has to follow their activations, of which a filter
    /// may keep no call.
    const FOLLOWS: bool = false;

    /// A call begins, which is `kept`, or ends before the time range.
    fn enter_of(&mut self, call: &Call, _kept: bool) {
        self.enter(call);
    }

    /// A call ended, with how it is shown if it is kept.
    fn leave_of(&mut self, span: &StrandSpan, _kept: Option<Kept<'_>>) {
        self.leave(span);
    }

    /// This call was open when the time range began: its enter is that time.
    fn was_open(&mut self, call: &Call) {
        self.enter(call);
    }

    /// A call returned that was open when the time range began. How long it took is not the span's
    /// duration.
    fn left_late(&mut self, span: &StrandSpan) {
        let mut span = *span;
        span.span.end = End::Unwound;
        self.leave(&span);
    }

    /// A call began by which a coroutine is run or destroyed, and is left out.
    fn body_left_out(&mut self, _call: &Call) {}

    /// A call of the strand began or ended now, and was left out.
    fn left_out(&mut self, _strand: StrandId) {}

    /// An event that is left out; who made a thread is of interest all the same.
    fn other_left_out(&mut self, _strand: StrandId, _thread: usize, _event: &Event<'_>) {}

    /// The strand has ended, and no call of it is kept.
    fn had_no_calls(&mut self, strand: &Strand) {
        self.ended(strand);
    }
}

/// A call as it is shown.
#[derive(Clone, Copy, Debug)]
pub struct Kept<'a> {
    /// Its depth and times are of what is kept, and within the time range.
    pub span: &'a StrandSpan,
    /// It was open when the time range began.
    pub late: bool,
}

/// Takes everything, for the walk that only learns.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nothing;

impl Sink for Nothing {}
impl Filterable for Nothing {}

/// A sink behind a filter.
pub struct Filtered<'f, S> {
    rules: &'f Rules<'f>,
    process: usize,
    inner: S,
    /// By [`Call::number`].
    meant: Vec<Option<Meant>>,
    lives: BySlot<Life>,
    aside: Aside<Active>,
    /// The first strand of this part of the trace.
    part: Option<StrandId>,
    learning: Option<Learning>,
    /// The calls that `--min-time` keeps.
    long: Option<&'f Bits>,
    /// Nothing is held back for the time range any more.
    begun: bool,
    /// Until then, for the walk that only learns.
    waits: Waits,
    turn: u64,
    left_out: LeftOut,
    /// Values whose call comes next: of one that is left out, they are, too.
    values: Waiting,
}

/// What is told when the time range begins.
enum Held {
    Call(Box<Call>),
    Change(StrandId, Change),
}

/// The sinks that were behind a filter, and what that left out.
pub fn unwrap<S>(decoded: Decoded<Filtered<'_, S>>) -> (Decoded<S>, LeftOut) {
    let mut left_out = LeftOut::default();
    let decoded = decoded.with(|sink| {
        left_out += sink.left_out;
        Some(sink.inner)
    });
    (decoded, left_out)
}

/// Whether `--min-time` keeps the call that this happens in, however short the call is. What takes
/// time in it does not keep it: a wait is shorter than the call that waits, so it is no reason to
/// look at one that is shorter than what was asked for. The recorder keeps such a call because it
/// can take back only the last record.
fn keeps_its_call(kind: &EventKind<'_>) -> bool {
    !matches!(
        kind,
        EventKind::ObjectMet { .. }
            | EventKind::Wait(_)
            | EventKind::WaitEnded { .. }
            | EventKind::Wake { .. }
            | EventKind::LongCall { .. }
    )
}

impl<'f, S> Filtered<'f, S> {
    pub(super) fn new(rules: &'f Rules<'f>, process: usize, inner: S) -> Self {
        let begun = rules.range.is_none_or(|range| range.from == Nanos(0));
        Filtered {
            rules,
            process,
            inner,
            meant: Vec::new(),
            lives: BySlot::default(),
            aside: Aside::default(),
            part: None,
            learning: None,
            long: None,
            begun,
            waits: Waits::default(),
            turn: 0,
            left_out: LeftOut::default(),
            values: Waiting::default(),
        }
    }

    pub(super) fn learning(self) -> Self {
        Filtered {
            learning: Some(Learning::default()),
            ..self
        }
    }

    /// What this part of the trace has taught, and its first strand.
    pub(super) fn learned(self) -> (Option<StrandId>, Learning) {
        (self.part, self.learning.unwrap_or_default())
    }

    /// The sink behind the filter.
    pub fn inner(&mut self) -> &mut S {
        &mut self.inner
    }

    fn meant(&mut self, call: &Call) -> Meant {
        let index = call.number as usize;
        if let Some(Some(meant)) = self.meant.get(index) {
            return *meant;
        }
        let meant = self.rules.meant(self.process, call.function, call.enter);
        if index >= self.meant.len() {
            self.meant.resize(index + 1, None);
        }
        self.meant[index] = Some(meant);
        meant
    }

    /// The innermost call of the strand in this slot spent the time until now, if the strand runs.
    fn spend(&mut self, slot: u32, time: Nanos) {
        let range = self.rules.range;
        if let Some(life) = self.lives.at(slot) {
            if let Some(range) = range
                && life.active.runs
                && let Some(top) = life.active.open.last_mut()
            {
                top.outside += range.outside(life.active.since, time);
            }
            life.active.since = time;
        }
    }

    /// What happens next with the strand in this slot belongs to its activation on this thread,
    /// which `begins` now or is open.
    fn turn_to(&mut self, slot: u32, thread: usize, begins: bool) {
        let Some(life) = self.lives.at(slot) else {
            return;
        };
        if life.kind == Kind::Coroutine {
            let now = (&mut life.on, &mut life.active);
            self.aside.turn_to(slot, now, thread, begins);
        }
    }

    /// Whether a time range leaves what happens now.
    fn in_range(&self, time: Nanos) -> bool {
        self.rules.range.is_none_or(|range| range.has(time))
    }

    fn next_turn(&mut self) -> u64 {
        self.turn += 1;
        self.turn
    }
}

impl<S: Filterable> Filtered<'_, S> {
    /// It is `time`: the range may begin.
    #[inline]
    fn reach(&mut self, time: Nanos) {
        if !self.begun {
            self.reach_range(time);
        }
    }

    #[cold]
    fn reach_range(&mut self, time: Nanos) {
        if let Some(range) = self.rules.range.filter(|range| range.from <= time) {
            self.begin_range(range);
        }
    }

    fn begin_range(&mut self, range: TimeRange) {
        self.begun = true;
        let mut held: Vec<(u64, Held)> = Vec::new();
        let waits: Vec<_> = self.waits.take().collect();
        for wait in waits {
            self.learn_wait(wait.strand, EventKind::Wait(wait.wait.wait()));
        }
        for life in self.lives.each() {
            if let Some((turn, change)) = life.change.take() {
                held.push((turn, Held::Change(life.id, change)));
            }
        }
        let active = self.lives.each().map(|life| &mut life.active);
        for active in active.chain(self.aside.each()) {
            for open in &mut active.open {
                if matches!(open.fate, Fate::Waits(_))
                    && let Fate::Waits(call) = std::mem::replace(&mut open.fate, Fate::Told)
                {
                    held.push((open.turn, Held::Call(call)));
                }
            }
        }
        held.sort_by_key(|(turn, _)| *turn);
        for (_, held) in held {
            match held {
                Held::Call(mut call) => {
                    call.enter = range.from;
                    self.inner.was_open(&call);
                }
                _ if S::FOLLOWS => {}
                Held::Change(id, Change::Resumed(by, thread)) => {
                    self.learn_run(id, thread);
                    self.inner.resumed(id, by, thread, range.from);
                }
                Held::Change(id, Change::Suspended(thread)) => {
                    self.inner.suspended(id, thread, range.from);
                }
            }
        }
    }

    /// Tells that a strand goes on or does not, or holds it back for the time range.
    fn change(&mut self, strand: StrandId, change: Change, time: Nanos) {
        if S::FOLLOWS {
            match change {
                Change::Resumed(by, thread) => self.inner.resumed(strand, by, thread, time),
                Change::Suspended(thread) => self.inner.suspended(strand, thread, time),
            }
        } else if !self.begun {
            let turn = self.next_turn();
            if let Some(life) = self.lives.of_mut(strand) {
                life.change = Some((turn, change));
            }
        } else if self.in_range(time) {
            match change {
                Change::Resumed(by, thread) => self.inner.resumed(strand, by, thread, time),
                Change::Suspended(thread) => self.inner.suspended(strand, thread, time),
            }
        }
    }

    fn learn_run(&mut self, strand: StrandId, thread: usize) {
        if let Some(learning) = &mut self.learning {
            learning.with(strand, thread);
        }
    }

    fn learn_wait(&mut self, strand: StrandId, kind: EventKind<'_>) {
        if let Some(learning) = &mut self.learning
            && let EventKind::Wait(wait) = kind
        {
            learning.waits(strand, wait, &self.rules.tids[self.process]);
        }
    }

    /// Before the time range: what of the event lasts until that begins.
    fn hold_back(&mut self, strand: StrandId, thread: usize, event: &Event<'_>) {
        match event.kind {
            EventKind::Wait(wait) => {
                let life = self.lives.of(strand);
                let open = life.map_or(0, |life| life.active.open.len());
                self.waits.begin((strand, thread), wait, open);
            }
            EventKind::WaitEnded { .. } => self.waits.end(thread),
            _ => {}
        }
    }

    /// What leaves out a call that began now, beside the patterns and the depth.
    fn left_out_by(&self, call: &Call, number: u64) -> Option<By> {
        let late = |range: TimeRange| call.enter >= range.to;
        if self.rules.range.is_some_and(late) {
            return Some(By::TimeRange);
        }
        let short = self.long.is_some_and(|long| !long.has(number));
        short.then_some(By::MinTime)
    }

    /// A call that was told of as it is shown, and whether it was open when the time range began;
    /// `own` is its own time.
    fn kept(&self, span: &StrandSpan, open: &Open, own: u64) -> (StrandSpan, bool) {
        let mut span = *span;
        let call = &mut span.span;
        call.depth = open.depth;
        if !open.around.direct {
            call.inlined = false;
            span.around = open.around.nearest;
        }
        let mut late = false;
        let mut own = own;
        if let Some(range) = self.rules.range {
            late = call.enter < range.from;
            if call.exit >= range.to {
                // It was open at the range's end.
                call.end = End::Open;
            }
            call.enter = range.nearest(call.enter);
            call.exit = range.nearest(call.exit);
            own = own.saturating_sub(open.outside);
        }
        call.callees = Nanos(call.duration().0.saturating_sub(own));
        let late = late && call.end == End::Returned;
        (span, late)
    }

    /// Tells of the end of a call that was told of.
    fn tell_end(&mut self, (span, late): (StrandSpan, bool)) {
        match late {
            true => self.inner.left_late(&span),
            false => self.inner.leave(&span),
        }
    }
}

impl<S: Filterable> Sink for Filtered<'_, S> {
    fn born(&mut self, strand: &Strand) {
        if self.part.is_none() {
            self.part = Some(strand.id);
            let learned = self.rules.learned.as_ref();
            let learned = learned.filter(|_| self.rules.min_time.is_some());
            self.long = learned.and_then(|learned| learned.long.get(&strand.id));
        }
        self.lives.insert(strand, Life::new(strand));
        if S::FOLLOWS || self.in_range(strand.born) {
            self.inner.born(strand);
        } else {
            // Its maker made it before the time range.
            let mut strand = strand.clone();
            strand.parent = None;
            self.inner.born(&strand);
        }
    }

    fn rests(&mut self, strand: StrandId, since: Nanos) {
        let range = self.rules.range.filter(|_| !S::FOLLOWS);
        let since = range.map_or(since, |range| range.nearest(since));
        self.inner.rests(strand, since);
    }

    fn named(&mut self, strand: &Strand) {
        self.inner.named(strand);
    }

    fn resumed(&mut self, strand: StrandId, by: Option<StrandId>, thread: usize, time: Nanos) {
        self.reach(time);
        let resumer = by.and_then(|by| {
            let slot = self.lives.slot(by)?;
            self.turn_to(slot, thread, false);
            let life = self.lives.at(slot)?;
            // One coroutine may have given way to the next, which then stands on what it stood on.
            let base = match life.active.open.is_empty() {
                true => life.active.base,
                false => Base {
                    around: life.active.around(),
                    under: Some(slot),
                },
            };
            Some((base, life.active.runs))
        });
        let mut under = None;
        if let Some(slot) = self.lives.slot(strand) {
            let latest = self.lives.at(slot).map(|life| life.latest);
            self.turn_to(slot, latest.unwrap_or(thread), false);
            if let Some(life) = self.lives.at(slot)
                && life.active.rests
                && !life.active.open.is_empty()
            {
                // The fiber that it is on has moved.
                life.on = thread as u32;
            }
            self.turn_to(slot, thread, true);
        }
        if let Some(life) = self.lives.of_mut(strand) {
            (life.latest, life.active.rests) = (thread, false);
            // A thread that leaves a stack for the coroutine's was told to be suspended before.
            let nested = resumer.is_some_and(|(_, runs)| runs);
            if life.kind == Kind::Coroutine && (life.active.open.is_empty() || nested) {
                life.active.base = resumer.map_or(Base::NOTHING, |(base, _)| base);
                under = life.active.base.under;
            }
            life.active.runs = true;
            life.active.since = time;
        }
        if let Some(under) = under {
            self.turn_to(under, thread, false);
            self.spend(under, time);
            if let Some(life) = self.lives.at(under) {
                life.active.runs = life.id == strand;
            }
        }
        if self.begun && self.in_range(time) {
            self.learn_run(strand, thread);
        }
        self.change(strand, Change::Resumed(by, thread), time);
    }

    fn suspended(&mut self, strand: StrandId, thread: usize, time: Nanos) {
        self.reach(time);
        let Some(slot) = self.lives.slot(strand) else {
            return;
        };
        self.turn_to(slot, thread, false);
        self.spend(slot, time);
        if let Some(life) = self.lives.at(slot) {
            (life.active.runs, life.active.rests) = (false, true);
            if life.latest != thread && !self.begun && !S::FOLLOWS {
                // Another thread has gone on with it before.
                return;
            }
        }
        self.change(strand, Change::Suspended(thread), time);
    }

    fn idled(&mut self, strand: StrandId, from: Nanos, to: Nanos) {
        if S::FOLLOWS {
            self.inner.idled(strand, from, to);
        }
        let Some(range) = self.rules.range else {
            return;
        };
        let life = self.lives.of_mut(strand);
        if let Some(top) = life.and_then(|life| life.active.open.last_mut()) {
            top.outside += range.outside(from, to);
        }
    }

    fn enter(&mut self, call: &Call) {
        self.reach(call.enter);
        let meant = self.meant(call);
        let number = self.left_out.calls;
        self.left_out.calls += 1;
        let turn = self.next_turn();
        self.turn_to(call.slot, call.thread, call.depth == 0);
        self.spend(call.slot, call.enter);
        let beside = self.left_out_by(call, number);
        let begun = self.begun;
        let Some(life) = self.lives.at(call.slot) else {
            return;
        };
        (life.active.runs, life.active.rests) = (true, false);
        let top = life.active.open.last().filter(|_| call.depth > 0);
        let outermost = top.is_none();
        let (around, under, depth) = match top {
            Some(top) => {
                let told = !matches!(top.fate, Fate::LeftOut);
                (top.inside, None, top.depth + usize::from(told))
            }
            None => (life.active.base.around, life.active.base.under, 0),
        };
        let (mut inside, by_pattern) = self.rules.limits.enter(around, meant, call.function);
        let takes_thread = self.rules.takes_thread(self.process, call.thread);
        let by = (!takes_thread).then_some(By::Thread);
        let by = by.or(by_pattern).or(beside);
        if by.is_some() {
            (inside.nearest, inside.direct) = (around.nearest, false);
        }
        let mut told = Call { depth, ..*call };
        if !around.direct {
            (told.around, told.inlined) = (around.nearest, false);
        }
        let fate = match by {
            Some(by) => {
                self.left_out.count(by);
                Fate::LeftOut
            }
            None if begun => Fate::Told,
            None => Fate::Waits(Box::new(told)),
        };
        let tells = matches!(fate, Fate::Told);
        let lacks_body = call.body && matches!(fate, Fate::LeftOut);
        life.active.open.push(Open {
            fate,
            number,
            turn,
            around,
            inside,
            under,
            outermost,
            depth,
            left_out: 0,
            outside: 0,
            holds: false,
        });
        if S::FOLLOWS {
            self.inner.enter_of(call, by.is_none());
            return;
        }
        let values = self.values.of_enter(call);
        if tells {
            if let Some(values) = values {
                let event = values.event(call.enter);
                self.inner.other(call.strand, call.thread, &event);
            }
            self.inner.enter(&told);
        } else {
            if lacks_body && begun && self.in_range(call.enter) {
                self.inner.body_left_out(call);
            }
            self.inner.left_out(call.strand);
        }
    }

    fn leave(&mut self, span: &StrandSpan) {
        let time = span.span.exit;
        self.reach(time);
        self.turn_to(span.slot, span.thread, false);
        self.spend(span.slot, time);
        let open = self
            .lives
            .at(span.slot)
            .and_then(|life| life.active.open.pop());
        let Some(open) = open else { return };
        if !self.begun {
            let left = self
                .lives
                .at(span.slot)
                .map_or(0, |life| life.active.open.len());
            self.waits.left(span.strand, span.thread, left);
        }
        let own = span.span.own().0.saturating_add(open.left_out);
        let told = matches!(open.fate, Fate::Told);
        let mut holds = open.holds;
        let values = self.values.of_leave(span);
        if S::FOLLOWS {
            let kept = told.then(|| self.kept(span, &open, own));
            let kept = kept.as_ref();
            let kept = kept.map(|&(ref span, late)| Kept { span, late });
            self.inner.leave_of(span, kept);
        }
        if told {
            if let Some(values) = values {
                let event = values.event(time);
                self.inner.other(span.strand, span.thread, &event);
            }
            if !S::FOLLOWS {
                self.tell_end(self.kept(span, &open, own));
            }
            let long = self.rules.min_time.is_none_or(|least| {
                span.span.duration() >= least || span.span.end != End::Returned || holds
            });
            let learning = self.learning.as_mut();
            let counts = learning.is_none_or(|learning| {
                if long {
                    learning.long.set(open.number);
                }
                long
            });
            holds |= counts;
            if let Some(life) = self.lives.at(span.slot) {
                life.calls += u64::from(counts);
            }
        } else if matches!(open.fate, Fate::Waits(_)) {
            self.left_out.count(By::TimeRange);
        } else if !S::FOLLOWS {
            self.inner.left_out(span.strand);
        }
        let outer = if open.outermost {
            open.under
        } else {
            Some(span.slot)
        };
        if let Some(under) = outer.filter(|_| open.outermost) {
            self.turn_to(under, span.thread, false);
        }
        let outer = outer.and_then(|slot| self.lives.at(slot));
        let Some(outer) = outer else { return };
        if open.outermost {
            (outer.active.runs, outer.active.since) = (true, time);
        }
        if let Some(outer) = outer.active.open.last_mut() {
            outer.holds |= holds;
            if !told {
                outer.left_out = outer.left_out.saturating_add(own);
                outer.outside = outer.outside.saturating_add(open.outside);
            }
        }
    }

    fn unmatched(&mut self, strand: StrandId, thread: usize, function: Callee, time: Nanos) {
        self.reach(time);
        self.values.clear(thread);
        let takes_thread = self.rules.takes_thread(self.process, thread);
        let limits = self.rules.limits;
        let slot = self.lives.slot(strand);
        let life = slot.and_then(|slot| {
            self.turn_to(slot, thread, false);
            self.lives.at(slot)
        });
        let around = life.map(|life| life.active.around());
        let takes = around.is_none_or(|around| limits.takes_exit(around));
        if takes_thread && takes && (S::FOLLOWS || self.in_range(time)) {
            self.inner.unmatched(strand, thread, function, time);
        } else {
            self.left_out.count_exit();
        }
    }

    fn other(&mut self, strand: StrandId, thread: usize, event: &Event<'_>) {
        self.reach(event.time);
        if let EventKind::Values(values) = event.kind {
            match S::FOLLOWS {
                true => self.inner.other(strand, thread, event),
                false => self.values.take(thread, values),
            }
            return;
        }
        if keeps_its_call(&event.kind)
            && let Some(slot) = self.lives.slot(strand)
        {
            self.turn_to(slot, thread, false);
            let life = self.lives.at(slot);
            if let Some(top) = life.and_then(|life| life.active.open.last_mut()) {
                top.holds = true;
            }
        }
        if S::FOLLOWS {
            return self.inner.other(strand, thread, event);
        }
        let takes_thread = self.rules.takes_thread(self.process, thread);
        if takes_thread && self.begun && self.in_range(event.time) {
            self.learn_wait(strand, event.kind);
            return self.inner.other(strand, thread, event);
        }
        if takes_thread && !self.begun && self.learning.is_some() {
            self.hold_back(strand, thread, event);
        }
        self.inner.other_left_out(strand, thread, event);
    }

    fn ended(&mut self, strand: &Strand) {
        let calls = self.lives.remove(strand).map_or(0, |life| life.calls);
        self.aside.forget(strand.slot);
        let mut strand = strand.clone();
        strand.calls = calls;
        if let Some(learning) = &mut self.learning {
            learning.ended(strand.id, calls > 0);
        }
        match calls {
            0 if !S::FOLLOWS => self.inner.had_no_calls(&strand),
            _ => self.inner.ended(&strand),
        }
    }
}

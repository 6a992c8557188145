//! What happens often to strands: to their few bytes, where these have room.

use super::{CUT, DEAD, DYING, ELSEWHERE, FRESH, GoesOn, NONE, Slots, WHOLE, WORDY};
use crate::brief::{Live, NOWHERE};
use crate::short::Short;
use crate::{Doubts, Kind, Strand, StrandId};
use heddle_trace_file::{Addr, Nanos};

impl Live {
    /// How long it has not run at `time`, as an activation begins.
    #[inline]
    fn rested(&self, goes_on: GoesOn, time: u64) -> u64 {
        match self.open {
            0 if goes_on == GoesOn::Rested => time.saturating_sub(self.last.get()),
            _ => 0,
        }
    }
}

/// What happens often.
impl Slots {
    /// A call of `function` was entered.
    #[inline]
    pub fn enters(&mut self, slot: u32, function: Addr) {
        match self.entering {
            (same, calls) if same == slot && calls < u32::MAX => self.entering.1 = calls + 1,
            _ => self.enters_anew(slot, function),
        }
    }

    #[inline(never)]
    fn enters_anew(&mut self, slot: u32, function: Addr) {
        self.settle(self.entering.0);
        let live = self.at(slot);
        if live.state & WHOLE != 0 || self.entries.all[usize::from(live.entry)].1 == Addr(0) {
            self.begins_with(slot, function);
        }
        self.entering = (slot, 1);
    }

    #[cold]
    #[inline(never)]
    fn begins_with(&mut self, slot: u32, function: Addr) {
        self.change(slot, |whole| whole.strand.begins_with(function));
    }

    /// The calls that were entered on this strand are among its own from here on.
    #[inline]
    pub(super) fn settle(&mut self, slot: u32) {
        let (entering, entered) = self.entering;
        if entering != slot || slot == NONE {
            return;
        }
        self.entering = (NONE, 0);
        let live = self.at_mut(slot);
        match live.calls.checked_add(entered) {
            Some(calls) if live.state & WHOLE == 0 => live.calls = calls,
            _ => self.settle_whole(slot, entered),
        }
    }

    #[cold]
    #[inline(never)]
    fn settle_whole(&mut self, slot: u32, entered: u32) {
        self.change(slot, |whole| whole.strand.calls += u64::from(entered));
    }

    /// It calls from here, or was left in this function: it may be suspended there next.
    #[inline]
    pub fn leaves_at(&mut self, slot: u32, address: Addr) {
        let live = self.at_mut(slot);
        if live.state & WHOLE == 0
            && let Some(address) = Short::new(address.0)
        {
            live.left_at = address;
            return;
        }
        self.change(slot, |whole| whole.strand.leaves_at(address));
    }

    /// A coroutine is entered, and goes on behind the suspension point with this number.
    #[inline]
    pub fn is_entered(&mut self, slot: u32, index: Option<u16>) {
        let live = self.at_mut(slot);
        live.state &= !FRESH;
        if live.state & WHOLE == 0 {
            live.resume_index = Strand::index_behind(live.resume_index, index);
            live.left_at = Short::default();
            return;
        }
        self.change(slot, |whole| {
            whole.strand.goes_on_behind(index);
            whole.strand.leaves_at(Addr(0));
        });
    }

    /// It goes on to run, on this thread.
    #[inline]
    pub fn run_on(&mut self, slot: u32, thread: usize) {
        if !self.goes_on(slot, thread) {
            self.change(slot, |whole| whole.run_on(thread as u32));
        }
    }

    /// The same, if that can be done in few bytes.
    #[inline]
    fn goes_on(&mut self, slot: u32, thread: usize) -> bool {
        let live = self.at_mut(slot);
        if live.state & WHOLE != 0 || live.activations == u32::MAX {
            return false;
        }
        if usize::from(live.on) != thread || live.on == NOWHERE {
            return self.goes_to(slot, thread);
        }
        live.activations += 1;
        true
    }

    fn goes_to(&mut self, slot: u32, thread: usize) -> bool {
        let Some(on) = u16::try_from(thread).ok().filter(|&on| on != NOWHERE) else {
            return false;
        };
        let live = self.at_mut(slot);
        live.activations += 1;
        let before = std::mem::replace(&mut live.on, on);
        if before != NOWHERE {
            live.state |= WORDY;
            let words = self.words.entry(slot).or_default();
            words.visit(before.into(), on.into());
        }
        true
    }

    /// It goes on on a stack of its own, where `by` ran. A fiber that was first run by a strand
    /// that is not known was not by the next one.
    #[inline]
    pub fn goes_on_by(&mut self, slot: u32, by: StrandId) {
        let is_first = match self.at(slot).kind.kind() {
            // It runs from its beginning on.
            Kind::Thread => false,
            Kind::Fiber => !self.ran_before(slot),
            Kind::Coroutine => true,
        };
        if is_first {
            self.was_run_by(slot, by);
        }
    }

    /// Whether what runs it now is not its first activation.
    #[inline]
    pub fn ran_before(&self, slot: u32) -> bool {
        let live = self.at(slot);
        match live.state & WHOLE {
            0 => live.activations > 1,
            _ => self.whole_at(slot).strand.activations > 1,
        }
    }

    /// The strand `by` has run it first, unless another has.
    #[inline]
    pub fn was_run_by(&mut self, slot: u32, by: StrandId) {
        let process = self.next.process();
        let live = self.at_mut(slot);
        if live.state & WHOLE == 0
            && by.process() == process
            && let Ok(by) = u32::try_from(by.number())
        {
            if live.resumer == 0 {
                live.resumer = by;
            }
            return;
        }
        self.change(slot, |whole| {
            whole.strand.resumer = whole.strand.resumer.or(Some(by));
        });
    }

    /// An activation of the coroutine begins on this thread. Where another is open, which handed
    /// over by a call, the time since is that one's, in what it called. Whether it is its first.
    #[inline]
    pub fn begin_activation(
        &mut self,
        slot: u32,
        (goes_on, thread): (GoesOn, usize),
        time: u64,
    ) -> bool {
        let live = self.at_mut(slot);
        let rested = live.rested(goes_on, time);
        if live.state & WHOLE == 0
            && live.activations < u32::MAX
            && live.open < u8::MAX
            && thread < usize::from(NOWHERE)
            && (live.on == NOWHERE || usize::from(live.on) == thread)
            && let Some(suspended) = Short::new(live.suspended.get() + rested)
        {
            live.on = thread as u16;
            live.open += 1;
            live.suspended = suspended;
            live.activations += u32::from(goes_on != GoesOn::Ends);
            return live.activations <= 1;
        }
        self.begin_activation_elsewhere(slot, (goes_on, thread), time);
        !self.ran_before(slot)
    }

    /// The same, where the coroutine goes to another thread, or does not fit into few bytes.
    #[inline(never)]
    fn begin_activation_elsewhere(
        &mut self,
        slot: u32,
        (goes_on, thread): (GoesOn, usize),
        time: u64,
    ) {
        let live = self.at(slot);
        let rested = live.rested(goes_on, time);
        if live.open < u8::MAX
            && let Some(suspended) = Short::new(live.suspended.get() + rested)
            && self.goes_on(slot, thread)
        {
            let live = self.at_mut(slot);
            live.open += 1;
            live.suspended = suspended;
            live.activations -= u32::from(goes_on == GoesOn::Ends);
            return;
        }
        let how = (goes_on, thread as u32);
        self.change(slot, |whole| whole.begin_activation(how, time));
    }

    /// Ends an activation that `ran` so long, others that it resumed included: those took `nested`.
    /// One that `destroys` the coroutine is its last, though another, which handed over by a call,
    /// may still be open and end later. Whether it is destroyed, and no activation is open.
    #[inline]
    pub fn end_activation(
        &mut self,
        (slot, destroys): (u32, bool),
        (ran, nested): (u64, u64),
        mut time: u64,
    ) -> bool {
        if self.at(slot).state & DEAD != 0 && !destroys {
            time = self.last(slot);
        }
        let live = self.at_mut(slot);
        live.state |= if destroys { DEAD } else { 0 };
        let running = live
            .running
            .get()
            .saturating_add(ran.saturating_sub(nested));
        let children = live.children.get().saturating_add(nested);
        if live.state & WHOLE == 0
            && let Some(running) = Short::new(running)
            && let Some(children) = Short::new(children)
            && let Some(time) = Short::new(time)
        {
            (live.running, live.children, live.last) = (running, children, time);
            live.open = live.open.saturating_sub(1);
            return live.state & DYING != 0 && live.open == 0;
        }
        self.change(slot, |whole| whole.end_activation((ran, nested), time));
        self.is_dying(slot) && self.open(slot) == 0
    }

    /// Time of a strand with a stack of its own, when that is done with.
    pub fn account(&mut self, slot: u32, until: u64, (suspended, nested): (u64, u64)) {
        let live = self.at_mut(slot);
        let alive = until.saturating_sub(live.born.get());
        let running = alive.saturating_sub(suspended).saturating_sub(nested);
        if live.state & WHOLE == 0
            && let Some(suspended) = Short::new(suspended.min(alive))
            && let Some(children) = Short::new(nested)
            && let Some(running) = Short::new(running)
            && let Some(last) = Short::new(until)
        {
            (live.suspended, live.children) = (suspended, children);
            (live.running, live.last) = (running, last);
            return;
        }
        self.change(slot, |whole| whole.account(until, suspended, nested));
    }

    /// There are reasons to doubt it, or more.
    pub fn doubt(&mut self, slot: u32, reasons: Doubts) {
        let live = self.at_mut(slot);
        match live.state & WHOLE {
            0 => live.kind.doubt(reasons),
            _ => self.change(slot, |whole| whole.strand.doubt(reasons)),
        }
    }
}

/// What is asked of a coroutine.
impl Slots {
    /// Where its frame is.
    #[inline]
    pub fn address(&self, slot: u32) -> Addr {
        let live = self.at(slot);
        match (live.state & WHOLE, live.kind.kind()) {
            (0, Kind::Coroutine) => Addr(live.frame.get()),
            (0, _) => Addr(0),
            _ => self.whole_at(slot).strand.frame.unwrap_or(Addr(0)),
        }
    }

    /// The coroutine that it is an instance of.
    #[inline]
    pub fn coroutine(&self, slot: u32) -> u32 {
        let live = self.at(slot);
        match live.state & WHOLE {
            0 => self.entries.all[usize::from(live.entry)].0,
            _ => self.whole_at(slot).coroutine,
        }
    }

    /// How many of its activations are open.
    #[inline]
    pub fn open(&self, slot: u32) -> u32 {
        let live = self.at(slot);
        match live.state & WHOLE {
            0 => live.open.into(),
            _ => self.whole_at(slot).open,
        }
    }

    /// When it was last seen to run.
    pub fn last(&self, slot: u32) -> u64 {
        let live = self.at(slot);
        match live.state & WHOLE {
            0 => live.last.get(),
            _ => self.whole_at(slot).strand.last.0,
        }
    }

    /// See [`Strand::resume_index`].
    #[inline]
    pub fn resume_index(&self, slot: u32) -> Option<u16> {
        let live = self.at(slot);
        let index = match live.state & WHOLE {
            0 => live.resume_index,
            _ => self.whole_at(slot).strand.resume_index,
        };
        Strand::index_of(index)
    }

    /// Whether it has been destroyed, though calls of it may be open.
    #[inline]
    pub fn is_dying(&self, slot: u32) -> bool {
        self.at(slot).state & DYING != 0
    }

    /// It has been destroyed, though calls of it may be open.
    #[inline]
    pub fn is_destroyed(&mut self, slot: u32) {
        self.at_mut(slot).state |= DYING;
    }

    /// It was destroyed by what it ran last, and ended with that.
    #[inline]
    pub fn dies(&mut self, slot: u32) {
        self.at_mut(slot).state |= DEAD;
    }

    /// Its frame was not seen to be allocated.
    pub fn was_made_elsewhere(&mut self, slot: u32) {
        self.at_mut(slot).state |= ELSEWHERE;
    }

    /// Whether its frame was not seen to be allocated.
    pub fn was_elsewhere(&self, slot: u32) -> bool {
        self.at(slot).state & ELSEWHERE != 0
    }

    /// Doubts the instances of a coroutine that have run later than `time`, if another one may have
    /// been at the same place: neither was the frame's memory seen to be allocated, nor does its
    /// resume index tell.
    pub fn doubt_instances(&mut self, coroutine: u32, time: u64) {
        for slot in self.taken_slots().collect::<Vec<u32>>() {
            let live = self.at(slot);
            if live.kind.kind() == Kind::Coroutine
                && self.was_elsewhere(slot)
                && self.coroutine(slot) == coroutine
                && self.resume_index(slot).is_none()
                && self.last(slot) > time
            {
                self.doubt(slot, Doubts::SHARED);
            }
        }
    }

    /// It has not run since then, and not been resumed before.
    pub fn rests_since(&mut self, slot: u32, time: u64) {
        let live = self.at_mut(slot);
        match Short::new(time) {
            Some(time) if live.state & WHOLE == 0 => live.last = time,
            _ => self.change(slot, |whole| whole.strand.last = Nanos(time)),
        }
    }

    /// The trace ends while it runs.
    pub fn is_cut(&mut self, slot: u32) {
        self.at_mut(slot).state |= CUT;
    }

    /// Whether it was made, and no call of it was entered yet.
    #[inline]
    pub fn is_fresh(&self, slot: u32) -> bool {
        self.at(slot).state & FRESH != 0
    }

    /// Whether a call of it is yet to be entered.
    #[inline]
    pub fn set_fresh(&mut self, slot: u32, fresh: bool) {
        let state = &mut self.at_mut(slot).state;
        *state = *state & !FRESH | if fresh { FRESH } else { 0 };
    }
}

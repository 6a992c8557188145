//! Which instance of a coroutine runs.
//!
//! A coroutine's frame is found again at the same address until it is destroyed, and then another's
//! may be there. A new instance begins where
//!
//! - the frame was allocated, and the one before it ended where that was freed: the recorder tells
//!   of both where the C++ library's `operator new` and `delete` are asked. Memory that was
//!   allocated by code which allocates frames is a frame if it is entered as one, or freed as one;
//! - nothing was known at that address, or what was there was destroyed, or was another
//!   coroutine's;
//! - the resume index is 0: it runs for the first time;
//! - it is 2 after anything but 0: GCC numbers the suspension points from 2 in steps of two, the
//!   first is behind the initial one, and nothing comes back to that;
//! - its ramp is what called it: that makes a new one each time.
//!
//! Clang lays a frame into that of the function or coroutine which calls the ramp where it can,
//! without a call of the ramp: whether the next one at that address is another is not known.
//!
//! The strand that runs the ramp is the parent. Where the optimiser has put the first activation
//! into the ramp, the calls of that ramp are the instance's, so what is made there has the instance
//! for its parent; and a ramp that returned without its frame having been seen is remembered. The
//! next new instance is from one of those ramps: if all have one maker, that is its parent.

use crate::code::{Code, Role};
use crate::entered::Entered;
use crate::frames::{FrameTable, Made, MadeFrames};
use crate::live::{Begun, GoesOn, Slots};
use crate::shared_frames::SharedFrames;
use crate::sink::Sink;
use crate::stacks::Frame;
use crate::{Doubts, Kind, StrandId};
use heddle_symbols::CoroutinePart;
use heddle_trace_file::{Addr, CoroutineFrame, Nanos};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// The instances that live, and the ramps that made some of which nothing was seen.
#[derive(Clone, Debug)]
pub(crate) struct Instances<'a> {
    code: &'a Code,
    /// Frames were captured.
    capturing: bool,
    /// The number of instances whose maker is unknown.
    orphans: u64,
    /// Slots by address.
    at: FrameTable,
    /// Where it is not known which thread's instance came first.
    shared: SharedFrames,
    /// By coroutine: calls of its ramp that made instances which were not seen yet.
    unseen: FxHashMap<u32, Unseen>,
    /// By address: memory that may be a frame, and was not entered or freed as one yet.
    made: MadeFrames,
    /// The frames that were allocated by open ramps in which no instance was entered yet.
    in_ramps: FxHashMap<RampCall, Addr>,
    /// Coroutines some of whose frames came from elsewhere than what was seen to be allocated.
    made_elsewhere: FxHashSet<u32>,
    /// Before this time, events are missing: of a thread, or of all for a while.
    lacking_until: u64,
    /// By thread: the instance that was destroyed there last. The compiler may have made the rest
    /// of a destruction a tail call, which comes after its end, and is the thread's next call
    /// whatever other threads do meanwhile.
    destroyed: FxHashMap<usize, (u32, StrandId)>,
}

/// An open call of a ramp, which no other one equals: its stack pointer, and when it was entered.
pub(crate) type RampCall = (u64, u64);

/// What tells this call of a ramp from all others.
pub(crate) fn ramp_call(frame: &Frame) -> RampCall {
    (frame.sp, frame.enter)
}

/// A call of a ramp that returned, and made an instance of which nothing was seen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ramp {
    /// `None`: it was called within another ramp, perhaps by the instance that this makes.
    pub maker: Option<StrandId>,
    pub time: u64,
    /// When it returned.
    pub until: u64,
    /// Index of the thread, in its process.
    pub thread: usize,
    pub function: Addr,
    /// The number of the thread's event by which it was left.
    pub left: u64,
}

/// Ramps of one coroutine, oldest first.
#[derive(Clone, Debug, Default)]
struct Unseen {
    ramps: VecDeque<Ramp>,
    /// The number of neighbours with different makers.
    changes: usize,
    /// One of several was taken though it may be another's, so which are left is not known.
    guessed: bool,
}

impl Unseen {
    fn push(&mut self, ramp: Ramp) {
        if self.ramps.len() >= UNSEEN {
            self.pop_front();
        }
        let before = self.ramps.back();
        self.changes += usize::from(before.is_some_and(|before| before.maker != ramp.maker));
        self.ramps.push_back(ramp);
    }

    /// Without those before `time`, from when on it is known what became of them.
    fn since(&mut self, time: u64) -> &mut Self {
        while self.ramps.front().is_some_and(|ramp| ramp.time < time) {
            self.pop_front();
        }
        self
    }

    fn pop_front(&mut self) -> Option<Ramp> {
        let ramp = self.ramps.pop_front()?;
        let next = self.ramps.front();
        self.changes -= usize::from(next.is_some_and(|next| next.maker != ramp.maker));
        Some(ramp)
    }

    fn pop_back(&mut self) -> Option<Ramp> {
        let ramp = self.ramps.pop_back()?;
        let before = self.ramps.back();
        self.changes -= usize::from(before.is_some_and(|before| before.maker != ramp.maker));
        Some(ramp)
    }
}

/// The context in which a call is entered.
pub(crate) struct Around<'f> {
    /// Index of the thread, in its process.
    pub thread: usize,
    /// The innermost call of its stack.
    pub top: Option<&'f mut Frame>,
    /// The slot of the strand that runs on the stack.
    pub strand: u32,
    /// The strand whose activation ended just before, in its place.
    pub jumped: Option<StrandId>,
    /// The number of the thread's event.
    pub event: u64,
}

/// The effect of a call on an instance.
pub(crate) struct Instance {
    pub slot: u32,
    pub flags: u16,
    pub goes_on: GoesOn,
}

/// Coroutines without symbols are numbered by their function, from here on.
const NAMELESS: u32 = 1 << 31;

/// Bytes that a promise's `operator new` may keep for itself in front of a frame. Memory that is at
/// least as far away may be another allocation: the least are so long.
const HEADER: u64 = 32;

/// Ramps of one coroutine that are remembered.
const UNSEEN: usize = 1 << 20;

/// Allocations that are remembered.
const MADE: usize = 1 << 22;

/// Tells the sink that the strand in this slot was born.
fn tell_born<S: Sink>(slots: &Slots, sink: &mut S, slot: u32) {
    if S::LIVES {
        sink.born(&slots.strand(slot));
    }
}

/// Tells the sink since when the strand in this slot, which was never resumed, is suspended.
fn tell_rests<S: Sink>(slots: &Slots, sink: &mut S, slot: u32) {
    if S::LIVES {
        sink.rests(slots.id(slot), Nanos(slots.last(slot)));
    }
}

impl<'a> Instances<'a> {
    /// Starts without instances, for the process with this code. `capturing`: frames are captured;
    /// `sparse`: not every event has read the clock.
    pub fn new(code: &'a Code, capturing: bool, sparse: bool) -> Self {
        Instances {
            code,
            capturing,
            orphans: 0,
            at: FrameTable::default(),
            shared: SharedFrames::new(sparse),
            unseen: FxHashMap::default(),
            made: MadeFrames::default(),
            in_ramps: FxHashMap::default(),
            made_elsewhere: FxHashSet::default(),
            lacking_until: 0,
            destroyed: FxHashMap::default(),
        }
    }

    /// Frames are captured.
    pub fn expect_captures(&mut self) {
        self.capturing = true;
    }

    /// Events are missing of before `time`.
    pub fn lacks_until(&mut self, time: u64) {
        self.lacking_until = self.lacking_until.max(time);
    }

    /// The number of instances whose maker is unknown.
    pub fn orphans(&self) -> u64 {
        self.orphans
    }

    /// Whether the code of a coroutine hands over to others.
    pub fn hands_over(&self, function: u32) -> bool {
        self.code.hands_over(function)
    }

    /// The role of this function, where frames are captured; else none.
    #[inline]
    pub fn role(&self, function: u32) -> Role {
        match self.capturing {
            true => self.code.role(function),
            false => Role::Plain,
        }
    }

    /// No more events come: instances that were made and never seen again are told of. Slots'
    /// numbers mean nothing from here on.
    pub fn finish(&mut self, slots: &mut Slots, sink: &mut impl Sink) {
        let mut last: Vec<(Option<Addr>, u32, Made)> = Vec::new();
        for (address, made) in self.made.take() {
            if let Some((ramp, _)) = made.ramp()
                && let Role::Ramp(coroutine) = self.code.role(ramp)
                && !self.made_elsewhere.contains(&coroutine)
            {
                last.push((Some(address), coroutine, made));
            }
        }
        for (coroutine, unseen) in std::mem::take(&mut self.unseen) {
            let guessed = unseen.guessed;
            // They may have run where another one of which nothing else was seen is taken to run.
            if let Some(first) = unseen.ramps.front() {
                slots.doubt_instances(coroutine, first.time);
            }
            last.extend(unseen.ramps.into_iter().map(|ramp| {
                let maker = ramp.maker.filter(|_| !guessed);
                let called = Some((coroutine, ramp.function));
                let made = Made::new(maker, (ramp.thread, ramp.time), called);
                let made = made.left(ramp.until);
                (None, coroutine, made)
            }));
        }
        last.sort_unstable_by_key(|(address, coroutine, made)| (made.time, *coroutine, *address));
        for (address, coroutine, made) in last {
            let function = made.ramp().map_or(Addr(0), |(_, function)| function);
            let frame = address.and_then(CoroutineFrame::at);
            self.begin_at_rest(slots, sink, frame, coroutine, &made, function);
        }
        self.at.clear();
        self.in_ramps.clear();
        self.destroyed.clear();
    }

    /// This ramp was left. If it `returned`, the instance whose frame was allocated in it is
    /// suspended from then on; if none was, it made one of which nothing was seen.
    pub fn ramp_left(
        &mut self,
        slots: &mut Slots,
        sink: &mut impl Sink,
        (call, number): (RampCall, u32),
        ramp: Ramp,
        returned: bool,
    ) {
        let made = self.in_ramps.remove(&call);
        if !returned {
            return;
        }
        if let Some(frame) = made {
            if !self.made.ramp_left(frame, ramp.until)
                && let Some(slot) = self.at.get(frame, |slot| slots.address(slot))
                && slots.is_fresh(slot)
            {
                slots.rests_since(slot, ramp.until);
                tell_rests(slots, sink, slot);
            }
            return;
        }
        if let Role::Ramp(coroutine) = self.code.role(number) {
            self.unseen.entry(coroutine).or_default().push(ramp);
        }
    }

    /// The frame that was allocated by this open call of a ramp, of which no instance was entered.
    pub fn frame_in(&self, call: RampCall) -> Option<Addr> {
        self.in_ramps.get(&call).copied()
    }

    /// Memory was allocated that may be a frame, in the ramp that `call` is, if it is its first.
    pub fn made(
        &mut self,
        slots: &mut Slots,
        sink: &mut impl Sink,
        frame: Addr,
        made: Made,
        call: Option<RampCall>,
    ) {
        self.capturing = true;
        self.used_by(slots, frame, (made.thread(), false));
        if let Some(old) = self.at.remove(frame, |slot| slots.address(slot)) {
            self.replaced(slots, sink, old);
        }
        if self.made.len() >= MADE {
            self.made.take();
        }
        self.made.insert(frame, made);
        if let Some(call) = call {
            self.in_ramps.insert(call, frame);
        }
    }

    /// The instance that has the frame which a ramp allocated here.
    pub fn instance_at(
        &mut self,
        slots: &mut Slots,
        sink: &mut impl Sink,
        frame: Addr,
    ) -> Option<StrandId> {
        if let Some(slot) = self.at.get(frame, |slot| slots.address(slot)) {
            return Some(slots.id(slot));
        }
        let made = *self.made.get(frame)?;
        let (ramp, function) = made.ramp()?;
        let Role::Ramp(coroutine) = self.code.role(ramp) else {
            return None;
        };
        self.made.remove(frame);
        let frame = CoroutineFrame::at(frame);
        let slot = self.begin(slots, sink, frame, coroutine, &made, function);
        slots.set_fresh(slot, true);
        Some(slots.id(slot))
    }

    /// This thread does something with a frame: if it is not known whether that was before or
    /// behind what another thread did there, the instance may have calls of the other's.
    fn used_by(&mut self, slots: &mut Slots, frame: Addr, by: (usize, bool)) {
        if self.shared.used_by(frame, by)
            && let Some(slot) = self.at.get(frame, |slot| slots.address(slot))
        {
            slots.doubt(slot, Doubts::SHARED);
        }
    }

    /// A new instance whose frame was allocated so, and which is named after `function`.
    fn begin(
        &mut self,
        slots: &mut Slots,
        sink: &mut impl Sink,
        frame: Option<CoroutineFrame>,
        coroutine: u32,
        made: &Made,
        function: Addr,
    ) -> u32 {
        self.orphans += u64::from(made.maker.is_none());
        let mut doubts = Doubts::NONE;
        if coroutine & NAMELESS != 0 {
            doubts |= Doubts::NO_SYMBOL;
        }
        if frame.is_some_and(|frame| self.shared.holds(frame.address())) {
            doubts |= Doubts::SHARED;
        }
        let begun = Begun {
            coroutine,
            parent: made.maker,
            frame: frame.map(CoroutineFrame::address),
            entry: function,
            doubts,
        };
        let slot = slots.add(Kind::Coroutine, made.thread(), Nanos(made.time), begun);
        tell_born(slots, sink, slot);
        if let Some(frame) = frame {
            let at = |slot: u32| slots.address(slot);
            self.at.insert(frame.address(), slot, at);
        }
        slot
    }

    /// An instance that runs where nothing is known of it, as a call that its code makes tells.
    pub fn unseen(
        &mut self,
        slots: &mut Slots,
        sink: &mut impl Sink,
        (coroutine, function): (u32, Addr),
        (thread, time): (usize, u64),
    ) -> u32 {
        let made = Made::new(None, (thread, time), None);
        let slot = self.begin(slots, sink, None, coroutine, &made, function);
        slots.doubt(slot, Doubts::BEGUN_BEFORE);
        slot
    }

    /// The same, of one that has not run since its ramp returned, or was seen last.
    fn begin_at_rest(
        &mut self,
        slots: &mut Slots,
        sink: &mut impl Sink,
        frame: Option<CoroutineFrame>,
        coroutine: u32,
        made: &Made,
        function: Addr,
    ) {
        let slot = self.begin(slots, sink, frame, coroutine, made, function);
        if made.time < self.lacking_until {
            // It may be one that was seen to run since.
            slots.doubt(slot, Doubts::GAP);
        }
        slots.rests_since(slot, made.rests_since(made.time));
        tell_rests(slots, sink, slot);
    }

    /// The instance with this frame is suspended as the program exits; `destroyer`, the function
    /// with the number `function`, destroys it.
    pub fn left(
        &mut self,
        slots: &mut Slots,
        sink: &mut impl Sink,
        frame: CoroutineFrame,
        (destroyer, function): (Addr, u32),
    ) {
        let Role::Part(coroutine, _) = self.code.role(function) else {
            return;
        };
        let address = frame.address();
        if let Some(made) = self.made.remove(address) {
            let frame = CoroutineFrame::at(address);
            self.begin_at_rest(slots, sink, frame, coroutine, &made, destroyer);
        }
        if let Some(slot) = self.at.get(address, |slot| slots.address(slot)) {
            let index = frame.resume_index();
            slots.change(slot, |live| live.strand.is_left_behind(index));
        }
    }

    /// The frame of an instance is freed, which `destroyer`, the function with the number
    /// `function`, destroys. `left`: the strand of which an activation ended with the event before
    /// on this thread: that has freed it, behind its end. Gives the instance, if calls of it are
    /// open.
    pub fn freed(
        &mut self,
        slots: &mut Slots,
        sink: &mut impl Sink,
        frame: Addr,
        (destroyer, function): (Addr, u32),
        left: Option<StrandId>,
        (thread, time): (usize, u64),
    ) -> Option<u32> {
        let Role::Part(coroutine, _) = self.code.role(function) else {
            return None;
        };
        self.used_by(slots, frame, (thread, false));
        if let Some(made) = self.made.remove(frame) {
            let frame = CoroutineFrame::at(frame);
            self.begin_at_rest(slots, sink, frame, coroutine, &made, destroyer);
        }
        let slot = self.at.remove(frame, |slot| slots.address(slot))?;
        slots.is_destroyed(slot);
        if left == Some(slots.id(slot)) {
            slots.dies(slot);
        }
        if slots.open(slot) > 0 {
            return Some(slot);
        }
        slots.end_at_rest(slot, time, sink);
        None
    }

    /// The instance that a call with this frame runs or destroys; `None` if the function is no
    /// coroutine's.
    #[cold]
    #[inline(never)]
    pub fn entered(
        &mut self,
        slots: &mut Slots,
        sink: &mut impl Sink,
        mut around: Around<'_>,
        new: &Entered,
        (frame, function): (CoroutineFrame, u32),
    ) -> Option<Instance> {
        self.capturing = true;
        let named = function < self.code.functions();
        let (coroutine, part) = match self.code.role(function) {
            Role::Part(coroutine, part) => (coroutine, part),
            // Symbols say that it is no coroutine's; without them, the capture says that it may be.
            _ if named => return None,
            _ => (NAMELESS | function, CoroutinePart::Resume),
        };
        let address = frame.address();
        let index = frame.resume_index();
        self.used_by(slots, address, (around.thread, frame.is_untimed()));
        let known = self.at.get(address, |slot| slots.address(slot));
        // A call from elsewhere in an open ramp may resume another instance of the coroutine.
        let ramp = around.top.as_mut().filter(|outer| {
            outer.is(Frame::RAMP)
                && self.code.role(outer.callee) == Role::Ramp(coroutine)
                && self
                    .frame_in(ramp_call(outer))
                    .is_none_or(|made| address.0.wrapping_sub(made.0) < HEADER)
        });
        // The time from which on memory may have been allocated for it in its ramp, and where.
        let ramp = ramp.map(|outer| {
            outer.flags &= !Frame::RAMP;
            let made = self.in_ramps.remove(&ramp_call(outer));
            (outer.enter, made.unwrap_or(address))
        });
        let in_ramp = ramp.is_some();
        // Without a resume index, only a tail call from the destroying function says that a body
        // destroys.
        let rest_of = known.is_some_and(|slot| {
            index.is_none() && slots.is_dying(slot) && around.jumped == Some(slots.id(slot))
        });
        let destroys =
            part != CoroutinePart::Resume || index.is_some_and(|index| index & 1 == 1) || rest_of;
        let same = known.filter(|&slot| {
            let went_on = || slots.resume_index(slot).is_some_and(|before| before != 0);
            let begins = index == Some(0) || in_ramp || (index == Some(2) && went_on());
            let fits = destroys || !begins || slots.is_fresh(slot);
            fits && slots.coroutine(slot) == coroutine && !slots.is_dying(slot)
        });
        // The function that began to destroy the instance calls, or jumps to, the one that destroys
        // its locals.
        let rest = known
            .filter(|&slot| destroys && slots.is_dying(slot) && slots.coroutine(slot) == coroutine);
        let goes_on = match rest {
            _ if in_ramp || index == Some(0) => GoesOn::Begins,
            Some(_) if same.is_none() => GoesOn::Ends,
            _ => GoesOn::Rested,
        };
        let mut elsewhere = false;
        let slot = match same.or(rest) {
            Some(slot) => {
                // It may have been destroyed since, and this be another one.
                if slots.last(slot) < self.lacking_until {
                    slots.doubt(slot, Doubts::GAP);
                }
                // The function that called its ramp, or has that inlined, may make several in turn
                // in one place, and memory for them is not seen to be allocated or freed.
                let by_program = || {
                    !destroys
                        && index.is_none()
                        && self.lacking_until == 0
                        && slots.was_elsewhere(slot)
                };
                if same.is_some()
                    && slots.parent(slot).is_none()
                    && (self.code.is_by_clang(coroutine) || by_program())
                {
                    slots.doubt(slot, Doubts::SHARED);
                }
                slot
            }
            None => {
                if let Some(old) = known {
                    self.replaced(slots, sink, old);
                }
                // Memory that is older than the ramp was another thing, and is used again.
                let (since, place) = ramp.unwrap_or((0, address));
                let made = self.made.remove(place);
                // It may be so, too, where events are missing since. Then nobody is known to have
                // made this one.
                let since = since.max(self.lacking_until.min(new.time));
                let made = made.filter(|made| made.time >= since);
                elsewhere = made.is_none();
                let made = made.unwrap_or_else(|| {
                    self.made_elsewhere.insert(coroutine);
                    let first = in_ramp || index == Some(0);
                    self.maker(slots, (coroutine, first), &around, new.time)
                });
                let function = Addr(new.function);
                let slot = self.begin(slots, sink, Some(frame), coroutine, &made, function);
                if goes_on == GoesOn::Rested && made.rests_since(new.time) < new.time {
                    slots.rests_since(slot, made.rests_since(new.time));
                    tell_rests(slots, sink, slot);
                }
                slot
            }
        };
        if elsewhere {
            slots.was_made_elsewhere(slot);
        }
        match destroys {
            true => slots.set_fresh(slot, false),
            false => slots.is_entered(slot, index),
        }
        let flags = Frame::COROUTINE | if destroys { Frame::DESTROYS } else { 0 };
        Some(Instance {
            slot,
            flags,
            goes_on,
        })
    }

    /// Who made a new instance whose frame was not seen to be allocated, and when. `first`: it runs
    /// for the first time.
    fn maker(
        &mut self,
        slots: &Slots,
        (coroutine, first): (u32, bool),
        around: &Around<'_>,
        time: u64,
    ) -> Made {
        let made = |maker, time| Made::new(maker, (around.thread, time), None);
        let unseen = self.unseen.get_mut(&coroutine);
        let unseen = unseen.map(|unseen| unseen.since(self.lacking_until.min(time)));
        if first {
            // The ramp has jumped to it.
            if let Some(unseen) = unseen
                && let Some(latest) = unseen.ramps.back()
                && (latest.thread, latest.left + 1) == (around.thread, around.event)
            {
                unseen.pop_back();
            }
            return made(Some(slots.id(around.strand)), time);
        }
        let Some(unseen) = unseen else {
            return made(None, time);
        };
        unseen.guessed |= unseen.changes > 0;
        let ramp = unseen.pop_front();
        let known = ramp.filter(|_| !unseen.guessed);
        unseen.guessed &= !unseen.ramps.is_empty();
        known.map_or(made(None, time), |ramp| {
            made(ramp.maker, ramp.time).left(ramp.until)
        })
    }

    /// An instance was destroyed on this thread, and no call of it is open.
    pub fn destroyed(
        &mut self,
        slots: &mut Slots,
        sink: &mut impl Sink,
        slot: u32,
        (thread, time): (usize, u64),
    ) {
        slots.dies(slot);
        let destroyed = (slot, slots.id(slot));
        if let Some((slot, id)) = self.destroyed.insert(thread, destroyed)
            && (slot, id) != destroyed
            && slots.holds(slot, id)
            && slots.open(slot) == 0
        {
            self.end(slots, sink, slot, time);
        }
    }

    /// An instance whose frame is another's now.
    fn replaced(&mut self, slots: &mut Slots, sink: &mut impl Sink, slot: u32) {
        slots.is_destroyed(slot);
        if slots.open(slot) == 0 {
            let last = slots.last(slot);
            self.end(slots, sink, slot, last);
        }
    }

    /// This instance is no more.
    fn end(&mut self, slots: &mut Slots, sink: &mut impl Sink, slot: u32, time: u64) {
        let address = slots.address(slot);
        self.at.forget(address, slot, |slot| slots.address(slot));
        slots.end(slot, time, sink);
    }
}

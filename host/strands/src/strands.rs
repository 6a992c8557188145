//! The strands of a group that live, and the sink that is told of them.

use crate::code::{Code, Role};
use crate::entered::Entered;
use crate::frames::Made;
use crate::instances::{Around, Instance, Instances, Ramp, RampCall, ramp_call};
use crate::live::{Begun, GoesOn, Slots};
use crate::sink::Sink;
use crate::stacks::Frame;
use crate::threads::Left;
use crate::{Doubts, Kind, Strand, StrandId, Unresolved};
use heddle_calls::End;
use heddle_trace_file::{Addr, Callee, CoroutineFrame, Event, Nanos, Process};

/// The strands of a group, by slot.
pub(crate) struct Strands<'a, S> {
    process: &'a Process,
    slots: Slots,
    instances: Instances<'a>,
    sink: S,
    /// The number of fibers whose maker is unknown.
    unknown_makers: u64,
}

impl<'a, S: Sink> Strands<'a, S> {
    /// No strand yet; those that are no threads get the numbers behind the threads of `process`,
    /// which has the index `number` in the trace. `capturing`: frames of coroutines are captured.
    pub fn new(
        process: &'a Process,
        number: usize,
        (code, capturing): (&'a Code, bool),
        sink: S,
    ) -> Self {
        Strands {
            process,
            slots: Slots::new(StrandId::new(number, process.threads().len())),
            instances: Instances::new(code, capturing, process.sparse().is_some()),
            sink,
            unknown_makers: 0,
        }
    }

    /// Coroutines' frames are captured.
    pub fn expect_captures(&mut self) {
        self.instances.expect_captures();
    }

    /// See [`Instances::lacks_until`].
    pub fn lacks_until(&mut self, time: u64) {
        self.instances.lacks_until(time);
    }

    /// The thread with this index in `process`, which has the index `number` in the trace.
    pub fn add_thread(&mut self, process: &Process, number: usize, index: usize) -> u32 {
        let id = StrandId::new(number, index);
        let slot = self.slots.add_thread(id, index, &process.threads()[index]);
        if S::LIVES {
            self.sink.born(&self.slots.strand(slot));
        }
        slot
    }

    /// A new fiber that begins with a call of `function`. `maker`: the strand that made it, if a
    /// record tells. Without one, any strand may have made it, also one of which no call was seen.
    /// `doubts`: why it may be none, or not all of one.
    pub fn add_fiber(
        &mut self,
        thread: usize,
        (function, maker, doubts): (Addr, Option<StrandId>, Doubts),
        time: u64,
    ) -> u32 {
        self.unknown_makers += u64::from(maker.is_none());
        let begun = Begun {
            parent: maker,
            entry: function,
            doubts,
            ..Begun::default()
        };
        let slot = self.slots.add(Kind::Fiber, thread, Nanos(time), begun);
        if S::LIVES {
            self.sink.born(&self.slots.strand(slot));
        }
        slot
    }

    /// The sink, to be told more.
    #[inline(always)]
    pub fn sink(&mut self) -> &mut S {
        &mut self.sink
    }

    /// The number of the strand in this slot.
    #[inline(always)]
    pub fn id(&self, slot: u32) -> StrandId {
        self.slots.id(slot)
    }

    /// See [`Slots::strand`].
    pub fn strand(&self, slot: u32) -> Strand {
        self.slots.strand(slot)
    }

    /// Has `change` change the strand in this slot.
    pub fn change(&mut self, slot: u32, change: impl FnOnce(&mut Strand)) {
        self.slots.change(slot, |live| change(&mut live.strand));
    }

    /// See [`Slots::doubt`].
    pub fn doubt(&mut self, slot: u32, reasons: Doubts) {
        self.slots.doubt(slot, reasons);
    }

    /// See [`Slots::account`].
    pub fn account(&mut self, slot: u32, until: u64, spent: (u64, u64)) {
        self.slots.account(slot, until, spent);
    }

    /// See [`Slots::run_on`].
    #[inline]
    pub fn run_on(&mut self, slot: u32, thread: usize) {
        self.slots.run_on(slot, thread);
    }

    /// See [`Slots::leaves_at`].
    #[inline(always)]
    pub fn leaves_at(&mut self, slot: u32, address: Addr) {
        self.slots.leaves_at(slot, address);
    }

    /// A call of `function` is entered.
    #[inline(always)]
    pub fn enters(&mut self, slot: u32, function: Addr) {
        self.slots.enters(slot, function);
    }

    /// The instance in this slot has been destroyed, though calls of it may be open.
    pub fn is_destroyed(&mut self, slot: u32) {
        self.slots.is_destroyed(slot);
    }

    /// Whether this strand is in this slot.
    pub fn holds(&self, slot: u32, id: StrandId) -> bool {
        self.slots.holds(slot, id)
    }

    /// The strand in this slot has been given a name.
    pub fn name(&mut self, slot: u32, name: Box<str>) {
        let sink = &mut self.sink;
        self.slots.change(slot, |live| {
            live.strand.set_name(name);
            sink.named(&live.strand);
        });
    }

    /// An event on the strand in `slot` that is neither an enter nor an exit.
    pub fn other(&mut self, slot: u32, thread: usize, event: &Event<'_>) {
        self.sink.other(self.slots.id(slot), thread, event);
    }

    /// An exit on the strand in `slot` that belongs to no open call.
    pub fn unmatched(&mut self, slot: u32, thread: usize, function: Callee, time: Nanos) {
        let strand = self.slots.id(slot);
        self.sink.unmatched(strand, thread, function, time);
    }

    /// The strand in `slot` goes on, on its own stack.
    pub fn resumed(&mut self, slot: u32, by: Option<StrandId>, thread: usize, time: u64) {
        if let Some(by) = by {
            self.slots.goes_on_by(slot, by);
        }
        if S::LIVES {
            let id = self.slots.id(slot);
            self.sink.resumed(id, by, thread, Nanos(time));
        }
    }

    /// The role of this function in a coroutine, where frames are captured; else none.
    #[inline(always)]
    pub fn role(&self, function: u32) -> Role {
        self.instances.role(function)
    }

    /// The instance that a call with this frame runs or destroys; `None` if the function is no
    /// coroutine's.
    #[inline(always)]
    pub fn instance(
        &mut self,
        around: Around<'_>,
        new: &Entered,
        called: (CoroutineFrame, u32),
    ) -> Option<Instance> {
        let (slots, sink) = (&mut self.slots, &mut self.sink);
        self.instances.entered(slots, sink, around, new, called)
    }

    /// This call of a ramp has ended, with this event of the thread. If it `returned`, at `until`,
    /// it made an instance. `within`: in a call of another ramp, which may be the instance of that.
    pub fn ramp_left(
        &mut self,
        frame: &Frame,
        (thread, event): (usize, u64),
        (returned, until): (bool, u64),
        within: bool,
    ) {
        let ramp = Ramp {
            maker: (!within).then(|| self.slots.id(frame.slot)),
            time: frame.enter,
            until,
            thread,
            function: Addr(frame.function),
            left: event,
        };
        let call = (ramp_call(frame), frame.callee);
        let (slots, sink) = (&mut self.slots, &mut self.sink);
        self.instances.ramp_left(slots, sink, call, ramp, returned);
    }

    /// The frame that was allocated by this open call of a ramp, of which no instance was entered.
    pub fn frame_in(&self, call: RampCall) -> Option<Addr> {
        self.instances.frame_in(call)
    }

    /// Memory was allocated that may be a frame, on the strand in `slot`, if that is known; by the
    /// instance with the frame `within` if its first activation is a part of its ramp; `in_ramp`:
    /// as the first of this call of a ramp, with its number and address.
    pub fn frame_made(
        &mut self,
        frame: Addr,
        (thread, time): (usize, u64),
        (slot, within): (Option<u32>, Option<Addr>),
        in_ramp: Option<(RampCall, u32, Addr)>,
    ) {
        let (slots, sink) = (&mut self.slots, &mut self.sink);
        let within = within.and_then(|frame| self.instances.instance_at(slots, sink, frame));
        let maker = within.or_else(|| slot.map(|slot| slots.id(slot)));
        let ramp = in_ramp.map(|(_, number, function)| (number, function));
        let made = Made::new(maker, (thread, time), ramp);
        let call = in_ramp.map(|(call, ..)| call);
        self.instances.made(slots, sink, frame, made, call);
    }

    /// The coroutine with this frame is suspended as the program exits.
    pub fn frame_left(&mut self, frame: CoroutineFrame, destroyer: (Addr, u32)) {
        let (slots, sink) = (&mut self.slots, &mut self.sink);
        self.instances.left(slots, sink, frame, destroyer);
    }

    /// See [`Instances::freed`].
    pub fn frame_freed(
        &mut self,
        frame: Addr,
        destroyer: (Addr, u32),
        left: Option<StrandId>,
        when: (usize, u64),
    ) -> Option<u32> {
        let (slots, sink) = (&mut self.slots, &mut self.sink);
        self.instances
            .freed(slots, sink, frame, destroyer, left, when)
    }

    /// An activation of the coroutine in `slot` begins, on the strand `outer` or, if there is one,
    /// in the place of another activation.
    pub fn begin_activation(
        &mut self,
        (slot, goes_on): (u32, GoesOn),
        (outer, left): (u32, Option<&Left>),
        thread: usize,
        time: u64,
    ) {
        let is_first = self.slots.begin_activation(slot, (goes_on, thread), time);
        if !is_first && !S::LIVES {
            return;
        }
        let by = match left {
            Some(left) if self.instances.hands_over(left.callee) => self.handed_over(slot, left),
            _ => Some(self.slots.id(outer)),
        };
        // What was first run by a strand that is not known, was not by the next one.
        if is_first && let Some(by) = by {
            self.slots.was_run_by(slot, by);
        }
        if S::LIVES {
            let id = self.slots.id(slot);
            self.sink.resumed(id, by, thread, Nanos(time));
        }
    }

    /// The strand that has handed over to the coroutine in `slot`. A function that does so may
    /// return elsewhere, and then who called it calls another next, as a scheduler does: that it
    /// was a jump is known only of a coroutine and the one that made it, which awaits it.
    fn handed_over(&self, slot: u32, left: &Left) -> Option<StrandId> {
        let made = self.slots.parent(slot) == Some(left.strand);
        let related = made || left.maker == Some(self.slots.id(slot));
        related.then_some(left.strand)
    }

    /// Ends an activation that `ran` so long, others that it resumed included: those took `nested`;
    /// `destroys`: it has destroyed the coroutine. With [`End::Open`] it is the trace that ends
    /// within it, which suspends nothing. Gives whether the coroutine is destroyed, and no call of
    /// it is open: then [`Strands::destroyed`] is to be called.
    pub fn end_activation(
        &mut self,
        (slot, destroys): (u32, bool),
        (ran, nested): (u64, u64),
        end: End,
        (thread, time): (usize, u64),
    ) -> bool {
        let slots = &mut self.slots;
        let destroyed = slots.end_activation((slot, destroys), (ran, nested), time);
        if end == End::Open {
            slots.is_cut(slot);
        }
        if S::LIVES && end != End::Open {
            self.sink.suspended(slots.id(slot), thread, Nanos(time));
        }
        destroyed
    }

    /// See [`Instances::unseen`].
    pub fn unseen(&mut self, coroutine: (u32, Addr), thread: usize, time: u64) -> u32 {
        let (slots, sink) = (&mut self.slots, &mut self.sink);
        self.instances
            .unseen(slots, sink, coroutine, (thread, time))
    }

    /// The strand that made the one in this slot.
    pub fn maker(&self, slot: u32) -> Option<StrandId> {
        self.slots.parent(slot)
    }

    /// The coroutine's instance in `slot` was destroyed on this thread, and no call of it is open.
    pub fn destroyed(&mut self, slot: u32, thread: usize, time: u64) {
        let (slots, sink) = (&mut self.slots, &mut self.sink);
        self.instances.destroyed(slots, sink, slot, (thread, time));
    }

    /// The strand in `slot` has ended.
    pub fn end(&mut self, slot: u32, time: u64) {
        self.slots.end(slot, time, &mut self.sink);
    }

    /// The trace ends while the strand in this slot runs.
    pub fn is_cut(&mut self, slot: u32) {
        self.slots.is_cut(slot);
    }

    /// No more events come: gives the sink, which is told of the strands that live, and the counts
    /// of strands that are not sure, or whose maker is unknown.
    pub fn finish(mut self) -> (S, Unresolved) {
        self.instances.finish(&mut self.slots, &mut self.sink);
        // Other threads may have gone on for longer. What cannot be read is said elsewhere.
        let process = self.process;
        self.slots
            .finish(|| process.last().unwrap_or_default(), &mut self.sink);
        let unresolved = Unresolved {
            parents: self.instances.orphans(),
            fibers: self.unknown_makers,
            ..self.slots.unsure()
        };
        (self.sink, unresolved)
    }
}

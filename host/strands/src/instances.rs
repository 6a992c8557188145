//! Which instance of a coroutine runs.
//!
//! A coroutine's frame is found again at the same address until it is destroyed, and then another's may be there. A new instance begins where
//!
//! - nothing was known at that address, or what was there was destroyed, or was another coroutine's;
//! - the resume index is 0: it runs for the first time;
//! - it is 2 after anything but 0: GCC numbers the suspension points from 2 in steps of two, the first is behind the initial one, and nothing comes back to that;
//! - its ramp is what called it: that makes a new one each time.
//!
//! Whoever runs the ramp is the parent. Where the first activation is not seen (the optimiser put it into the ramp), the ramp's call is remembered, and the next new instance is from there.

use crate::code::Role;
use crate::decoder::{Decoder, Entered};
use crate::hash::FastMap;
use crate::live::Live;
use crate::sink::Sink;
use crate::stacks::Frame;
use crate::{Kind, StrandId};
use heddle_symbols::CoroutinePart;
use heddle_trace_file::{Addr, CoroutineFrame, Nanos};
use std::collections::VecDeque;

/// The instances that live, and the ramps that made some of which nothing was seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Instances {
    /// Slots by address.
    at: FastMap<Addr, u32>,
    /// By coroutine: the strands that called its ramp, and when.
    unseen: FastMap<u32, VecDeque<(StrandId, u64)>>,
    /// Destroyed ones, latest last: the compiler may have made the rest of a destruction a tail call, which comes after it.
    destroyed: VecDeque<(u32, StrandId)>,
}

/// What a call does to an instance.
pub(crate) struct Instance {
    pub slot: u32,
    pub flags: u8,
}

/// Coroutines without symbols are numbered by their function, from here on.
const NAMELESS: u32 = 1 << 31;

/// Destroyed instances that may be heard of once more.
const DESTROYED: usize = 32;

/// Ramps of one coroutine that are remembered.
const UNSEEN: usize = 1 << 20;

impl Instances {
    /// A ramp of this coroutine returned that made an instance of which nothing was seen.
    pub fn unseen(&mut self, coroutine: u32, maker: StrandId, time: u64) {
        let makers = self.unseen.entry(coroutine).or_default();
        if makers.len() >= UNSEEN {
            makers.pop_front();
        }
        makers.push_back((maker, time));
    }

    /// This instance is no more.
    pub fn forget(&mut self, live: &Live, slot: u32) {
        let address = live.address();
        if self.at.get(&address) == Some(&slot) {
            self.at.remove(&address);
        }
    }
}

impl<S: Sink> Decoder<'_, S> {
    /// The instance that a call with this frame runs or destroys, on `stack`; `None` if the function is no coroutine's.
    #[cold]
    #[inline(never)]
    pub fn instance(
        &mut self,
        context: usize,
        stack: u32,
        new: &Entered,
        frame: CoroutineFrame,
        function: u32,
    ) -> Option<Instance> {
        let named = function < self.code.functions();
        let (coroutine, part) = match self.code.role(function) {
            Role::Part(coroutine, part) => (coroutine, part),
            // Symbols say that it is no coroutine's; without them, the capture says that it may be.
            _ if named => return None,
            _ => (NAMELESS | function, CoroutinePart::Resume),
        };
        let address = frame.address();
        let index = frame.resume_index();
        let known = self.instances.at.get(&address).copied();
        // Without a resume index, a body says that it destroys only by whom it comes from.
        let jumped = self.jumped_from(context, new);
        let rest_of = known.is_some_and(|slot| {
            index.is_none() && self.slots[slot].dying && jumped == Some(self.slots[slot].strand.id)
        });
        let destroys =
            part != CoroutinePart::Resume || index.is_some_and(|index| index & 1 == 1) || rest_of;
        let around = self.stacks[stack as usize].top().copied();
        let ramp = around.filter(|outer| {
            outer.is(Frame::RAMP) && self.code.role(outer.callee) == Role::Ramp(coroutine)
        });
        let same = known.filter(|&slot| {
            let live = &self.slots[slot];
            let before = live.strand.resume_index();
            let begins = index == Some(0)
                || ramp.is_some()
                || (index == Some(2) && before.is_some_and(|before| before != 0));
            live.coroutine == coroutine && !live.dying && (destroys || !begins)
        });
        // What began to destroy it calls what ends its locals' lives, or jumps to it.
        let rest = known.filter(|&slot| {
            let live = &self.slots[slot];
            destroys && live.dying && live.coroutine == coroutine
        });
        let slot = match same.or(rest) {
            Some(slot) => slot,
            None => {
                if let Some(old) = known {
                    self.replaced(old);
                }
                let slot = self.new_instance(context, stack, new, frame, coroutine, ramp.is_some());
                self.instances.at.insert(address, slot);
                slot
            }
        };
        if ramp.is_some()
            && let Some(outer) = self.stacks[stack as usize].frames.last_mut()
        {
            outer.flags &= !Frame::RAMP;
        }
        let strand = &mut self.slots[slot].strand;
        if !destroys {
            strand.goes_on_behind(index);
        }
        let flags = Frame::COROUTINE | if destroys { Frame::DESTROYS } else { 0 };
        Some(Instance { slot, flags })
    }

    /// An instance was destroyed, and no call of it is open.
    pub fn destroyed(&mut self, slot: u32, time: u64) {
        let strand = &mut self.slots[slot].strand;
        strand.dies(Nanos(time));
        let id = strand.id;
        self.instances.destroyed.push_back((slot, id));
        if self.instances.destroyed.len() > DESTROYED
            && let Some((slot, id)) = self.instances.destroyed.pop_front()
            && self.slots.holds(slot)
            && self.slots[slot].strand.id == id
            && self.slots[slot].open == 0
        {
            self.instances.forget(&self.slots[slot], slot);
            self.slots.end(slot, time, &mut self.sink);
        }
    }

    /// An instance whose frame is another's now.
    fn replaced(&mut self, slot: u32) {
        let live = &mut self.slots[slot];
        live.dying = true;
        if live.open == 0 {
            let last = live.strand.last.0;
            self.instances.forget(&self.slots[slot], slot);
            self.slots.end(slot, last, &mut self.sink);
        }
    }

    fn new_instance(
        &mut self,
        context: usize,
        stack: u32,
        new: &Entered,
        frame: CoroutineFrame,
        coroutine: u32,
        in_ramp: bool,
    ) -> u32 {
        let slot = self
            .slots
            .add(Kind::Coroutine, self.thread(context), Nanos(new.time));
        let outer = self.slots[self.stacks[stack as usize].innermost()]
            .strand
            .id;
        let first = in_ramp || frame.resume_index() == Some(0);
        let (parent, born) = if first {
            (outer, new.time)
        } else {
            let makers = self.instances.unseen.get_mut(&coroutine);
            match makers.and_then(VecDeque::pop_front) {
                Some(maker) => maker,
                None => {
                    self.unresolved.parents += 1;
                    (outer, new.time)
                }
            }
        };
        let live = &mut self.slots[slot];
        live.coroutine = coroutine;
        live.strand.last = Nanos(born);
        live.strand.parent = Some(parent);
        live.strand.born = Nanos(born);
        live.strand.frame = Some(frame);
        live.strand.begins_with(Addr(new.function));
        self.sink.born(&live.strand);
        slot
    }
}

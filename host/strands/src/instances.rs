//! Which instance of a coroutine runs.
//!
//! A coroutine's frame is found again at the same address until it is destroyed, and then another's
//! may be there. A new instance begins where
//!
//! - nothing was known at that address, or what was there was destroyed, or was another
//!   coroutine's;
//! - the resume index is 0: it runs for the first time;
//! - it is 2 after anything but 0: GCC numbers the suspension points from 2 in steps of two, the
//!   first is behind the initial one, and nothing comes back to that;
//! - its ramp is what called it: that makes a new one each time.
//!
//! The strand that runs the ramp is the parent. Where the first activation is not seen (the
//! optimiser put it into the ramp), the ramp's call is remembered, and the next new instance is
//! from there.

use crate::code::{Code, Role};
use crate::entered::Entered;
use crate::live::Slots;
use crate::sink::Sink;
use crate::stacks::Frame;
use crate::{Kind, StrandId};
use heddle_symbols::CoroutinePart;
use heddle_trace_file::{Addr, CoroutineFrame, Nanos};
use rustc_hash::FxHashMap;
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
    at: FxHashMap<Addr, u32>,
    /// The strands that called a coroutine's ramp, and when, for instances that were not seen yet.
    unseen: FxHashMap<u32, VecDeque<(StrandId, u64)>>,
    /// Instances that were destroyed, latest last. The compiler may have made the rest of a
    /// destruction a tail call, which comes after its end.
    destroyed: VecDeque<(u32, StrandId)>,
}

/// The context in which a call is entered.
pub(crate) struct Around<'f> {
    /// Index of the thread, in its process.
    pub thread: usize,
    /// The innermost call of its stack.
    pub top: Option<&'f mut Frame>,
    /// The strand that runs on the stack.
    pub strand: StrandId,
    /// The strand whose activation ended just before, in its place.
    pub jumped: Option<StrandId>,
}

/// The effect of a call on an instance.
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

impl<'a> Instances<'a> {
    /// Starts without instances, for the process with this code. `capturing`: frames are captured.
    pub fn new(code: &'a Code, capturing: bool) -> Self {
        Instances {
            code,
            capturing,
            orphans: 0,
            at: FxHashMap::default(),
            unseen: FxHashMap::default(),
            destroyed: VecDeque::new(),
        }
    }

    /// The number of instances whose maker is unknown.
    pub fn orphans(&self) -> u64 {
        self.orphans
    }

    /// Whether a call of this function makes an instance, as far as frames are captured.
    #[inline]
    pub fn makes(&self, function: u32) -> bool {
        self.capturing && matches!(self.code.role(function), Role::Ramp(_))
    }

    /// No more events come: slots' numbers mean nothing from here on.
    pub fn clear(&mut self) {
        self.at.clear();
        self.unseen.clear();
        self.destroyed.clear();
    }

    /// This ramp, called by `maker`, returned, and made an instance of which nothing was seen.
    pub fn unseen(&mut self, ramp: u32, maker: StrandId, time: u64) {
        let Role::Ramp(coroutine) = self.code.role(ramp) else {
            return;
        };
        let makers = self.unseen.entry(coroutine).or_default();
        if makers.len() >= UNSEEN {
            makers.pop_front();
        }
        makers.push_back((maker, time));
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
        let known = self.at.get(&address).copied();
        // Without a resume index, only a tail call from the destroying function says that a body
        // destroys.
        let rest_of = known.is_some_and(|slot| {
            let live = &slots[slot];
            index.is_none() && live.dying && around.jumped == Some(live.strand.id)
        });
        let destroys =
            part != CoroutinePart::Resume || index.is_some_and(|index| index & 1 == 1) || rest_of;
        let ramp = around.top.as_mut().filter(|outer| {
            outer.is(Frame::RAMP) && self.code.role(outer.callee) == Role::Ramp(coroutine)
        });
        let in_ramp = ramp.is_some();
        if let Some(outer) = ramp {
            outer.flags &= !Frame::RAMP;
        }
        let same = known.filter(|&slot| {
            let live = &slots[slot];
            let before = live.strand.resume_index();
            let begins = index == Some(0)
                || in_ramp
                || (index == Some(2) && before.is_some_and(|before| before != 0));
            live.coroutine == coroutine && !live.dying && (destroys || !begins)
        });
        // The function that began to destroy the instance calls, or jumps to, the one that destroys
        // its locals.
        let rest = known.filter(|&slot| {
            let live = &slots[slot];
            destroys && live.dying && live.coroutine == coroutine
        });
        let slot = match same.or(rest) {
            Some(slot) => slot,
            None => {
                if let Some(old) = known {
                    self.replaced(slots, sink, old);
                }
                let first = in_ramp || index == Some(0);
                let (parent, born) = self.maker(coroutine, first, around.strand, new.time);
                let slot = slots.add(Kind::Coroutine, around.thread, Nanos(born));
                let live = &mut slots[slot];
                live.coroutine = coroutine;
                live.strand.parent = Some(parent);
                live.strand.frame = Some(frame);
                live.strand.begins_with(Addr(new.function));
                sink.born(&live.strand);
                self.at.insert(address, slot);
                slot
            }
        };
        let strand = &mut slots[slot].strand;
        if !destroys {
            strand.goes_on_behind(index);
        }
        let flags = Frame::COROUTINE | if destroys { Frame::DESTROYS } else { 0 };
        Some(Instance { slot, flags })
    }

    /// Who made a new instance, and when. `first`: it runs for the first time, on `outer`.
    fn maker(
        &mut self,
        coroutine: u32,
        first: bool,
        outer: StrandId,
        time: u64,
    ) -> (StrandId, u64) {
        if first {
            return (outer, time);
        }
        let makers = self.unseen.get_mut(&coroutine);
        makers.and_then(VecDeque::pop_front).unwrap_or_else(|| {
            self.orphans += 1;
            (outer, time)
        })
    }

    /// An instance was destroyed, and no call of it is open.
    pub fn destroyed(&mut self, slots: &mut Slots, sink: &mut impl Sink, slot: u32, time: u64) {
        let strand = &mut slots[slot].strand;
        strand.dies(Nanos(time));
        self.destroyed.push_back((slot, strand.id));
        if self.destroyed.len() > DESTROYED
            && let Some((slot, id)) = self.destroyed.pop_front()
            && slots.holds(slot, id)
            && slots[slot].open == 0
        {
            self.end(slots, sink, slot, time);
        }
    }

    /// An instance whose frame is another's now.
    fn replaced(&mut self, slots: &mut Slots, sink: &mut impl Sink, slot: u32) {
        let live = &mut slots[slot];
        live.dying = true;
        if live.open == 0 {
            let last = live.strand.last.0;
            self.end(slots, sink, slot, last);
        }
    }

    /// This instance is no more.
    fn end(&mut self, slots: &mut Slots, sink: &mut impl Sink, slot: u32, time: u64) {
        let address = slots[slot].address();
        if self.at.get(&address) == Some(&slot) {
            self.at.remove(&address);
        }
        slots.end(slot, time, sink);
    }
}

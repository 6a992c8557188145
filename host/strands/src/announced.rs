//! What the program itself says of its strands (`include/heddle/trace.h`): names, and what they wait for. Its numbers are bound to the strands that the events show.

use crate::Kind;
use crate::decoder::Decoder;
use crate::hash::FastMap;
use crate::sink::Sink;
use crate::untraced::BASE;
use heddle_trace_file::{Addr, Event, EventKind};

/// The program's numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Announced {
    /// By number.
    bound: FastMap<u64, Bound>,
    /// Names of those that have not run yet.
    names: FastMap<u64, Box<str>>,
}

/// The strand that a number means.
#[derive(Clone, Copy, Debug)]
struct Bound {
    slot: u32,
    /// The strand that was in the slot then.
    id: crate::StrandId,
    /// The stack that it ran on then.
    stack: u32,
}

impl Announced {
    /// Whether the strand of this number has run.
    pub fn is_known(&self, number: u64) -> bool {
        self.bound.contains_key(&number)
    }
}

impl<S: Sink> Decoder<'_, S> {
    /// Takes an announcement, if it is one.
    pub fn announce(&mut self, context: usize, event: &Event) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned().into_boxed_str();
        match event.kind {
            EventKind::StrandSwitch { to } => {
                self.contexts[context].announced = to;
                self.contexts[context].says = to;
            }
            EventKind::StrandName { strand, name } => match self.bound(strand) {
                Some(slot) => {
                    self.slots[slot].strand.set_name(text(name));
                    self.sink.named(&self.slots[slot].strand);
                }
                None => drop(self.announced.names.insert(strand, text(name))),
            },
            EventKind::StrandWaits { strand, reason } => {
                if let Some(slot) = self.bound(strand) {
                    self.slots[slot].strand.set_waits(text(reason));
                }
            }
            EventKind::StrandEnd { strand } => {
                if let Some(slot) = self.bound(strand) {
                    self.slots[slot].strand.dies(event.time);
                }
                self.announced.bound.remove(&strand);
                self.announced.names.remove(&strand);
            }
            _ => {}
        }
    }

    /// The strand that runs now is the one that was announced last.
    #[cold]
    pub fn bind(&mut self, context: usize) {
        let Some(number) = self.contexts[context].announced.take() else {
            return;
        };
        let slot = self.innermost(context);
        if self.slots[slot].strand.kind == Kind::Thread || self.bound(number).is_some() {
            return;
        }
        let name = self.announced.names.remove(&number);
        let live = &mut self.slots[slot];
        let id = live.strand.id;
        let of = &self.contexts[context];
        let stack = of.current.unwrap_or(of.own);
        if let Some(name) = name {
            live.strand.set_name(name);
            self.sink.named(&live.strand);
        }
        let bound = Bound { slot, id, stack };
        self.announced.bound.insert(number, bound);
    }

    /// Whether the strand that was announced has not been heard of before.
    pub fn starts_as_announced(&self, context: usize) -> bool {
        let announced = self.contexts[context].announced;
        announced.is_some_and(|number| !self.announced.is_known(number))
    }

    /// Has the thread run the strand that was announced: at `sp`, a call has ended of which nothing else tells whose it is.
    pub fn run_as_announced(&mut self, context: usize, sp: u64, time: u64) {
        let Some(number) = self.contexts[context].announced else {
            return;
        };
        if self.home(context, sp).is_some() {
            return;
        }
        let stack = match self.bound(number) {
            Some(slot) => {
                let bound = self.announced.bound.get(&number).map(|bound| bound.stack);
                bound.filter(|&stack| {
                    let of = &self.stacks[stack as usize];
                    of.slot == slot && of.owner.is_none()
                })
            }
            None => {
                let stack = self.new_stack(context, Addr(0), time);
                let of = &mut self.stacks[stack as usize];
                of.base = sp;
                of.begun_before = true;
                Some(stack)
            }
        };
        if let Some(stack) = stack {
            self.run(context, stack, time);
        }
    }

    /// Whether the strand whose stack this is has been announced to run on the thread.
    pub fn runs_as_announced(&self, context: usize, stack: u32) -> bool {
        let announced = self.contexts[context].says;
        let slot = announced.and_then(|number| self.bound(number));
        slot.is_some_and(|slot| slot == self.stacks[stack as usize].slot)
    }

    /// The stack of the fiber that was announced to run on the thread, if recording began within its calls: where those are that were not seen to begin, only this tells whose a
    /// call is.
    pub fn announced_stack(&self, context: usize) -> Option<u32> {
        let number = self.contexts[context].says?;
        let slot = self.bound(number)?;
        let stack = self.announced.bound.get(&number)?.stack;
        let of = &self.stacks[stack as usize];
        // What is first heard of it may be a call by code that is not traced, in the middle of others.
        let within = of.begun_before || self.begins_within();
        (of.slot == slot && of.owner.is_none() && within).then_some(stack)
    }

    /// The stack of the fiber that was announced to run on the thread, if its latest outermost call has ended, and began near `sp`.
    pub fn announced_empty(&self, context: usize, sp: u64) -> Option<u32> {
        let number = self.contexts[context].says?;
        let slot = self.bound(number)?;
        let stack = self.announced.bound.get(&number)?.stack;
        let of = &self.stacks[stack as usize];
        let here = of.frames.is_empty() && of.base.abs_diff(sp) < BASE;
        (of.slot == slot && of.owner.is_none() && here).then_some(stack)
    }

    /// The slot of the strand of this number, as long as it lives.
    fn bound(&self, number: u64) -> Option<u32> {
        let &Bound { slot, id, .. } = self.announced.bound.get(&number)?;
        (self.slots.holds(slot) && self.slots[slot].strand.id == id).then_some(slot)
    }
}

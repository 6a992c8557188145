//! Stacks that the program made for fibers, by `makecontext` or `make_fcontext`. Until the next one
//! is made at its place, a stack is one fiber's, whatever calls are made on it: so the record tells
//! both who made the fiber, and that two calls are the same fiber's.

use crate::StrandId;
use crate::address_map::AddressMap;
use crate::running::Running;
use crate::sink::Sink;
use crate::stacks::{Inner, Presence, REACH};
use heddle_trace_file::Addr;
use rustc_hash::FxHashMap;

/// The stacks that were made last at each place.
#[derive(Clone, Debug, Default)]
pub(crate) struct MadeStacks {
    /// By the address behind the highest. They do not overlap.
    stacks: AddressMap<MadeStack>,
    latest: u64,
    /// The fibers that made stacks before they made a call, by the number of their own stack.
    makers: FxHashMap<u64, StrandId>,
    /// By the number of a stack that lies within a thread's own: where.
    arrays: FxHashMap<u64, Inner>,
}

/// A stack that was made for a fiber.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MadeStack {
    low: u64,
    /// No other has it.
    number: u64,
    maker: Maker,
    /// The fiber that it is, or that was here before its first call was seen.
    latest: Option<Fiber>,
    /// Its first call was seen.
    has_begun: bool,
    /// Its fiber has made a stack before its own first call.
    has_made: bool,
}

// Hundreds of thousands may have been made.
const _: () = assert!(size_of::<MadeStack>() <= 56);

/// The strand that made a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Maker {
    /// It had been met.
    Strand(StrandId),
    /// The fiber on the stack of this number: none of its calls had been seen.
    OnStack(u64),
    /// It ran on a stack of which nothing is known.
    Unknown,
}

/// What a thread runs.
pub(crate) enum Runs {
    /// The stack of this number in the decoder.
    Stack(u32),
    /// A stack that was made, on which no call has been seen.
    Unmet,
    /// A stack of which nothing is known.
    Unknown,
}

/// A fiber that has been met.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fiber {
    /// The number of its stack.
    pub stack: u32,
    pub slot: u32,
    pub id: StrandId,
}

impl Fiber {
    /// Whether it is still there.
    fn lives<S: Sink>(&self, running: &Running<'_, S>) -> bool {
        running.holds(self.slot, self.id)
    }
}

impl MadeStack {
    /// The fiber whose stack it is, if a call of it was seen.
    pub fn fiber<S: Sink>(&self, running: &Running<'_, S>) -> Option<Fiber> {
        self.begun().filter(|fiber| fiber.lives(running))
    }

    /// Whether it is this stack of the decoder.
    pub fn is_on<S: Sink>(&self, running: &Running<'_, S>, stack: u32) -> bool {
        self.fiber(running)
            .is_some_and(|fiber| fiber.stack == stack)
    }

    /// Whether a call of the fiber was seen.
    pub fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// The fiber that was there before.
    pub fn before<S: Sink>(&self, running: &Running<'_, S>) -> Option<Fiber> {
        let before = self.latest.filter(|_| !self.has_begun);
        before.filter(|fiber| fiber.lives(running))
    }

    /// The fiber whose stack it is, if a call of it was seen, whether it lives or not.
    fn begun(&self) -> Option<Fiber> {
        self.latest.filter(|_| self.has_begun)
    }
}

impl MadeStacks {
    /// The thread makes a stack from `low` to `high`, with the stack pointer `by`.
    pub fn make<S: Sink>(
        &mut self,
        running: &Running<'_, S>,
        context: usize,
        (low, high): (Addr, Addr),
        by: Addr,
    ) {
        if low >= high {
            return;
        }
        let maker = self.maker_at(running, context, by.0);
        let mut before = None;
        let next = |stacks: &AddressMap<MadeStack>| {
            let (end, stack) = stacks.from(low.0 + 1).next()?;
            (stack.low < high.0).then_some((end, *stack))
        };
        while let Some((end, stack)) = next(&self.stacks) {
            before = stack.latest.or(before);
            self.arrays.remove(&stack.number);
            self.stacks.remove(end);
        }
        self.latest += 1;
        let map = running.map();
        let (own, last) = (map.own_stack_at(context, low.0), high.0 - 1);
        if let Some(own) = own.filter(|_| own == map.own_stack_at(context, last)) {
            let place = map.place_within(own, last);
            self.arrays.insert(
                self.latest,
                Inner {
                    low: low.0,
                    beneath: low.0,
                    ..place
                },
            );
        }
        let made = MadeStack {
            low: low.0,
            number: self.latest,
            maker,
            latest: before,
            has_begun: false,
            has_made: false,
        };
        self.stacks.insert(high.0, made);
    }

    /// The strand that runs on the thread where its stack pointer is `sp`.
    fn maker_at<S: Sink>(&mut self, running: &Running<'_, S>, context: usize, sp: u64) -> Maker {
        match self.runs_at(running, context, sp) {
            Runs::Stack(stack) => {
                let slot = running.stack(stack).innermost();
                Maker::Strand(running.id(slot))
            }
            Runs::Unmet => match self.at_mut(sp) {
                Some(made) => {
                    made.has_made = true;
                    Maker::OnStack(made.number)
                }
                None => Maker::Unknown,
            },
            Runs::Unknown => Maker::Unknown,
        }
    }

    /// The stack that the thread runs where its stack pointer is `sp`.
    pub fn runs_at<S: Sink>(&self, running: &Running<'_, S>, context: usize, sp: u64) -> Runs {
        let map = running.map();
        if let Some(own) = map.own_stack_at(context, sp) {
            let unmet = self.array_at(sp).filter(|(made, array)| {
                !made.has_begun && map.presence(array, sp) != Presence::Gone
            });
            return match unmet {
                Some(_) => Runs::Unmet,
                None => Runs::Stack(map.inner_at(sp).unwrap_or(own)),
            };
        }
        if let Some(made) = self.at(sp) {
            return match made.begun() {
                Some(fiber) if fiber.lives(running) => Runs::Stack(fiber.stack),
                Some(_) => Runs::Unknown,
                None => Runs::Unmet,
            };
        }
        let current = running.thread(context).current.filter(|&stack| {
            let top = running.stack(stack).top();
            let near = top.is_some_and(|top| top.sp.saturating_sub(sp) < REACH);
            near && map.is_next_on(context, stack, sp)
        });
        current.map_or(Runs::Unknown, Runs::Stack)
    }

    /// The stack that the thread runs where its stack pointer is `sp`, if that is known.
    pub fn stack_at<S: Sink>(
        &self,
        running: &Running<'_, S>,
        context: usize,
        sp: u64,
    ) -> Option<u32> {
        match self.runs_at(running, context, sp) {
            Runs::Stack(stack) => Some(stack),
            Runs::Unmet | Runs::Unknown => None,
        }
    }

    fn at_mut(&mut self, sp: u64) -> Option<&mut MadeStack> {
        let made = self.stacks.next_mut(sp + 1)?;
        (made.low <= sp).then_some(made)
    }

    /// The stack that was made where `sp` is.
    pub fn at(&self, sp: u64) -> Option<MadeStack> {
        let made = self.stacks.next(sp + 1)?;
        (made.low <= sp).then_some(*made)
    }

    /// The stack of the fiber that has the one which was made where `sp` is; `None` if that lies
    /// within a thread's own.
    #[inline]
    pub fn fiber_at<S: Sink>(&self, running: &Running<'_, S>, sp: u64) -> Option<u32> {
        let made = self.stacks.next(sp + 1)?;
        if sp < made.low || self.is_array(made) {
            return None;
        }
        made.fiber(running).map(|fiber| fiber.stack)
    }

    /// Whether a stack lies within a thread's own.
    #[inline]
    fn is_array(&self, made: &MadeStack) -> bool {
        // Few programs have any.
        !self.arrays.is_empty() && self.arrays.contains_key(&made.number)
    }

    /// The stack that was made where `sp` is, if no call of its fiber was seen; `None` if it lies
    /// within a thread's own, or if the innermost call that the thread has open, which is at `top`,
    /// lies on it: a handler, or what shares the memory.
    pub fn unmet_at(&self, sp: u64, top: Option<u64>) -> Option<MadeStack> {
        let (end, made) = self.stacks.from(sp + 1).next()?;
        let place = made.low..end;
        let is_unmet = place.contains(&sp) && !made.has_begun && !self.is_array(made);
        (is_unmet && !top.is_some_and(|top| place.contains(&top))).then_some(*made)
    }

    /// The stack that was made where `sp` is, and where that lies within a thread's own, if it
    /// does. Such a stack is an array of a function, and is one as long as that is open.
    #[inline]
    pub fn array_at(&self, sp: u64) -> Option<(MadeStack, Inner)> {
        // Few programs have any.
        if self.arrays.is_empty() {
            return None;
        }
        let made = self.at(sp)?;
        Some((made, *self.arrays.get(&made.number)?))
    }

    /// The strand that made a stack; `None` if nothing tells.
    pub fn maker_of(&self, made: &MadeStack) -> Option<StrandId> {
        match made.maker {
            Maker::Strand(strand) => Some(strand),
            Maker::OnStack(number) => self.makers.get(&number).copied(),
            Maker::Unknown => None,
        }
    }

    /// The same, of the stack where `sp` is.
    pub fn maker(&self, sp: u64) -> Option<StrandId> {
        self.maker_of(&self.at(sp)?)
    }

    /// The first call was made on the stack where `sp` is: it is this fiber's.
    pub fn begins(&mut self, sp: u64, fiber: Fiber) {
        let Some(made) = self.at_mut(sp) else {
            return;
        };
        (made.latest, made.has_begun) = (Some(fiber), true);
        let (number, has_made) = (made.number, made.has_made);
        if has_made {
            self.makers.insert(number, fiber.id);
        }
    }

    /// The stack where `sp` is lies within a thread's own, and is not in the frame of the call that
    /// was open below: a call was made in it when that had ended.
    pub fn outlives_below(&mut self, sp: u64) {
        if let Some(made) = self.at(sp)
            && let Some(array) = self.arrays.get_mut(&made.number)
        {
            array.below = None;
        }
    }

    /// A call that is open on a thread's own stack makes one at `sp`. Where that lies in an array
    /// that may be in its frame, it is not: its frame would end below.
    pub fn calls_within<S: Sink>(&mut self, running: &Running<'_, S>, sp: u64) {
        if let Some((made, array)) = self.array_at(sp)
            && running.map().presence(&array, sp) == Presence::Open
        {
            self.arrays.remove(&made.number);
        }
    }

    /// Events of a thread are missing: it may have made stacks meanwhile.
    pub fn forget(&mut self) {
        self.stacks.clear();
        self.arrays.clear();
    }
}

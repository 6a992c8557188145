//! Puts the events of a group of threads on strands, one after the other in order of time.
//!
//! A group is the threads of a process that may run each other's strands; a thread that never leaves its own stack is one by itself. Open calls are kept by
//! *stack*: stack pointer, caller and nesting tell which stack an event belongs to ([`crate::enter`], [`crate::leave`]). A call that runs a coroutine begins an
//! *activation* of its instance, and calls inside it are that strand's ([`crate::instances`]).

use crate::announced::Announced;
use crate::code::Code;
use crate::instances::Instances;
use crate::live::Slots;
use crate::offsets::Offsets;
use crate::sink::Sink;
use crate::sites::Sites;
use crate::stacks::{Homes, Resting, Stack};
use crate::survey::{Places, Survey};
use crate::{StrandId, Unresolved};
use heddle_calls::{End, Loose};
use heddle_trace_file::{CoroutineFrame, Event, EventKind, Modules, Nanos, Process, Way};

/// The group's threads cannot be decoded one by one: they run on other stacks than their own, or resume coroutines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotAlone;

/// What is kept by thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct Context {
    /// The stack that it runs, where that is known.
    pub current: Option<u32>,
    pub own: u32,
    /// Its index in its process.
    pub thread: usize,
    /// It is known where its own stack is.
    pub settled: bool,
    /// When it was last heard of.
    pub latest: u64,
    pub gaps: u32,
    /// Its enters and exits so far.
    pub events: u64,
    /// The activation that ended with the event of this number, and the stack pointer and caller of its call: another in its place was resumed by it.
    pub left: Option<(u64, StrandId, u64, u64)>,
    /// The strand that was announced last.
    pub says: Option<u64>,
    /// A strand was announced, and nothing has happened since.
    pub announced: Option<u64>,
}

/// The decoder of one group.
pub(crate) struct Decoder<'a, S> {
    pub code: &'a Code,
    pub modules: &'a Modules,
    /// Addresses mean other functions at other times.
    pub changing: bool,
    pub sink: S,
    /// Only the thread's own stack and no coroutine is allowed.
    pub alone: bool,
    /// Coroutines' frames were captured.
    pub capturing: bool,
    /// From an earlier look at the same events.
    pub known: Option<&'a Survey>,
    /// From this one.
    pub survey: Survey,
    /// In the first look: where stacks have been.
    pub places: Places,
    /// Index of its context by a thread's index in its process.
    pub threads: Vec<u32>,
    pub contexts: Vec<Context>,
    /// By thread: the recorder saw its end.
    pub ended: Vec<bool>,
    pub stacks: Vec<Stack>,
    pub free: Vec<u32>,
    pub resting: Resting,
    pub homes: Homes,
    pub sites: Sites,
    pub slots: Slots,
    pub instances: Instances,
    pub announced: Announced,
    pub unresolved: Unresolved,
    pub loose: Loose,
    pub latest: u64,
}

/// What a new call is.
#[derive(Clone, Copy)]
pub(crate) struct Entered {
    pub function: u64,
    pub caller: u64,
    pub sp: u64,
    pub time: u64,
    pub way: Way,
    pub frame: Option<CoroutineFrame>,
}

impl<'a, S: Sink> Decoder<'a, S> {
    /// A decoder for these threads of `process`, which has the index `number` in the trace.
    pub fn new(
        process: &'a Process,
        number: usize,
        code: &'a Code,
        threads: &[usize],
        alone: bool,
        known: Option<&'a Survey>,
        sink: S,
    ) -> Self {
        let mut decoder = Decoder {
            code,
            modules: process.modules(),
            changing: process.modules().generation(Nanos(u64::MAX)) > 0,
            sink,
            alone,
            capturing: known.is_some_and(|known| known.captures),
            known,
            survey: Survey {
                offsets: known.map_or_else(Offsets::default, |known| known.offsets.clone()),
                ..Survey::default()
            },
            places: Places::default(),
            threads: vec![0; process.threads().len()],
            contexts: Vec::new(),
            ended: Vec::new(),
            stacks: Vec::new(),
            free: Vec::new(),
            resting: Resting::default(),
            homes: Homes::default(),
            sites: Sites::new(code),
            slots: Slots::new(StrandId::new(number, process.threads().len())),
            instances: Instances::default(),
            announced: Announced::default(),
            unresolved: Unresolved::default(),
            loose: Loose::default(),
            latest: 0,
        };
        for (index, &thread) in threads.iter().enumerate() {
            decoder.threads[thread] = index as u32;
            let of = &process.threads()[thread];
            let id = StrandId::new(number, thread);
            let slot = decoder.slots.add_thread(id, thread, of);
            decoder.sink.born(&decoder.slots[slot].strand);
            let stack = Stack {
                slot,
                owner: Some(index),
                thread: index,
                running: true,
                ..Stack::default()
            };
            decoder.contexts.push(Context {
                current: Some(index as u32),
                own: index as u32,
                thread,
                settled: of.stack().is_some(),
                latest: of.first().0,
                ..Context::default()
            });
            decoder.stacks.push(stack);
            decoder.ended.push(of.ended());
            if let Some(range) = of.stack() {
                decoder.homes.add(range.start.0..range.end.0, index);
            }
        }
        decoder
    }

    /// Takes the next event of the thread with this index in its process.
    ///
    /// # Errors
    /// [`NotAlone`], if it may not be.
    #[inline]
    pub fn feed(&mut self, thread: usize, event: &Event) -> Result<(), NotAlone> {
        let context = self.threads[thread] as usize;
        self.latest = event.time.0;
        let of = &mut self.contexts[context];
        of.latest = event.time.0;
        of.events += 1;
        match event.kind {
            EventKind::Enter {
                function,
                caller,
                sp,
                frame,
            } => {
                if self.changing {
                    let generation = self.modules.generation(event.time);
                    self.sites.begin_generation(generation);
                }
                self.unresolved.events += 1;
                let entered = Entered {
                    function: function.0,
                    caller: caller.0,
                    sp: sp.0,
                    time: event.time.0,
                    way: event.way,
                    frame,
                };
                self.enter(context, &entered)?;
                if self.contexts[context].announced.is_some() {
                    self.bind(context);
                }
            }
            EventKind::Exit { function, sp } => {
                self.unresolved.events += 1;
                self.exit(context, function, sp.0, event.way, event.time)?;
                if self.contexts[context].announced.is_some() {
                    self.bind(context);
                }
            }
            _ => {
                if matches!(event.kind, EventKind::Gap { .. }) {
                    self.contexts[context].gaps += 1;
                }
                self.announce(context, event);
                let slot = self.innermost(context);
                let strand = self.slots[slot].strand.id;
                self.sink.other(strand, thread, event);
            }
        }
        Ok(())
    }

    /// The slot of the strand that the thread runs: its own where no other is known.
    pub fn innermost(&self, context: usize) -> u32 {
        let of = &self.contexts[context];
        let stack = of.current.unwrap_or(of.own);
        self.stacks[stack as usize].innermost()
    }

    /// Ends all that is open: there are no more events.
    pub fn finish(&mut self) {
        for stack in 0..self.stacks.len() as u32 {
            let of = &self.stacks[stack as usize];
            if of.owner.is_none() && of.slot != Stack::SPENT && of.frames.is_empty() {
                // Its outermost call has returned, and nothing was heard of it since.
                let (slot, since) = (of.slot, of.since);
                let last = if of.running { self.latest } else { since };
                self.slots[slot].strand.is_gone(Nanos(last));
            }
            while self.close(stack, End::Open).is_some() {}
        }
        for stack in &self.stacks {
            if stack.slot == Stack::SPENT {
                continue;
            }
            let until = match stack.owner {
                Some(context) => {
                    let until = self.contexts[context].latest;
                    if self.ended[context] {
                        self.slots[stack.slot].strand.dies(Nanos(until));
                    }
                    until
                }
                None if stack.running => self.latest,
                None => stack.since,
            };
            self.slots[stack.slot].account(until, stack.away, stack.nested);
        }
        // Their numbers of slots mean nothing from here on.
        self.instances = Instances::default();
        self.announced = Announced::default();
        self.survey.firsts.conclude();
        self.slots.finish(&mut self.sink);
    }
}

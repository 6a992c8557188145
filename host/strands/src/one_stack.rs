//! The events of a process's threads, each thread taken for one stack: its calls are those of one
//! strand, whatever it runs.
//!
//! [`Stack`] knows that calls are gone only where the stack pointer says so. A call that an
//! exception, `longjmp` or `siglongjmp` has left may have had a smaller frame than the next one of
//! the same caller, or lie on a signal's alternate stack; here symbols say who the caller is, and
//! what was called by it before, and is still open, is gone ([`Open::leave_to_caller`]).

use crate::code::Code;
use crate::entered::Entered;
use crate::jump::{Jump, Left};
use crate::sink::{Call, Sink, StrandSpan};
use crate::sites::{Candidate, Grown, Site, Sites};
use crate::stacks::REACH;
use crate::{Strand, StrandId};
use heddle_calls::{Frame, FunctionId, Functions, Key, Loose, Span, Stack, Step};
use heddle_trace_file::{Addr, Event, EventKind, Modules, Nanos, Process, Way};
use std::ops::Range;

/// The open calls of some of a process's threads.
pub(crate) struct OneStack<'a, S> {
    modules: &'a Modules,
    threads: Vec<Open>,
    /// The index of the first of them in the process.
    first: usize,
    functions: Functions<'static>,
    sites: Sites<'a>,
    /// Enters and exits so far.
    pub events: u64,
    /// Enters so far.
    pub calls: u64,
    pub sink: S,
}

/// A thread.
struct Open {
    stack: Stack,
    strand: Strand,
    /// The open calls, outermost first.
    calls: Vec<OpenCall>,
    /// Where open calls of signals' handlers may be among these, in order: see
    /// [`Open::handler_around`].
    handlers: Vec<usize>,
}

impl Left for Frame {
    fn place(&self) -> (u64, bool) {
        (self.sp.0, self.inlined)
    }
}

/// An open call.
#[derive(Clone, Copy)]
struct OpenCall {
    function: FunctionId,
    /// The function whose machine code runs: an inlined call's is its container's.
    body: u32,
}

impl<'a, S: Sink> OneStack<'a, S> {
    /// Reads these threads of `process`, which has the index `number` in the trace.
    pub fn new(
        (process, number): (&'a Process, usize),
        code: &'a Code,
        threads: Range<usize>,
        mut sink: S,
    ) -> Self {
        let first = threads.start;
        let threads = threads.map(|index| {
            let thread = &process.threads()[index];
            Open {
                stack: Stack::of(thread),
                strand: Strand::of_thread(
                    StrandId::new(number, index),
                    index,
                    thread,
                    index as u32,
                ),
                calls: Vec::new(),
                handlers: Vec::new(),
            }
        });
        let threads: Vec<Open> = threads.collect();
        threads.iter().for_each(|thread| sink.born(&thread.strand));
        OneStack {
            modules: process.modules(),
            threads,
            first,
            functions: Functions::default(),
            sites: Sites::new(code, process.modules()),
            events: 0,
            calls: 0,
            sink,
        }
    }

    /// The thread with this index in the process begins inside these calls, outermost first.
    pub fn begin_within(&mut self, thread: usize, enters: &[Event<'static>]) {
        let events = self.events;
        enters.iter().for_each(|enter| self.feed(thread, enter));
        self.events = events;
    }

    /// The enters of the calls that are open on the thread with this index, outermost first.
    pub fn open(&self, thread: usize) -> Vec<Event<'static>> {
        let frames = self.threads[thread - self.first].stack.open();
        let enter = |frame: &Frame| Event {
            time: frame.enter,
            way: frame.way,
            kind: EventKind::Enter {
                function: frame.function,
                caller: frame.caller,
                sp: frame.sp,
                frame: None,
            },
        };
        frames.iter().map(enter).collect()
    }

    /// Takes the next event of the thread with this index in the process.
    pub fn feed(&mut self, thread: usize, event: &Event<'_>) {
        let open = &mut self.threads[thread - self.first];
        open.strand.last = event.time;
        let (mut body, mut event, mut interrupts) = (0, *event, false);
        if let Some(new) = Entered::of(&event) {
            let new = self.sites.corrected(new);
            event.kind = new.kind();
            let sites = &mut self.sites;
            (body, interrupts) = match open.leave_to_caller(thread, sites, &mut self.sink, &new) {
                Some(body) => (body, false),
                None => (
                    sites.callee(new.function, new.time),
                    sites.is_signal_return(Addr(new.caller)),
                ),
            };
        }
        if let Some(jump) = Jump::of(&event) {
            let sink = &mut self.sink;
            open.jump(thread, &self.sites, sink, (jump, event.time));
        }
        let (strand, slot) = (open.strand.id, open.strand.slot);
        let (calls, sink) = (&mut open.calls, &mut self.sink);
        let step = match interrupts {
            true => {
                open.handlers.retain(|&at| at < calls.len());
                open.handlers.push(calls.len());
                open.stack.interrupt(event)
            }
            false => open.stack.feed(event, |span, around| {
                let number = calls.pop().map_or(0, |call| call.function.0);
                sink.leave(&ended(&open.strand, thread, number, span, around));
            }),
        };
        self.events += u64::from(step != Step::Other);
        match step {
            Step::Entered => {
                let [below @ .., top] = open.stack.open() else {
                    return;
                };
                let id = self.functions.id(Key {
                    address: top.function,
                    generation: self.modules.generation(top.enter),
                });
                let container = open.calls.last().filter(|_| top.inlined);
                let body = container.map_or(body, |container| container.body);
                open.calls.push(OpenCall { function: id, body });
                open.strand.calls += 1;
                self.calls += 1;
                open.strand.begins_with(top.function);
                let frame = match event.kind {
                    EventKind::Enter { frame, .. } => frame,
                    _ => None,
                };
                self.sink.enter(&Call {
                    strand,
                    slot,
                    thread,
                    function: top.function,
                    number: id.0,
                    caller: top.caller,
                    inlined: top.inlined,
                    around: below.last().map(|outer| outer.function),
                    body: false,
                    destroys: false,
                    depth: below.len(),
                    enter: top.enter,
                    frame,
                });
            }
            Step::Unmatched(function) => self.sink.unmatched(strand, thread, function, event.time),
            Step::Other => self.sink.other(strand, thread, &event),
            Step::Left(_) | Step::Thunk => {}
        }
    }

    /// Ends all that is open: there are no more events. Gives the sink, and what did not pair up.
    pub fn finish(mut self, process: &Process) -> (S, Loose) {
        let mut loose = Loose::default();
        for (place, mut open) in self.threads.into_iter().enumerate() {
            let index = self.first + place;
            let (calls, sink) = (&mut open.calls, &mut self.sink);
            open.stack.finish(|span, around| {
                let number = calls.pop().map_or(0, |call| call.function.0);
                sink.leave(&ended(&open.strand, index, number, span, around));
            });
            loose += open.stack.loose();
            let last = open.strand.last;
            open.strand
                .ran_alone(last, process.threads()[index].ended());
            self.sink.ended(&open.strand);
        }
        (self.sink, loose)
    }
}

impl Open {
    /// Ends what is open inside the caller of a new call, if symbols say which open call that is:
    /// the code that calls runs, so what it had called before is gone. Gives the function whose
    /// machine code runs in the new call; `None` if the caller is not known, and that is the
    /// function that was entered.
    ///
    /// Not so a call that was inlined: it has its container's call site. Its container is the
    /// innermost call, or, where the container's frame has grown (`alloca`), an open one with that
    /// call site.
    fn leave_to_caller(
        &mut self,
        thread: usize,
        sites: &mut Sites<'_>,
        sink: &mut impl Sink,
        new: &Entered,
    ) -> Option<u32> {
        sites.advance(Nanos(new.time));
        let innermost = self.stack.open().last().zip(self.calls.last());
        let same_place = innermost.is_some_and(|(top, _)| top.sp.0 == new.sp);
        if let Some((top, call)) = innermost
            && let Some(&site) = sites.of(new.caller, new.function, same_place)
            && site.caller == call.body
            && top.sp.0.wrapping_sub(new.sp) == site.above
        {
            match site.above {
                0 if self.contains(sites, (top, call.body), new) => return Some(site.caller),
                0 => {}
                _ => return Some(site.callee),
            }
        }
        let callee = sites.callee(new.function, new.time);
        if let Some((top, &OpenCall { body, .. })) = innermost
            && self.contains(sites, (top, body), new)
        {
            sites.note(site(new, 0, body, callee));
            return Some(body);
        }
        let holder = sites.holder(new.caller, new.time);
        if holder.is_none_or(|function| !sites.was_entered(function)) {
            if let Some((top, &OpenCall { body, .. })) = innermost
                && self.may_contain(top, new)
                && top.sp.0 > new.sp
                && top.gaps == self.stack.gaps()
                && matches!(sites.is_in_grown(body, new), Grown::Probably | Grown::Yes)
            {
                return Some(body);
            }
            self.leave_in_frame(thread, sites, sink, new);
        }
        // Without a symbol, the site may be in code behind the function that has no hooks.
        let caller = holder.filter(|&function| sites.has_symbol(function))?;
        let entered = sites.was_entered(caller);
        let open = entered.then(|| self.caller(sites, new, caller, callee));
        let Some(index) = open.flatten() else {
            self.leave_to_unrecorded(thread, sites, sink, (caller, new));
            return None;
        };
        let frames = self.stack.open();
        let above = frames[index].sp.0 - new.sp;
        let inside = &frames[index + 1..];
        let contains = |frame: &Frame| {
            let another = frame.function.0 != new.function;
            self.may_contain(frame, new)
                && (frame.sp.0 > new.sp || (frame.sp.0 == new.sp && another))
        };
        if let Some(container) = inside.iter().rposition(contains) {
            let container = index + 1 + container;
            let body = self.calls[container].body;
            self.leave(thread, container + 1, sink, Nanos(new.time));
            return Some(body);
        }
        if self.are_over(index + 1, sites, new.sp) {
            self.leave(thread, index + 1, sink, Nanos(new.time));
            let calls = self.candidates(sites, new, caller);
            let is_ambiguous = sites.is_ambiguous(new, (caller, index), calls);
            sites.note_made(site(new, above, caller, callee), is_ambiguous);
        }
        Some(callee)
    }

    /// Ends what is open where uninstrumented code has its frame that makes the new call.
    fn leave_in_frame(
        &mut self,
        thread: usize,
        sites: &Sites<'_>,
        sink: &mut impl Sink,
        new: &Entered,
    ) {
        let frames = self.stack.open();
        let lower = |frame: &&Frame| frame.sp.0 < new.sp;
        let in_frame = |frame: &&Frame| sites.is_in_frame(new, frame.sp.0);
        let behind = frames.len() - frames.iter().rev().take_while(lower).count();
        let around = frames[..behind].iter();
        let kept = behind - around.rev().take_while(in_frame).count();
        if kept < behind && self.are_over(kept, sites, new.sp) {
            self.leave(thread, kept, sink, Nanos(new.time));
        }
    }

    /// Ends what is open where a function that tells of each of its calls makes a new one, and has
    /// none open: its call was left out (`--filter`), or began before the recording. Within an open
    /// call it would have been recorded, so it is around these, and they are gone. It may have
    /// begun within those that were open before events were missing.
    fn leave_to_unrecorded(
        &mut self,
        thread: usize,
        sites: &mut Sites<'_>,
        sink: &mut impl Sink,
        (caller, new): (u32, &Entered),
    ) {
        let gaps = self.stack.gaps();
        let frames = self.stack.open();
        let kept = frames.iter().rposition(|frame| frame.gaps != gaps);
        let kept = kept.map_or(0, |index| index + 1);
        let gone = kept < frames.len() && sites.tells_its_calls(caller);
        if gone && self.are_over(kept, sites, new.sp) {
            self.leave(thread, kept, sink, Nanos(new.time));
        }
    }

    /// Whether the calls above the first `count` are over if the thread goes on around them, with
    /// the stack pointer `sp`. A fiber's are not, but a signal handler's are, wherever its stack
    /// is.
    fn are_over(&self, count: usize, sites: &Sites<'_>, sp: u64) -> bool {
        let frames = self.stack.open();
        let elsewhere = (count..frames.len()).find(|&index| !self.shares(sites, index, sp));
        elsewhere.is_none_or(|index| sites.is_signal_return(frames[index].caller))
    }

    /// Whether the open call at `index` is known to be on the stack that `sp` is on: the thread's
    /// own, or one that signals are handled on.
    fn shares(&self, sites: &Sites<'_>, index: usize, sp: u64) -> bool {
        let place = self.stack.open()[index].sp;
        self.stack.same_stack(place, Addr(sp))
            || (place.0.abs_diff(sp) < REACH && self.is_on_alternate(sites, index))
    }

    /// Whether the open call at `index` is that of a signal's handler with a stack of its own, or
    /// was made within it. A handler seldom goes to a fiber.
    fn is_on_alternate(&self, sites: &Sites<'_>, index: usize) -> bool {
        let handler = self.handler_around(sites, index);
        handler.is_some_and(|handler| !self.stack.same_stack(handler.sp, handler.sp))
    }

    /// The innermost call of a signal's handler among the first open ones up to `index`.
    // That is seldom asked, so nothing is noted where calls end: another may be there now.
    fn handler_around(&self, sites: &Sites<'_>, index: usize) -> Option<&Frame> {
        let frames = self.stack.open();
        let up_to = self.handlers.iter().rev().filter(|&&at| at <= index);
        let mut handlers = up_to.filter_map(|&at| frames.get(at));
        handlers.find(|frame| sites.is_signal_return(frame.caller))
    }

    /// The open call of the function `caller` that made the new one.
    fn caller(&self, sites: &Sites<'_>, new: &Entered, caller: u32, callee: u32) -> Option<usize> {
        let calls = self.candidates(sites, new, caller);
        sites.maker(new, (caller, callee), calls)
    }

    /// The open calls of the function `caller` above the new call on its stack, the innermost
    /// first.
    fn candidates(
        &self,
        sites: &Sites<'_>,
        new: &Entered,
        caller: u32,
    ) -> impl Iterator<Item = Candidate> + Clone {
        let sp = new.sp;
        let calls = self.stack.open().iter().zip(&self.calls).enumerate().rev();
        let above = calls.filter(move |&(index, (frame, call))| {
            call.body == caller && frame.sp.0 > sp && self.shares(sites, index, sp)
        });
        above.map(move |(index, (frame, _))| Candidate {
            index,
            above: frame.sp.0 - sp,
            entered: frame.function.0,
        })
    }

    /// Whether the innermost call, `top`, in which the machine code of `body` runs, has the new
    /// one inlined into it. A function into whose code it is not inlined does not contain itself:
    /// it was left by a `longjmp`.
    fn contains(&self, sites: &Sites<'_>, (top, body): (&Frame, u32), new: &Entered) -> bool {
        top.sp.0 == new.sp
            && self.may_contain(top, new)
            && (top.function.0 != new.function
                || (top.gaps == self.stack.gaps() && sites.may_inline(body, new.function)))
    }

    /// Whether `frame` has the call site that a call inlined into it has.
    fn may_contain(&self, frame: &Frame, new: &Entered) -> bool {
        let instrumented = frame.way == Way::Instrumented && new.way == Way::Instrumented;
        instrumented && frame.caller.0 == new.caller
    }

    /// Ends the calls that a `longjmp` leaves.
    fn jump(
        &mut self,
        thread: usize,
        sites: &Sites<'_>,
        sink: &mut impl Sink,
        (jump, time): (Jump, Nanos),
    ) {
        let is_handler = |frame: &Frame| sites.is_signal_return(frame.caller);
        let frames = self.stack.open();
        let Some(kept) = jump.kept(frames, is_handler) else {
            return;
        };
        if self.are_over(kept, sites, jump.to) {
            self.leave(thread, kept, sink, time);
        }
    }

    /// Ends the calls above the first `count`.
    fn leave(&mut self, thread: usize, count: usize, sink: &mut impl Sink, time: Nanos) {
        let (strand, calls) = (&self.strand, &mut self.calls);
        self.stack.unwind(count, time, |span, around| {
            let number = calls.pop().map_or(0, |call| call.function.0);
            sink.leave(&ended(strand, thread, number, span, around));
        });
    }
}

/// The facts of a call, for later ones from the same site.
fn site(new: &Entered, above: u64, caller: u32, callee: u32) -> Site {
    Site {
        site: new.caller,
        function: new.function,
        above,
        caller,
        callee,
    }
}

fn ended(
    strand: &Strand,
    thread: usize,
    number: u32,
    span: Span,
    around: Option<&Frame>,
) -> StrandSpan {
    StrandSpan {
        strand: strand.id,
        slot: strand.slot,
        thread,
        number,
        span,
        around: around.map(|outer| outer.function),
        body: false,
    }
}

//! Calls begin and end on a stack, each on the strand that it is part of there.

use crate::StrandId;
use crate::code::Role;
use crate::decoder::{Decoder, Entered};
use crate::sink::{Call, Sink, StrandSpan};
use crate::stacks::Frame;
use heddle_calls::{End, Span};
use heddle_trace_file::{Addr, Nanos};

impl<S: Sink> Decoder<'_, S> {
    /// Opens a call on `stack`, which the thread runs. `body`: whose machine code it is.
    #[inline(always)]
    pub fn push(
        &mut self,
        context: usize,
        stack: u32,
        new: &Entered,
        (callee, body): (u32, u32),
        flags: u8,
    ) {
        let of = &self.stacks[stack as usize];
        let (outer, depth) = match of.frames.last() {
            Some(below) => {
                if below.is(Frame::COROUTINE) && flags & Frame::INLINED == 0 {
                    self.slots[below.slot].strand.leaves_at(Addr(new.caller));
                }
                (below.slot, below.depth + 1)
            }
            None => (of.slot, 0),
        };
        let (mut slot, mut depth, mut flags) = (outer, depth, flags);
        if let Some(frame) = new.frame {
            self.survey.captures = true;
            self.survey.begun = true;
            self.capturing = true;
            // An inlined function has its container's body, but its own role.
            if let Some(instance) = self.instance(context, stack, new, frame, callee) {
                flags |= instance.flags;
                if instance.slot != outer {
                    flags |= Frame::ACTIVATION;
                    depth = 0;
                    self.activate(context, instance.slot, outer, new);
                }
                slot = instance.slot;
            }
        } else if self.capturing && matches!(self.code.role(callee), Role::Ramp(_)) {
            flags |= Frame::RAMP;
        }
        let gaps = self.contexts[context].gaps;
        let of = &mut self.stacks[stack as usize];
        let around = of.frames.last().map(|outer| Addr(outer.function));
        if flags & Frame::ACTIVATION != 0 {
            of.activations.push(0);
        }
        of.frames.push(Frame {
            function: new.function,
            caller: new.caller,
            sp: new.sp,
            enter: new.time,
            callees: 0,
            away: of.away,
            body,
            callee,
            slot,
            depth,
            gaps,
            flags,
        });
        let live = &mut self.slots[slot];
        live.strand.calls += 1;
        live.strand.begins_with(Addr(new.function));
        let call = Call {
            strand: live.strand.id,
            slot,
            thread: self.contexts[context].thread,
            function: Addr(new.function),
            number: callee,
            caller: Addr(new.caller),
            inlined: flags & Frame::INLINED != 0,
            around,
            body: flags & Frame::COROUTINE != 0,
            depth: depth as usize,
            enter: Nanos(new.time),
            frame: new.frame,
        };
        self.sink.enter(&call);
    }

    /// Begins an activation of the coroutine in `slot`.
    fn activate(&mut self, context: usize, slot: u32, outer: u32, new: &Entered) {
        let thread = self.thread(context);
        let transferred = self.jumped_from(context, new);
        let by = transferred.unwrap_or(self.slots[outer].strand.id);
        let live = &mut self.slots[slot];
        live.open += 1;
        live.run_on(thread);
        live.strand.suspended.0 += new.time.saturating_sub(live.strand.last.0);
        let strand = &mut live.strand;
        strand.resumer = strand.resumer.or(Some(by));
        self.sink
            .resumed(strand.id, Some(by), thread, Nanos(new.time));
    }

    /// The strand whose activation ended with the event before, as if it had called this in its place: by a tail call.
    pub fn jumped_from(&self, context: usize, new: &Entered) -> Option<StrandId> {
        let of = &self.contexts[context];
        let left = of.left.filter(|&(event, _, sp, caller)| {
            event + 1 == of.events && sp == new.sp && caller == new.caller
        });
        left.map(|(_, by, ..)| by)
    }

    /// Ends the innermost call on `stack`.
    #[inline]
    pub fn close(&mut self, stack: u32, end: End) -> Option<()> {
        let time = self.latest;
        let of = &mut self.stacks[stack as usize];
        // Field by field: mostly it was written just now, and a copy of the whole would wait for that.
        let (frame, below) = of.frames.split_last()?;
        let around = below.last().map(|outer| Addr(outer.function));
        let (function, caller, sp) = (frame.function, frame.caller, frame.sp);
        let (enter, callees, slot) = (frame.enter, frame.callees, frame.slot);
        let (depth, flags, number) = (frame.depth, frame.flags, frame.callee);
        // What rests does not run up to now.
        let away = if of.running {
            of.away
        } else {
            of.away + time.saturating_sub(of.since)
        } - frame.away;
        let noted = match flags & Frame::NOTED_AT_END {
            0 => None,
            _ => Some(*frame),
        };
        of.frames.truncate(of.frames.len() - 1);
        let whole = time.saturating_sub(enter);
        let ran = whole.saturating_sub(away);
        match of.frames.last_mut() {
            Some(outer) => outer.callees += ran,
            None => of.base = sp,
        }
        match end {
            End::Returned => {}
            End::Unwound => self.loose.unwound += 1,
            End::Open => self.loose.open += 1,
        }
        let strand = self.slots[slot].strand.id;
        let thread = of.thread;
        let span = StrandSpan {
            strand,
            slot,
            thread: self.contexts[thread].thread,
            number,
            span: Span {
                function: Addr(function),
                caller: Addr(caller),
                inlined: flags & Frame::INLINED != 0,
                depth: depth as usize,
                enter: Nanos(enter),
                exit: Nanos(time),
                callees: Nanos((callees + away).min(whole)),
                end,
            },
            away: Nanos(away),
            around,
            body: flags & Frame::COROUTINE != 0,
        };
        self.sink.leave(&span);
        if let Some(frame) = noted {
            self.note_end(stack, &frame, ran, end);
        }
        Some(())
    }

    /// What the end of a call means beside that.
    #[cold]
    #[inline(never)]
    fn note_end(&mut self, stack: u32, frame: &Frame, ran: u64, end: End) {
        let time = self.latest;
        if frame.is(Frame::CALLBACK)
            && let Some(votes) = self.survey.sites.get_mut(&frame.caller)
        {
            match end {
                End::Returned => votes.kept += 1,
                End::Unwound => votes.broken += 1,
                End::Open => {}
            }
        }
        if frame.is(Frame::RAMP) && end == End::Returned {
            let maker = self.slots[frame.slot].strand.id;
            if let Role::Ramp(coroutine) = self.code.role(frame.callee) {
                self.instances.unseen(coroutine, maker, frame.enter);
            }
        }
        if frame.is(Frame::DESTROYS) {
            self.slots[frame.slot].dying = true;
        }
        if !frame.is(Frame::ACTIVATION) {
            return;
        }
        let of = &mut self.stacks[stack as usize];
        let nested = of.activations.pop().unwrap_or(0);
        match of.activations.last_mut() {
            Some(outer) => *outer += ran,
            None => of.nested += ran,
        }
        let context = of.thread;
        let live = &mut self.slots[frame.slot];
        live.strand.running.0 += ran.saturating_sub(nested);
        live.strand.children.0 += nested;
        live.strand.last = Nanos(time);
        live.open = live.open.saturating_sub(1);
        let (id, gone) = (live.strand.id, live.dying && live.open == 0);
        let thread = self.thread(context);
        self.sink.suspended(id, thread, Nanos(time));
        if end == End::Returned {
            let events = self.contexts[context].events;
            self.contexts[context].left = Some((events, id, frame.sp, frame.caller));
        }
        if gone {
            self.destroyed(frame.slot, time);
        }
    }

    /// Closes all calls of `stack` above the first `count`.
    pub fn unwind(&mut self, stack: u32, count: usize) {
        while self.stacks[stack as usize].frames.len() > count {
            self.close(stack, End::Unwound);
        }
    }
}

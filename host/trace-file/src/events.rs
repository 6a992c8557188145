//! From records to events.
//!
//! The inner loop is [`Events::next`] for short records: the first word has all there is of an
//! exit. Everything else is off the path.

use crate::addresses::Addresses;
use crate::captures::Captures;
use crate::layout::{
    FUNCTION_BITS, FUNCTION_SHIFT, NOT_COUNTED, SHORT, SHORT_ENTRY, SHORT_EXIT, SHORT_UNTIMED,
    SP_BITS, SP_SHIFT, TICKS_SHIFT, jump, kind, making,
};
use crate::position::Position;
use crate::thread::Thread;
use crate::untimed::Untimed;
use crate::waits;
use crate::{
    Addr, Callee, CoroutineFrame, Error, Event, EventKind, Made, Nanos, ObjectKind, Of, Remarks,
    Ticks, Values, Wait, Way, Why,
};
use zerocopy::IntoBytes;
use zerocopy::little_endian::U64;

/// The events of a thread, or of a run of it. A record that contradicts the format, and what is
/// behind it in its run, is passed over ([`Remarks::damages`]).
#[derive(Clone, Debug)]
pub struct Events<'a> {
    thread: &'a Thread,
    at: Position<'a>,
    addresses: Addresses<'a>,
    /// The latest time given.
    latest: Ticks,
    untimed: Untimed,
    captures: Captures,
    remarks: Remarks,
    /// What is told of the thread's losses outside its records.
    dropped: u64,
}

/// The event of a record that is not short.
type Other<'a> = Result<Option<(Ticks, Way, EventKind<'a>)>, Error>;

impl<'a> Events<'a> {
    pub(crate) fn new(thread: &'a Thread, first: usize, end: usize) -> Self {
        Events {
            thread,
            at: Position::new(&thread.shared.store, &thread.places, first, end),
            addresses: Addresses::new(&thread.shared.modules),
            latest: Ticks(0),
            untimed: Untimed::default(),
            captures: Captures::default(),
            remarks: Remarks::default(),
            dropped: thread.dropped(),
        }
    }

    /// The events of some of the thread's runs. They are the same as in a walk over all runs that
    /// has come to `after` when these begin.
    pub(crate) fn stretch(thread: &'a Thread, first: usize, end: usize, after: Ticks) -> Self {
        Events {
            latest: after,
            dropped: 0,
            ..Self::new(thread, first, end)
        }
    }

    /// The time of the event given last, in ticks; of a stretch of which none was given, what it is
    /// behind.
    pub fn latest(&self) -> Ticks {
        self.latest
    }

    /// Whether the clock was not read for one of the events given so far: the times of such events
    /// come from what was before the stretch, too.
    pub fn is_sparse(&self) -> bool {
        self.untimed.has_begun()
    }

    /// What there is to say about the events given so far. Drops that only a buffer's header tells
    /// of are counted in from the beginning.
    pub fn remarks(&self) -> Remarks {
        let mut remarks = self.remarks.clone();
        remarks.dropped = remarks.dropped.max(self.dropped);
        remarks
    }

    /// Events lost that the records so far tell of.
    pub(crate) fn dropped_in_gaps(&self) -> u64 {
        self.remarks.dropped
    }

    /// The rest of its enters and exits, counted.
    pub(crate) fn count_calls(&mut self) -> Result<u64, Error> {
        let mut count = 0;
        loop {
            let Some(word) = self.at.word() else {
                if self.next_run()? {
                    continue;
                }
                return Ok(count);
            };
            let call = match word & (SHORT | SHORT_EXIT) {
                SHORT => self.at.pass_enter().map(|_| true),
                both if both & SHORT != 0 => {
                    self.at.pass_exit();
                    Ok(true)
                }
                _ => self.long().map(|event| {
                    let kind = event.map(|event| event.kind);
                    matches!(kind, Some(EventKind::Enter { .. } | EventKind::Exit { .. }))
                }),
            };
            match call {
                Ok(call) => count += u64::from(call),
                Err(error) => self.leave_run(error)?,
            }
        }
    }

    /// Goes on behind the run that has this error in it.
    #[cold]
    fn leave_run(&mut self, error: Error) -> Result<(), Error> {
        let bytes = self.at.leave_run(&error);
        self.untimed.leave();
        self.remarks.damages.add(error, bytes)
    }

    #[cold]
    #[inline(never)]
    fn next_run(&mut self) -> Result<bool, Error> {
        let more = self.at.next_run()?;
        if more {
            let captured = self.at.captured_before();
            self.captures.begin_run(captured);
        }
        Ok(more)
    }

    /// What was captured for this enter.
    #[inline]
    fn captured(&mut self, function: u32) -> Option<CoroutineFrame> {
        if self.captures.is_empty() {
            return None;
        }
        self.captures.take(function)
    }

    /// A time of the clock, or what was given before it if that is later.
    #[inline]
    fn time(&mut self, ticks: Ticks) -> Nanos {
        self.latest = self.latest.max(ticks);
        self.thread.shared.line.at(self.latest)
    }

    /// The time of a record for which the clock was not read.
    #[cold]
    fn time_between(&mut self) -> Ticks {
        if self.untimed.none_left() {
            self.untimed.begin(&self.at, self.latest);
        }
        let (ticks, bound) = self.untimed.next();
        if let Some(bound) = bound {
            let bound = self.thread.shared.line.rate.nanos(bound);
            self.remarks.uncertainty.add(bound);
        }
        ticks
    }

    /// What comes where no short record does; `record`: another one does. `Err(None)`: nothing that
    /// is an event.
    #[cold]
    #[inline(never)]
    fn next_but_short(&mut self, record: bool) -> Result<Option<Event<'a>>, Option<Error>> {
        let result = match record {
            true => self.long(),
            false => match self.next_run() {
                Ok(true) => return Err(None),
                Ok(false) => return Ok(None),
                Err(error) => Err(error),
            },
        };
        match result {
            Ok(Some(event)) => Ok(Some(event)),
            Ok(None) => Err(None),
            Err(error) => Err(self.pass_over(error)),
        }
    }

    /// Goes on behind the run that has this error in it; gives back one that nothing can be read
    /// behind.
    #[cold]
    #[inline(never)]
    fn pass_over(&mut self, error: Error) -> Option<Error> {
        let failed = self.leave_run(error).err()?;
        self.at.stop();
        Some(failed)
    }

    #[inline(always)]
    fn short(&mut self, word: u64) -> Result<Event<'a>, Error> {
        let way = if word & SHORT_ENTRY == 0 {
            Way::Instrumented
        } else {
            Way::Entry
        };
        let ticks = if word & SHORT_UNTIMED == 0 {
            Ticks(self.at.base_ticks | word >> TICKS_SHIFT)
        } else {
            self.time_between()
        };
        let time = self.time(ticks);
        let above = word >> SP_SHIFT & ((1 << SP_BITS) - 1);
        let sp = Addr(self.at.base_sp.wrapping_add(above * 8));
        let kind = if word & SHORT_EXIT == 0 {
            let second = self.at.pass_enter()?;
            self.addresses.advance(self.latest);
            let mut frame = self.captured((second >> 32) as u32);
            if word & SHORT_UNTIMED != 0 {
                frame = frame.map(CoroutineFrame::untimed);
            }
            EventKind::Enter {
                function: self.addresses.function((second >> 32) as u32),
                caller: self.addresses.caller(second as u32),
                sp,
                frame,
            }
        } else {
            self.at.pass_exit();
            let function = match way {
                Way::Entry => Callee::Unknown,
                Way::Instrumented => {
                    let bits = word >> FUNCTION_SHIFT & ((1 << FUNCTION_BITS) - 1);
                    Callee::Bits(bits as u16)
                }
            };
            EventKind::Exit { function, sp }
        };
        Ok(Event { time, way, kind })
    }

    #[cold]
    #[inline(never)]
    fn long(&mut self) -> Result<Option<Event<'a>>, Error> {
        let Some((ticks, way, kind)) = self.other()? else {
            return Ok(None);
        };
        match kind {
            EventKind::Gap {
                why: Why::Dropped,
                missing,
            } => {
                let more = missing.unwrap_or(0);
                self.remarks.dropped = self.remarks.dropped.saturating_add(more);
            }
            EventKind::Gap {
                why: Why::Paused, ..
            } => self.remarks.pauses += 1,
            _ => {}
        }
        let time = self.time(ticks);
        Ok(Some(Event { time, way, kind }))
    }

    /// Whether the next event is the enter, or an exit, that values of the function with these low
    /// bits of its address belong to. It is not where a signal's handler came between, or where a
    /// filter or a lack of room has left the call out.
    fn call_follows(&self, of: Of, function: u32) -> bool {
        let mut at = self.at.clone().unlimited();
        loop {
            let Some(word) = at.word() else {
                match at.next_run() {
                    Ok(true) => continue,
                    Ok(false) | Err(_) => return false,
                }
            };
            let exit = word & SHORT_EXIT != 0;
            if word & SHORT != 0 {
                return match of {
                    Of::Arguments => {
                        !exit
                            && at
                                .pass_enter()
                                .is_ok_and(|second| (second >> 32) as u32 == function)
                    }
                    Of::Result => exit,
                };
            }
            let Ok(record) = at.pass_record() else {
                return false;
            };
            match record.kind {
                kind::BASE | kind::CAPTURE => {}
                kind::WIDE_ENTER => {
                    let entered = record
                        .word(3)
                        .is_ok_and(|entered| entered as u32 == function);
                    return of == Of::Arguments && entered;
                }
                kind::WIDE_EXIT => return of == Of::Result,
                _ => return false,
            }
        }
    }

    fn other(&mut self) -> Other<'a> {
        let record = self.at.pass_record()?;
        let way = |high| match high {
            0 => Ok(Way::Instrumented),
            1 => Ok(Way::Entry),
            other => Err(record.damaged(format!("way in {other}; known are 0 and 1"))),
        };
        let text = |words: &'a [U64]| {
            let bytes = words.get(3..).unwrap_or_default().as_bytes();
            bytes.get(..record.high as usize).ok_or_else(|| {
                let room = bytes.len();
                record.damaged(format!("{} bytes of text in {room}", record.high))
            })
        };
        let words = record.words;
        let (way, kind) = match record.kind {
            kind::WIDE_ENTER => {
                let function = record.word(3)?;
                let enter = EventKind::Enter {
                    sp: Addr(record.word(2)?),
                    function: Addr(function),
                    caller: Addr(record.word(4)?),
                    frame: self.captured(function as u32),
                };
                (way(record.high)?, enter)
            }
            kind::WIDE_EXIT => {
                let (way, sp) = (way(record.high)?, Addr(record.word(2)?));
                let function = match way {
                    Way::Instrumented => Callee::Known(Addr(record.word(3)?)),
                    Way::Entry => Callee::Unknown,
                };
                (way, EventKind::Exit { function, sp })
            }
            kind::GAP => {
                let why = match record.high {
                    1 => Why::Paused,
                    2 => Why::Dropped,
                    other => {
                        let what = format!("a gap for reason {other}; known are 1 and 2");
                        return Err(record.damaged(what));
                    }
                };
                let missing = Some(record.word(2)?).filter(|&missing| missing != NOT_COUNTED);
                (Way::default(), EventKind::Gap { why, missing })
            }
            kind::MARK => {
                let strand = Some(record.word(2)?).filter(|&strand| strand != 0);
                let text = text(words)?;
                (Way::default(), EventKind::Mark { strand, text })
            }
            kind::STRAND => {
                let strand = record.word(2)?;
                let kind = match record.high {
                    1 => EventKind::StrandSwitch {
                        to: Some(strand).filter(|&strand| strand != 0),
                    },
                    2 => EventKind::StrandEnd { strand },
                    other => {
                        let what = format!("step {other} of a strand; known are 1 and 2");
                        return Err(record.damaged(what));
                    }
                };
                (Way::default(), kind)
            }
            kind::STRAND_MADE => {
                let strand = record.word(2)?;
                (Way::default(), EventKind::StrandMade { strand })
            }
            kind::STRAND_NAME => {
                let (strand, name) = (record.word(2)?, text(words)?);
                (Way::default(), EventKind::StrandName { strand, name })
            }
            kind::STRAND_WAITS => {
                let (strand, reason) = (record.word(2)?, text(words)?);
                (Way::default(), EventKind::StrandWaits { strand, reason })
            }
            kind::LONG_CALL => {
                let since = self.thread.shared.line.at(Ticks(record.word(2)?));
                let text = text(words)?;
                let by = words
                    .get(3 + text.len().div_ceil(8))
                    .map(|by| Addr(by.get()));
                (Way::default(), EventKind::LongCall { since, text, by })
            }
            kind::MAKING => {
                let made = match record.high {
                    making::PROCESS => Made::Process,
                    making::THREAD => Made::Thread,
                    _ => return Ok(None),
                };
                let number = record.word(2)? as u32;
                let by = words.get(3).map(|by| Addr(by.get()));
                (Way::default(), EventKind::Making { made, number, by })
            }
            kind::CAPTURE => {
                if let Some(frame) = CoroutineFrame::from_word(record.word(1)?) {
                    self.captures.push(record.high, frame);
                }
                return Ok(None);
            }
            kind::ARGUMENTS | kind::RESULT => {
                let of = match record.kind {
                    kind::ARGUMENTS => Of::Arguments,
                    _ => Of::Result,
                };
                let what = record.word(1)?;
                if !self.call_follows(of, record.high) {
                    return Ok(None);
                }
                let shape = what as u32;
                let known = self.thread.shared.shapes.get(shape).is_some();
                self.remarks.shapeless += u64::from(!known);
                // The last word repeats the first.
                let values = words.get(2..words.len().saturating_sub(1));
                let values = EventKind::Values(Values {
                    of,
                    function: record.high,
                    shape,
                    missing: (what >> 32) as u32,
                    words: values.unwrap_or_default(),
                });
                return Ok(Some((self.latest, Way::default(), values)));
            }
            kind::FRAME_MADE => {
                let (frame, sp) = (Addr(record.word(2)?), record.high);
                (Way::default(), EventKind::FrameMade { frame, sp })
            }
            kind::FRAME_FREED => {
                self.addresses.advance(self.latest);
                let (frame, destroyer) = (record.word(2)?, self.addresses.destroyer(record.high));
                let frame = Addr(frame);
                (Way::default(), EventKind::FrameFreed { frame, destroyer })
            }
            kind::FRAME_LEFT => {
                self.addresses.advance(self.latest);
                let Some(frame) = CoroutineFrame::from_word(record.word(2)?) else {
                    return Ok(None);
                };
                let destroyer = self.addresses.destroyer(record.high);
                (Way::default(), EventKind::FrameLeft { frame, destroyer })
            }
            kind::STACK_MADE => {
                let (low, by) = (Addr(record.word(2)?), Addr(record.word(3)?));
                let high = Addr(record.word(4)?);
                (Way::default(), EventKind::StackMade { low, high, by })
            }
            kind::JUMP => {
                let to = Addr(record.word(2)?);
                let downwards = record.high & jump::DOWNWARDS != 0;
                let far = u64::from(record.high >> 1) * jump::UNIT;
                let lowest = Addr(if far == 0 {
                    0
                } else {
                    to.0.saturating_sub(far)
                });
                let kind = EventKind::Jump {
                    to,
                    lowest,
                    downwards,
                };
                (Way::default(), kind)
            }
            kind::OBJECT_MET => {
                // A later recorder may know other objects.
                let Some(kind) = ObjectKind::from_number(record.high as u8) else {
                    return Ok(None);
                };
                let met = EventKind::ObjectMet {
                    address: Addr(record.word(2)?),
                    number: record.high >> waits::NUMBER_SHIFT,
                    kind,
                    made: record.high & waits::MADE != 0,
                    site: Addr(record.word(3)?),
                };
                (Way::default(), met)
            }
            kind::WAIT => match Wait::of(record.high, words) {
                Some(wait) => (Way::default(), EventKind::Wait(wait)),
                // So that its end does not end another.
                None if words.len() < waits::WAIT_WORDS => {
                    let what = format!("a wait of {} words", words.len());
                    return Err(record.damaged(what));
                }
                None => return Ok(None),
            },
            kind::WAIT_ENDED => {
                let ended = EventKind::WaitEnded {
                    error: record.high as i32,
                    from: waits::thread(record.word(2)?),
                };
                (Way::default(), ended)
            }
            kind::WAKE => {
                let wake = EventKind::Wake {
                    number: record.high >> waits::NUMBER_SHIFT,
                    all: record.high & waits::ALL != 0,
                    site: Addr(record.word(2)?),
                    by: words.get(3).map(|by| Addr(by.get())),
                };
                (Way::default(), wake)
            }
            // The position has noted a base's content already. Unknown records are skipped.
            _ => return Ok(None),
        };
        Ok(Some((Ticks(record.word(1)?), way, kind)))
    }
}

impl<'a> Iterator for Events<'a> {
    type Item = Result<Event<'a>, Error>;

    // Through memory, an event would be written in parts and read as a whole, for which the
    // processor waits longer than for all the rest.
    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.at.word() {
                Some(word) if word & SHORT != 0 => match self.short(word) {
                    Ok(event) => return Some(Ok(event)),
                    Err(error) => {
                        if let Some(failed) = self.pass_over(error) {
                            return Some(Err(failed));
                        }
                    }
                },
                word => match self.next_but_short(word.is_some()) {
                    Ok(event) => return event.map(Ok),
                    Err(None) => {}
                    Err(Some(failed)) => return Some(Err(failed)),
                },
            }
        }
    }
}

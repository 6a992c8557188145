//! The same in fewer bytes, of what has no large numbers and no texts: a trace of a million
//! coroutines has tens of millions of records, which go to a file and come back.
//!
//! ```text
//! kind and flags (1 byte) · words of 64 bits, each of one or several numbers
//! ```

use super::row::{Call, Pause, Place, Record, Run};
use super::words::{ENDS, NONE, some, take_words, words};
use heddle_trace_file::Nanos;

/// The lowest bits of a record's first byte are its kind.
pub const KIND: u8 = 7;
pub const CALL: u8 = 4;
pub const PAUSE: u8 = 5;
pub const RUN: u8 = 6;

/// Flags of calls, beside the number of their end; and of pauses.
const INLINED: u8 = 1 << 5;
const BLOCKED: u8 = 1 << 3;
const DESTROYED: u8 = 1 << 4;

/// Stand for what is not known.
const NO_STRAND: u32 = u32::MAX;
const NO_INDEX: u16 = u16::MAX;

/// Appends it to `bytes`, if it is small.
#[inline]
pub fn write(record: &Record<'_>, bytes: &mut Vec<u8>) -> bool {
    let written = match record {
        Record::Call(call) => of_call(call, bytes),
        Record::Pause(pause) => of_pause(pause, bytes),
        Record::Run(run) => of_run(run, bytes),
        Record::Event(_) => None,
    };
    written.is_some()
}

#[inline]
fn of_call(call: &Call, bytes: &mut Vec<u8>) -> Option<()> {
    let numbers = [call.thread, call.depth, call.function, call.site];
    let duration = call.exit.0.checked_sub(call.enter.0)?;
    let largest = [duration, call.own.0, call.strand].into_iter().max()?;
    if numbers.into_iter().max()? > u16::MAX.into()
        || largest > u32::MAX.into()
        || !call.values.is_empty()
    {
        return None;
    }
    let [thread, depth, function, site] = numbers.map(u64::from);
    let end = ENDS.iter().position(|&end| end == call.end).unwrap_or(0) as u8;
    bytes.push(CALL | end << 3 | if call.inlined { INLINED } else { 0 });
    words(
        bytes,
        &[
            call.strand | thread << 32 | depth << 48,
            duration | function << 32 | site << 48,
            call.enter.0,
        ],
    );
    bytes.extend_from_slice(&(call.own.0 as u32).to_le_bytes());
    Some(())
}

#[inline]
pub fn call(first: u8, bytes: &mut &[u8]) -> Option<Call> {
    let [strand, function, enter] = take_words(bytes)?;
    let (own, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(Call {
        strand: low(strand).into(),
        thread: third(strand).into(),
        function: third(function).into(),
        site: fourth(function).into(),
        inlined: first & INLINED != 0,
        enter: Nanos(enter),
        exit: Nanos(enter.checked_add(low(function).into())?),
        own: Nanos(u32::from_le_bytes(*own).into()),
        depth: fourth(strand).into(),
        end: *ENDS.get(usize::from(first >> 3 & 3))?,
        values: Vec::new(),
    })
}

fn of_pause(pause: &Pause<'_>, bytes: &mut Vec<u8>) -> Option<()> {
    let Place {
        function,
        site,
        index,
    } = pause.place;
    if !pause.reason.is_empty() || pause.holder.is_some() || pause.called.0 > 0 {
        return None;
    }
    let by = number(pause.by)?;
    let index = short(index.map(u32::from))?;
    let (function, site) = (short(function)?, short(site)?);
    let strand = u32::try_from(pause.strand).ok()?;
    let thread = u16::try_from(pause.thread).ok()?;
    let flag = |set: bool, flag: u8| if set { flag } else { 0 };
    let flags = flag(pause.blocked, BLOCKED) | flag(pause.destroyed, DESTROYED);
    bytes.push(PAUSE | flags);
    words(
        bytes,
        &[
            word(strand, thread, index),
            word(by, function, site),
            pause.from.0,
            pause.to.map_or(NONE, |to| to.0),
        ],
    );
    Some(())
}

pub fn pause<'a>(first: u8, bytes: &mut &[u8]) -> Option<Pause<'a>> {
    let [strand, by, from, to] = take_words(bytes)?;
    let short = |number: u16| Some(number).filter(|&number| number != NO_INDEX);
    Some(Pause {
        strand: low(strand).into(),
        thread: third(strand).into(),
        from: Nanos(from),
        to: some(to).map(Nanos),
        blocked: first & BLOCKED != 0,
        reason: "",
        by: strand_of(low(by)),
        holder: None,
        place: Place {
            function: short(third(by)).map(u32::from),
            site: short(fourth(by)).map(u32::from),
            index: short(fourth(strand)),
        },
        called: Nanos(0),
        destroyed: first & DESTROYED != 0,
    })
}

fn of_run(run: &Run, bytes: &mut Vec<u8>) -> Option<()> {
    let strand = u32::try_from(run.strand).ok()?;
    let by = number(run.by)?;
    let duration = u32::try_from(run.to.0.checked_sub(run.from.0)?).ok()?;
    bytes.push(RUN);
    let [strand, by, duration, thread] = [strand, by, duration, run.thread].map(u64::from);
    words(
        bytes,
        &[strand | by << 32, run.from.0, duration | thread << 32],
    );
    Some(())
}

pub fn run(bytes: &mut &[u8]) -> Option<Run> {
    let [strand, from, duration] = take_words(bytes)?;
    Some(Run {
        strand: low(strand).into(),
        thread: (duration >> 32) as u32,
        from: Nanos(from),
        to: Nanos(from.checked_add(low(duration).into())?),
        by: strand_of((strand >> 32) as u32),
    })
}

fn word(low: u32, third: u16, fourth: u16) -> u64 {
    u64::from(low) | u64::from(third) << 32 | u64::from(fourth) << 48
}

fn low(word: u64) -> u32 {
    word as u32
}

fn third(word: u64) -> u16 {
    (word >> 32) as u16
}

fn fourth(word: u64) -> u16 {
    (word >> 48) as u16
}

/// A strand's number in few bits, if it fits.
fn number(strand: Option<u64>) -> Option<u32> {
    let Some(strand) = strand else {
        return Some(NO_STRAND);
    };
    u32::try_from(strand)
        .ok()
        .filter(|&strand| strand != NO_STRAND)
}

fn strand_of(number: u32) -> Option<u64> {
    (number != NO_STRAND).then_some(number.into())
}

/// An index in few bits, if it fits.
fn short(index: Option<u32>) -> Option<u16> {
    let Some(index) = index else {
        return Some(NO_INDEX);
    };
    u16::try_from(index).ok().filter(|&index| index != NO_INDEX)
}

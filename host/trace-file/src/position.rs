//! Where a walk over a thread's records is.

use crate::layout::{TICKS_BITS, head, kind};
use crate::run::RunPlace;
use crate::so_far::count_read;
use crate::store::{RELEASED, Source, Store};
use crate::{CoroutineFrame, Error};
use zerocopy::FromBytes;
use zerocopy::little_endian::U64;

/// The bits of ticks that a short record has not got.
const BASE: u64 = !((1 << TICKS_BITS) - 1);

/// The rest of a run, and the runs behind it.
#[derive(Clone, Debug)]
pub struct Position<'a> {
    /// The words that were not read yet.
    rest: &'a [U64],
    /// Ticks of a short record, but for their low bits.
    pub base_ticks: u64,
    /// Stack pointer of a short record that is 0 above it.
    pub base_sp: u64,
    store: &'a Store,
    source: Option<&'a Source>,
    runs: &'a [RunPlace],
    /// Runs before this one are begun, those from `end` on belong to other walks.
    next: usize,
    end: usize,
    /// The capture with which the run before the present one ended, if it did, and that run's
    /// number.
    captured: Option<(u32, (u32, CoroutineFrame))>,
    /// It only looks ahead: what it has read will be read again.
    ahead: bool,
}

/// A record that is not short.
pub struct Record<'a> {
    pub kind: u64,
    /// Bits 32–63 of its first word.
    pub high: u32,
    /// All its words.
    pub words: &'a [U64],
    source: Option<&'a Source>,
}

impl<'a> Position<'a> {
    /// Before the first of these runs.
    pub fn new(store: &'a Store, runs: &'a [RunPlace], first: usize, end: usize) -> Self {
        Position {
            rest: &[],
            base_ticks: 0,
            base_sp: 0,
            store,
            source: None,
            runs,
            next: first,
            end,
            captured: None,
            ahead: false,
        }
    }

    /// Goes beyond what the walk is over: for those that need to know what comes next.
    pub fn unlimited(mut self) -> Self {
        self.ahead = true;
        self.end = self.runs.len();
        self
    }

    /// The first word of the next record, if the run has one more.
    #[inline]
    pub fn word(&self) -> Option<u64> {
        self.rest.first().map(|word| word.get())
    }

    /// Leaves a short exit behind.
    #[inline]
    pub fn pass_exit(&mut self) {
        self.rest = self.rest.get(1..).unwrap_or_default();
    }

    /// Leaves a short enter behind, and gives its second word.
    #[inline]
    pub fn pass_enter(&mut self) -> Result<u64, Error> {
        let [_, second, rest @ ..] = self.rest else {
            return Err(self.damaged("the run ends inside an enter".into()));
        };
        self.rest = rest;
        Ok(second.get())
    }

    /// Leaves a record behind that is not short, and gives it; a base counts from here on.
    pub fn pass_record(&mut self) -> Result<Record<'a>, Error> {
        let word = self.word().unwrap_or(0);
        let (kind, length) = (word >> 4 & 0xfff, (word >> 16 & 0xffff) as usize);
        let words = self.rest.get(..length).filter(|words| !words.is_empty());
        let Some(words) = words.filter(|_| kind != 0 && word & 7 == 0) else {
            let what = format!(
                "expected a record, found the word {word:#018x} in the last {} words of a run",
                self.rest.len()
            );
            return Err(self.damaged(what));
        };
        let record = Record {
            kind,
            high: (word >> 32) as u32,
            words,
            source: self.source,
        };
        match kind {
            kind::RUN => return Err(record.damaged("a run inside a run".into())),
            kind::BASE => {
                self.base_ticks = record.word(1)? & BASE;
                self.base_sp = record.word(2)?;
            }
            _ => {}
        }
        self.rest = &self.rest[length..];
        Ok(record)
    }

    #[cold]
    fn damaged(&self, what: String) -> Error {
        damaged(self.source, self.rest, what)
    }

    /// Goes on to the next run; `false` if there is none.
    pub fn next_run(&mut self) -> Result<bool, Error> {
        // This is read before the run's memory is released, because reading it later would map it
        // again.
        self.captured = self.captured_at_end();
        if !self.ahead {
            self.release();
            self.release_before_first();
        }
        let Some(run) = self.runs[..self.end].get(self.next) else {
            return Ok(false);
        };
        let record = run.record(self.store)?;
        let (source, bytes) = run.records(self.store);
        count_read(bytes.len());
        self.next += 1;
        self.source = Some(source);
        self.rest = <[U64]>::ref_from_bytes(bytes).unwrap_or_default();
        self.base_ticks = record.base_ticks.get() & BASE;
        self.base_sp = record.base_sp.get();
        Ok(true)
    }

    /// The capture that the run before this one ended with, if that is at hand.
    pub fn captured_before(&self) -> Option<(u32, CoroutineFrame)> {
        let (number, captured) = self.captured?;
        let this = self.runs.get(self.next.checked_sub(1)?)?;
        (number + 1 == this.number).then_some(captured)
    }

    /// The capture that the run before the next one ends with. In the middle of a longer record its
    /// two words would say something else.
    fn captured_at_end(&self) -> Option<(u32, (u32, CoroutineFrame))> {
        let before = &self.runs[self.next.checked_sub(1)?];
        let (_, bytes) = before.records(self.store);
        let [.., first, second] = <[U64]>::ref_from_bytes(bytes).ok()? else {
            return None;
        };
        let first = first.get();
        if first & u64::from(u32::MAX) != head(kind::CAPTURE, 2) {
            return None;
        }
        let frame = CoroutineFrame::from_word(second.get())?;
        Some((before.number, ((first >> 32) as u32, frame)))
    }

    /// Releases the memory of the run that was read.
    fn release(&self) {
        if let (Some(source), Some(last)) = (self.source, self.next.checked_sub(1)) {
            source.release(self.runs[last].records(self.store).1);
        }
    }

    /// Releases the part that was read of the run before the first, which another walk reads.
    fn release_before_first(&self) {
        if let (None, Some(before)) = (self.source, self.next.checked_sub(1)) {
            let (source, bytes) = self.runs[before].records(self.store);
            let end = bytes.len().saturating_sub(RELEASED);
            source.release(&bytes[end..]);
        }
    }

    /// Leaves behind what is left of the run, because of this error in it; gives the bytes from
    /// there on.
    pub fn leave_run(&mut self, error: &Error) -> u64 {
        self.rest = &[];
        let run = self.next.checked_sub(1).map(|this| &self.runs[this]);
        let end = run.map(|run| run.end as u64);
        let first = self.source.map_or(0, |source| source.first);
        match (error, end) {
            (Error::Damaged { offset, .. }, Some(end)) => {
                first.saturating_add(end).saturating_sub(*offset)
            }
            _ => 0,
        }
    }

    /// Reads no more.
    pub fn stop(&mut self) {
        self.rest = &[];
        self.next = self.end;
    }
}

impl Record<'_> {
    /// One of its words; 0 is the first.
    pub fn word(&self, index: usize) -> Result<u64, Error> {
        match self.words.get(index) {
            Some(word) => Ok(word.get()),
            None => {
                let (kind, words) = (self.kind, self.words.len());
                Err(self.damaged(format!("a record of type {kind} has {words} words only")))
            }
        }
    }

    #[cold]
    pub fn damaged(&self, what: String) -> Error {
        damaged(self.source, self.words, what)
    }
}

/// An error where `words` begin, which are a part of `source`.
fn damaged(source: Option<&Source>, words: &[U64], what: String) -> Error {
    match source {
        Some(source) => {
            let at = words.as_ptr() as usize - source.bytes().as_ptr() as usize;
            source.damaged(at, what)
        }
        None => Error::damaged("".as_ref(), 0, what),
    }
}

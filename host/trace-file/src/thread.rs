//! One thread's file and its events.

use crate::clock::TimeLine;
use crate::file::Mapped;
use crate::layout::{
    ENDED, EXIT_BIT, RECORD_SIZE, Record, THREAD_MAGIC, ThreadHeader, WITHIN_BIT, text,
};
use crate::{Addr, Error, Event, EventKind, Nanos, Ticks, Way};
use std::ops::Range;
use std::path::Path;
use zerocopy::FromBytes;

/// A kernel thread of a traced process.
#[derive(Debug)]
pub struct Thread {
    file: Mapped,
    line: TimeLine,
    number: u32,
    tid: u32,
    name: String,
    ended: bool,
    dropped: u64,
    stack: Option<Range<Addr>>,
    /// Records to read: what was reserved and fits the file.
    records: usize,
    first: Nanos,
}

/// Records that a thread may have reserved beyond its file when it died while making room: one, and one a nested signal handler.
const IN_FLIGHT: u64 = 64;

impl Thread {
    pub(crate) fn open(path: &Path, number: u32, line: TimeLine) -> Result<Self, Error> {
        let file = Mapped::open(path)?;
        let header: &ThreadHeader = file.header()?;
        file.verify(header.magic, THREAD_MAGIC, header.version.get())?;
        let size = header.record_size.get();
        if size as usize != RECORD_SIZE {
            return Err(Error::damaged(
                path,
                12,
                format!("records of {size} bytes; version 1 has {RECORD_SIZE}"),
            ));
        }
        let (low, high) = (header.stack_low.get(), header.stack_high.get());
        if low > high {
            return Err(Error::damaged(
                path,
                40,
                format!("a stack from {low:#x} down to {high:#x}"),
            ));
        }
        let reserved = header.reserved_records.get();
        let room = file.body().len() / RECORD_SIZE;
        if reserved > (room as u64).saturating_add(IN_FLIGHT) {
            return Err(Error::damaged(
                path,
                24,
                format!("{reserved} records, but the file ends after {room}: it was cut short"),
            ));
        }
        Ok(Thread {
            line,
            number,
            tid: header.tid.get(),
            name: text(&header.name),
            ended: header.flags.get() & ENDED != 0,
            dropped: header.dropped.get(),
            stack: (low != 0).then_some(Addr(low)..Addr(high)),
            records: room.min(usize::try_from(reserved).unwrap_or(room)),
            first: line.at(Ticks(header.first_ticks.get())),
            file,
        })
    }

    /// Number in order of birth, from 1.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The kernel's thread id.
    pub fn tid(&self) -> u32 {
        self.tid
    }

    /// The last name it had.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the recorder saw its end.
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// Events lost for lack of space or memory.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Where its stack is, if known.
    pub fn stack(&self) -> Option<Range<Addr>> {
        self.stack.clone()
    }

    /// When its first event was recorded.
    pub fn first(&self) -> Nanos {
        self.first
    }

    /// An upper bound of its events, without reading them: holes are counted too.
    pub fn records(&self) -> usize {
        self.records
    }

    /// Its events, in order; times never decrease.
    pub fn events(&self) -> Events<'_> {
        let records = self.file.body()[..self.records * RECORD_SIZE].chunks_exact(RECORD_SIZE);
        Events {
            records,
            line: self.line,
            latest: Ticks(0),
            holes: 0,
        }
    }

    /// Counts events and holes; reads the whole file.
    pub fn count(&self) -> Result<(u64, u64), Error> {
        let mut events = self.events();
        let mut count = 0;
        for event in events.by_ref() {
            event?;
            count += 1;
        }
        Ok((count, events.holes()))
    }
}

/// The events of a thread.
#[derive(Clone, Debug)]
pub struct Events<'a> {
    records: std::slice::ChunksExact<'a, u8>,
    line: TimeLine,
    latest: Ticks,
    holes: u64,
}

impl Events<'_> {
    /// Records met so far that were reserved and never filled: the thread died inside the hook.
    pub fn holes(&self) -> u64 {
        self.holes
    }
}

impl Iterator for Events<'_> {
    type Item = Result<Event, Error>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            // A chunk always is a record; no record can be wrong in this version.
            let record = Record::ref_from_bytes(self.records.next()?).ok()?;
            let word = record.word.get();
            if word == 0 {
                self.holes += 1;
                continue;
            }
            self.latest = self.latest.max(Ticks(word & !EXIT_BIT));
            let function = record.function.get();
            let way = if function & WITHIN_BIT == 0 {
                Way::Instrumented
            } else {
                Way::Entry
            };
            let (function, sp) = (Addr(function & !WITHIN_BIT), Addr(record.sp.get()));
            let kind = if word & EXIT_BIT == 0 {
                EventKind::Enter {
                    function,
                    caller: Addr(record.caller.get()),
                    sp,
                }
            } else {
                EventKind::Exit { function, sp }
            };
            return Some(Ok(Event {
                time: self.line.at(self.latest),
                way,
                kind,
            }));
        }
    }
}

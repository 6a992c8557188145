//! The files `allocation-1` …: calls of malloc and its like, counted and timed.

use crate::buffer::numbered;
use crate::clock::TimeLine;
use crate::file::Mapped;
use crate::layout::{ALLOCATION_MAGIC, AllocationBytes, AllocationHeader, HEADER_SIZE};
use crate::process::Asked;
use crate::{Error, Lack, Nanos, tables};
use std::path::{Path, PathBuf};
use zerocopy::FromBytes;

/// The most entries that a recorder has room for, and some more: what says more is damaged.
const MOST: u32 = 1 << 24;
/// Bits of the first file's flags.
const OTHER_MALLOC: u32 = 1;
const OTHER_NEW: u32 = 2;
const FULL: u32 = 4;
/// Kinds of entries.
const STRETCH: u32 = 1;
const LONG_CALL: u32 = 2;

/// Calls of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllocationEntry {
    /// The kernel's number of the thread.
    pub tid: u32,
    /// When the first of them began.
    pub first: Nanos,
    /// When the latest of them returned.
    pub last: Nanos,
    /// The time in all of them.
    pub took: Nanos,
    /// What it cost beside that to count and time them.
    pub cost: Nanos,
    /// Calls that give memory.
    pub allocated: u64,
    /// Calls that take it back.
    pub freed: u64,
    /// Bytes that were asked for.
    pub bytes: u64,
    /// It is one call that took so long that its thread may have been off its processor.
    pub long: bool,
}

/// What the threads of a process allocated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allocation {
    /// By thread, and by when they began; all together have each call once.
    pub entries: Vec<AllocationEntry>,
    /// Calls for which there was no room.
    pub uncounted: u64,
    /// The program calls a malloc in front of the recorder's: nothing is counted.
    pub other_malloc: bool,
    /// Its operator new is not the C++ library's, and need not call malloc.
    pub other_new: bool,
    /// There was no room for more entries, so that the last of each thread says too much.
    pub full: bool,
    /// Why there was no room: an error number, if a file could not be made.
    pub trouble: Option<i32>,
    /// Files are not there, or not whole: so are calls.
    pub missing: bool,
}

impl Allocation {
    /// Whether it is known how much was allocated, but for what is uncounted.
    pub fn known(&self) -> bool {
        let none = self.entries.is_empty() && self.uncounted > 0;
        !self.other_malloc && !self.missing && !none
    }
}

/// The names of the files, but for their number.
const PREFIX: &str = "allocation-";
/// What is not known without one.
const FOLLOWS: &str = "what this process allocated is not known";

/// The files in a process's directory.
pub fn paths(directory: &Path) -> Result<Vec<PathBuf>, Error> {
    numbered(directory, PREFIX)
}

/// Reads them; `None` if allocation was not asked for, as far as that is known. A file that
/// contradicts the format is passed over.
pub fn read(
    directory: &Path,
    line: TimeLine,
    asked: &Asked,
    lacks: &mut Vec<Lack>,
) -> Result<Option<Allocation>, Error> {
    let mut all = Allocation {
        uncounted: asked.uncounted_allocations,
        trouble: asked.trouble,
        missing: asked.tables_left_out,
        ..Allocation::default()
    };
    let before = lacks.len();
    tables::read(
        directory,
        (PREFIX, asked.allocation_files),
        FOLLOWS,
        lacks,
        |path| add(path, line, &mut all),
    )?;
    all.missing |= lacks.len() > before;
    all.entries.sort_by_key(|entry| (entry.tid, entry.first));
    let is_asked = asked.allocation || lacks.len() > before || !paths(directory)?.is_empty();
    Ok(is_asked.then_some(all))
}

fn add(path: &Path, line: TimeLine, to: &mut Allocation) -> Result<(), Error> {
    let file = Mapped::open(path)?;
    let header: &AllocationHeader = file.header()?;
    file.verify(header.magic, ALLOCATION_MAGIC, header.version.get())?;
    let room = header.room.get();
    if room > MOST {
        let what = format!("room for {room} entries; expected at most {MOST}");
        return Err(Error::damaged(path, 12, what));
    }
    let bytes = file.bytes().get(HEADER_SIZE..).unwrap_or_default();
    let bytes = bytes.get(..room as usize * size_of::<AllocationBytes>());
    let all = bytes.and_then(|bytes| <[AllocationBytes]>::ref_from_bytes(bytes).ok());
    let Some(all) = all else {
        let what = format!("{} bytes, too few for {room} entries", file.bytes().len());
        return Err(Error::damaged(path, file.bytes().len() as u64, what));
    };
    to.uncounted = to.uncounted.saturating_add(header.uncounted.get());
    to.other_malloc |= header.flags.get() & OTHER_MALLOC != 0;
    to.other_new |= header.flags.get() & OTHER_NEW != 0;
    to.full |= header.flags.get() & FULL != 0;
    let cost = header.call_cost.get();
    let entries = all.iter().filter_map(|entry| decoded(entry, cost, line));
    to.entries.extend(entries);
    Ok(())
}

/// `cost`: of a call, ticks.
fn decoded(entry: &AllocationBytes, cost: u64, line: TimeLine) -> Option<AllocationEntry> {
    let (first, last) = (entry.first.get(), entry.last.get());
    let long = match entry.kind.get() {
        STRETCH => false,
        LONG_CALL => true,
        _ => return None,
    };
    if first == 0 || last < first {
        return None;
    }
    // The calls of a thread are one after another.
    let took = entry.took.get().min(last - first);
    let calls = entry.allocated.get().saturating_add(entry.freed.get());
    let cost = cost.saturating_mul(calls).min(last - first - took);
    Some(AllocationEntry {
        tid: entry.tid.get(),
        first: line.at(crate::Ticks(first)),
        last: line.at(crate::Ticks(last)),
        took: line.rate.nanos(took),
        cost: line.rate.nanos(cost),
        allocated: entry.allocated.get(),
        freed: entry.freed.get(),
        bytes: entry.bytes.get(),
        long,
    })
}

impl AllocationEntry {
    /// Likewise, of what it cost to count and time them.
    pub fn cost_within(&self, from: Nanos, to: Nanos) -> Nanos {
        let cost = AllocationEntry {
            took: self.cost,
            ..*self
        };
        cost.within(from, to)
    }

    /// Likewise, how many of the calls that give memory.
    pub fn calls_within(&self, from: Nanos, to: Nanos) -> u64 {
        let calls = AllocationEntry {
            took: Nanos(self.allocated),
            ..*self
        };
        calls.within(from, to).0
    }

    /// The part of the time in its calls that lies in a stretch, as if they were spread evenly.
    pub fn within(&self, from: Nanos, to: Nanos) -> Nanos {
        let all = self.last.0.saturating_sub(self.first.0);
        let begin = self.first.0.max(from.0);
        let inside = self.last.0.min(to.0).saturating_sub(begin);
        match all {
            0 if self.first >= from && self.first < to => self.took,
            0 => Nanos(0),
            _ => Nanos((u128::from(self.took.0) * u128::from(inside) / u128::from(all)) as u64),
        }
    }
}

//! A file of events, while blocks are added to it.

use crate::Error;
use crate::file::open_to_write;
use crate::layout::{BLOCK_HEADER, BLOCK_MAGIC, BLOCK_UNIT, BlockHeader};
use crate::store::{Source, data_after, verify};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::mem::offset_of;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use zerocopy::{FromBytes, IntoBytes};

/// The open file. Its one writer puts blocks behind one another as they come: a block that its
/// thread wrote to a file of its own takes up no room here.
#[derive(Debug)]
pub struct EventsFile {
    path: PathBuf,
    file: File,
    /// The blocks that are there, by their numbers, also those that were not written to their end.
    blocks: Places,
    /// Those that the file did not end inside when it was opened.
    whole: HashSet<u64>,
    /// Where the next block goes.
    end: u64,
}

/// Where blocks are, by their numbers.
type Places = HashMap<u64, Range<u64>>;

/// Why a block was not written.
pub enum Refused {
    /// The disk is full, a limit reached: it may go better later.
    System(Error),
    /// The buffer says what cannot be.
    Damaged(Error),
}

impl EventsFile {
    /// The file at `path`; made if it is not there.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let file = open_to_write(path)?;
        let length = file.metadata().map_err(Error::io(path))?.len();
        let (blocks, whole) = blocks(&file, length).map_err(Error::io(path))?;
        // A block whose writer was killed may not have all its room yet.
        let ends = blocks.values().map(|block| block.end);
        let end = ends.fold(length.next_multiple_of(BLOCK_UNIT), u64::max);
        Ok(EventsFile {
            path: path.to_owned(),
            file,
            blocks,
            whole,
            end,
        })
    }

    /// Whether a block of this number is there, or the beginning of one.
    pub fn has(&self, number: u64) -> bool {
        self.blocks.contains_key(&number)
    }

    /// Whether what a block of this number uses lies before the end that the file had.
    pub fn has_all(&self, number: u64) -> bool {
        self.whole.contains(&number)
    }

    /// Writes the block of `used` bytes that lies at `begin` of `source`: behind the others, or, if
    /// it is there already, for a second time to where it is.
    pub fn write(&mut self, source: &Source, begin: usize, used: usize) -> Result<(), Refused> {
        let mut header = verify(source, begin, used)
            .map_err(Refused::Damaged)?
            .clone();
        header.used = (used as u32).into();
        // No more than it uses: what is appended later begins right behind it.
        let room = (used as u64).next_multiple_of(BLOCK_UNIT);
        header.room = (room as u32).into();
        let number = header.number.get();
        let behind = self.end..self.end + room;
        let there = self.blocks.entry(number).or_insert(behind).clone();
        if there.end - there.start < room {
            let what = format!("block {number} has {room} bytes, and fewer in the file of events");
            let at = begin + offset_of!(BlockHeader, room);
            return Err(Refused::Damaged(source.damaged(at, what)));
        }
        self.end = self.end.max(there.end);
        let records = &source.bytes()[begin + BLOCK_HEADER..begin + used];
        // The header first, and as a whole, since it lies in one page: a reader that finds a part
        // of the block knows from its number that the whole is elsewhere.
        self.file
            .write_all_at(header.as_bytes(), there.start)
            .and_then(|()| {
                let behind_header = there.start + BLOCK_HEADER as u64;
                self.file.write_all_at(records, behind_header)
            })
            .map_err(|source| Refused::System(Error::io(&self.path)(source)))
    }
}

/// Where the blocks of a file of this length are, by their numbers, and the numbers of those that
/// it does not end inside.
fn blocks(file: &File, length: u64) -> std::io::Result<(Places, HashSet<u64>)> {
    let (mut blocks, mut whole) = (HashMap::new(), HashSet::new());
    let mut at = 0;
    while at < length {
        let mut bytes = [0; BLOCK_HEADER];
        let read = file.read_at(&mut bytes, at)?;
        let header = BlockHeader::read_from_bytes(&bytes[..read]).ok();
        let Some(block) = header.filter(|header| header.magic == BLOCK_MAGIC) else {
            // A damaged file may be a hole of any length.
            at = data_after(file, at + BLOCK_UNIT).unwrap_or(length);
            continue;
        };
        let room = u64::from(block.room.get()).max(BLOCK_UNIT);
        let next = at + room.next_multiple_of(BLOCK_UNIT);
        blocks.insert(block.number.get(), at..next);
        if at + u64::from(block.used.get()) <= length {
            whole.insert(block.number.get());
        }
        at = next;
    }
    Ok((blocks, whole))
}

//! The file `events`, while blocks are added to it.

use crate::Error;
use crate::file::open_to_write;
use crate::layout::{BLOCK_HEADER, BLOCK_MAGIC, BLOCK_UNIT, BlockHeader};
use crate::store::Source;
use crate::store::verify;
use std::fs::File;
use std::mem::offset_of;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use zerocopy::{FromBytes, FromZeros, IntoBytes};

/// The open file.
#[derive(Debug)]
pub struct EventsFile {
    path: PathBuf,
    file: File,
}

/// Why a block was not written.
pub enum Refused {
    /// The disk is full, a limit reached: it may go better later.
    System(Error),
    /// The buffer says what cannot be.
    Damaged(Error),
}

impl EventsFile {
    /// The file of the process in `directory`; made if it is not there.
    pub fn open(directory: &Path) -> Result<Self, Error> {
        let path = directory.join("events");
        let file = open_to_write(&path)?;
        Ok(EventsFile { path, file })
    }

    /// The file's end, rounded up to a multiple of a block's unit.
    pub fn end(&self) -> Result<u64, Error> {
        let length = self.file.metadata().map_err(Error::io(&self.path))?.len();
        Ok(length.next_multiple_of(BLOCK_UNIT))
    }

    /// Writes the block of `used` bytes that lies at `begin` of `source` to `place`.
    pub fn write(
        &self,
        source: &Source,
        begin: usize,
        used: usize,
        place: u64,
    ) -> Result<(), Refused> {
        let header = verify(source, begin, used).map_err(Refused::Damaged)?;
        if place % BLOCK_UNIT != 0 || i64::try_from(place).is_err() {
            let what = format!("a block's place at {place}; expected a multiple of {BLOCK_UNIT}");
            return Err(Refused::Damaged(source.damaged(begin, what)));
        }
        let number = header.number.get();
        self.free_for(number, place).map_err(Refused::Damaged)?;
        let mut header = header.clone();
        header.used = (used as u32).into();
        // No more than it uses: what is appended later begins right behind it.
        header.room = (used.next_multiple_of(BLOCK_UNIT as usize) as u32).into();
        let records = &source.bytes()[begin + BLOCK_HEADER..begin + used];
        // The header first, and as a whole, since it lies in one page: a reader that finds a part
        // of the block knows from its number that the whole is in a buffer.
        self.file
            .write_all_at(header.as_bytes(), place)
            .and_then(|()| self.file.write_all_at(records, place + BLOCK_HEADER as u64))
            .map_err(|source| Refused::System(Error::io(&self.path)(source)))
    }

    /// Refuses a place where another block is.
    fn free_for(&self, number: u64, place: u64) -> Result<(), Error> {
        let mut there = BlockHeader::new_zeroed();
        match self.file.read_exact_at(there.as_mut_bytes(), place) {
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(()),
            other => other.map_err(Error::io(&self.path))?,
        }
        if there.magic != BLOCK_MAGIC || there.number.get() == number {
            return Ok(());
        }
        let what = format!(
            "block {number} belongs where block {} is",
            there.number.get()
        );
        let at = place + offset_of!(BlockHeader, number) as u64;
        Err(Error::damaged(&self.path, at, what))
    }

    /// The places of the blocks that are there, by their numbers.
    pub fn places(&self) -> Result<std::collections::HashMap<u64, u64>, Error> {
        let mut places = std::collections::HashMap::new();
        let (mut at, end) = (0, self.end()?);
        while at < end {
            let mut bytes = [0; BLOCK_HEADER];
            let read = self
                .file
                .read_at(&mut bytes, at)
                .map_err(Error::io(&self.path))?;
            let header = BlockHeader::read_from_bytes(&bytes[..read]).ok();
            let block = header.filter(|header| header.magic == BLOCK_MAGIC);
            let room = block
                .as_ref()
                .map_or(0, |header| u64::from(header.room.get()));
            places.extend(block.map(|header| (header.number.get(), at)));
            at += room.max(BLOCK_UNIT);
        }
        Ok(places)
    }
}

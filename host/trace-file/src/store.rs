//! The blocks of a process, wherever they are: in `events`, in a thread's own `events-N`, or in
//! buffers that were not collected yet.

use crate::buffer;
use crate::error::renamed;
use crate::file::open;
use crate::layout::{BLOCK_HEADER, BLOCK_MAGIC, BLOCK_UNIT, BlockHeader};
use crate::{Damages, Error};
use memmap2::Mmap;
use std::cmp::Reverse;
use std::collections::HashSet;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use zerocopy::FromBytes;

/// Memory is released from a multiple of this on: no page is larger.
pub const RELEASED: usize = 64 << 10;

/// Bytes of a file of the trace.
#[derive(Debug)]
pub struct Source {
    /// The file.
    pub path: PathBuf,
    /// Where in it they begin.
    pub first: u64,
    /// The bytes.
    pub bytes: Bytes,
}

/// Mapped where they don't change any more, copied where the program still runs and reuses the
/// place.
#[derive(Debug)]
pub enum Bytes {
    Mapped(Mmap),
    Copied(Vec<u8>),
}

impl Source {
    /// The whole file at `path`.
    pub fn map(path: &Path) -> Result<Self, Error> {
        Self::of(&open(path)?, path)
    }

    /// The whole of a file that was opened at `path`, where another may be since: files of events
    /// are joined.
    pub fn of(file: &File, path: &Path) -> Result<Self, Error> {
        // SAFETY: bytes are plain, whatever becomes of them.
        let map = unsafe { Mmap::map(file) }.map_err(Error::io(path))?;
        Ok(Source {
            path: path.to_owned(),
            first: 0,
            bytes: Bytes::Mapped(map),
        })
    }

    pub fn bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Mapped(map) => map,
            Bytes::Copied(bytes) => bytes,
        }
    }

    /// Whether the traced process went on while the bytes were read.
    pub fn is_copy(&self) -> bool {
        matches!(self.bytes, Bytes::Copied(_))
    }

    /// Lets the system take back the memory that reading these bytes has mapped, so that a long
    /// trace takes up no more than a short one. They can be read again.
    pub fn release(&self, bytes: &[u8]) {
        let Bytes::Mapped(map) = &self.bytes else {
            return;
        };
        // For less it is not worth the call.
        if bytes.len() < RELEASED {
            return;
        }
        let begin = bytes.as_ptr() as usize - map.as_ptr() as usize;
        // Whole pages, those that it shares with its neighbours included.
        let first = begin / RELEASED * RELEASED;
        let length = begin - first + bytes.len();
        // SAFETY: of a shared mapping of a file nothing is lost: the pages are mapped again when
        // they are read. That it may be refused does no harm.
        unsafe {
            let pages = map.as_ptr().add(first).cast_mut().cast();
            libc::madvise(pages, length, libc::MADV_DONTNEED);
        }
    }

    /// An error at an offset into the bytes.
    pub fn damaged(&self, at: usize, what: impl Into<String>) -> Error {
        Error::damaged(&self.path, self.first.saturating_add(at as u64), what)
    }
}

/// A block: `used` bytes from `begin` of a source, its header included.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    pub source: u32,
    pub begin: usize,
    pub used: usize,
    pub number: u64,
    /// The file ends within it: `used` is what is there.
    pub cut: bool,
}

/// A block of which a file has only the beginning. If another file has the whole, it was being
/// written here when its writer was killed.
#[derive(Debug)]
pub struct Cut {
    /// With not even a header, nothing of it is read.
    pub block: Block,
    /// What is wrong with it if no other file has it.
    pub error: Error,
    /// How many of its bytes are not there.
    pub missing: u64,
}

/// Events that a buffer's thread dropped.
#[derive(Clone, Copy, Debug)]
pub struct Dropped {
    /// A block of the buffer; none where all were copied away.
    pub block: Option<usize>,
    /// The thread's number, 0 if it is not told.
    pub thread: u32,
    pub events: u64,
}

/// All blocks of a process.
#[derive(Debug, Default)]
pub struct Store {
    pub sources: Vec<Source>,
    pub blocks: Vec<Block>,
    /// For each buffer that says so.
    pub dropped: Vec<Dropped>,
    /// The parts of the files of events, and of buffers, that are no blocks.
    pub damages: Damages,
    /// Buffers that are not, or not wholly, read: collecting does not empty them.
    pub damaged_buffers: usize,
    /// Blocks that their files end inside, until all files are read.
    pub cut: Vec<Cut>,
}

/// Checks a block's header, which lies at `at` of `source`, and that `used` bytes, header included,
/// are there.
pub fn verify(source: &Source, at: usize, used: usize) -> Result<&BlockHeader, Error> {
    let bytes = source.bytes();
    let Some((header, _)) = bytes
        .get(at..)
        .and_then(|rest| BlockHeader::ref_from_prefix(rest).ok())
    else {
        let what = format!("the file ends inside a block's header of {BLOCK_HEADER} bytes");
        return Err(source.damaged(at, what));
    };
    if header.magic != BLOCK_MAGIC {
        let found = header.magic.escape_ascii();
        let what = format!("expected a block's magic number HEDLBLCK, found {found}");
        return Err(source.damaged(at, what));
    }
    let room = header.room.get();
    if room == 0 || u64::from(room) % BLOCK_UNIT != 0 {
        let what = format!("a block of {room} bytes; expected a multiple of {BLOCK_UNIT}");
        return Err(source.damaged(at + 8, what));
    }
    if used < BLOCK_HEADER || used > room as usize || used % 8 != 0 {
        let what = format!("{used} bytes used of a block of {room}");
        return Err(source.damaged(at + 12, what));
    }
    if used > bytes.len() - at {
        let what = format!("the file ends inside a block of {used} bytes: it was cut short");
        return Err(source.damaged(bytes.len(), what));
    }
    Ok(header)
}

impl Store {
    /// Finds the blocks in `directory`. What is no block where one should be is passed over, up to
    /// the next one. Of a process that still runs, what it had recorded by now: `running` is the
    /// number of blocks that it had begun.
    pub fn read(directory: &Path, running: Option<u64>) -> Result<Self, Error> {
        let mut store = Store::default();
        // Buffers first: what leaves them while we read is in a file of events by then.
        for path in buffer::paths(directory)? {
            buffer::read(&path, running.is_some(), &mut store)?;
        }
        let end = running.unwrap_or(u64::MAX);
        let known = store.numbers();
        for path in buffer::numbered(directory, "events-")? {
            store.read_events(&path, end, &known)?;
        }
        // Likewise: these are joined to `events` when the process has ended.
        let known = store.numbers();
        store.read_events(&directory.join("events"), end, &known)?;
        store.settle()?;
        Ok(store)
    }

    /// The blocks of one file of events.
    pub fn read_file(&mut self, path: &Path) -> Result<(), Error> {
        self.read_events(path, u64::MAX, &HashSet::new())
    }

    /// When all files are read: a block counts once, and of one that is cut the rest is damage,
    /// where no other file has the whole.
    pub fn settle(&mut self) -> Result<(), Error> {
        let mut known = self.numbers();
        let mut all = std::mem::take(&mut self.cut);
        all.sort_by_key(|cut| Reverse(cut.block.used));
        for cut in all {
            if known.insert(cut.block.number) {
                if cut.block.used >= BLOCK_HEADER {
                    self.blocks.push(cut.block);
                }
                self.damages.add(cut.error, cut.missing)?;
            }
        }
        self.drop_repeated()
    }

    /// Has what is said of the files in a directory call that `called`.
    pub fn call(&mut self, directory: &Path, called: &Path) {
        let sources = self.sources.iter_mut().map(|source| &mut source.path);
        let first = self.damages.first.iter_mut().map(|first| &mut first.path);
        for path in sources.chain(first) {
            *path = renamed(path, directory, called);
        }
    }

    fn numbers(&self) -> HashSet<u64> {
        self.blocks.iter().map(|block| block.number).collect()
    }

    /// Blocks of a file, but for those that are known, and those with numbers from `end` on.
    fn read_events(&mut self, path: &Path, end: u64, known: &HashSet<u64>) -> Result<(), Error> {
        let file = match open(path) {
            Err(Error::Io { cause, .. }) if cause.kind() == std::io::ErrorKind::NotFound => {
                return Ok(());
            }
            Ok(file) => file,
            Err(error) => return self.damages.add(error, 0),
        };
        let source = Source::of(&file, path)?;
        let length = source.bytes().len();
        let mut at = 0;
        while at < length {
            let mut room_for_header = [0; BLOCK_HEADER];
            let start =
                header_at(&file, at as u64, &mut room_for_header).map_err(Error::io(path))?;
            if start.first_chunk::<8>() == Some(&[0; 8]) {
                at = data_after(&file, at as u64 + BLOCK_UNIT)
                    .and_then(|next| usize::try_from(next).ok())
                    .unwrap_or(length);
                continue;
            }
            let said = BlockHeader::ref_from_prefix(start).map(|(said, _)| said);
            // Whole elsewhere: this copy may have been cut short, by a kill or a full disk. Or
            // begun since, and being written.
            if let Some(room) = said.as_ref().ok().and_then(|said| {
                let room = said.room.get() as usize;
                let number = said.number.get();
                let passed = number >= end || known.contains(&number);
                (passed && said.magic == BLOCK_MAGIC && room > 0).then_some(room)
            }) {
                at += room.next_multiple_of(BLOCK_UNIT as usize);
                continue;
            }
            let said = said.map_or(0, |said| said.used.get()) as usize;
            // Whole words of what a file that was cut short has left.
            let there = (length - at) / 8 * 8;
            let used = said.min(there);
            match verify(&source, at, used) {
                Ok(header) => {
                    let block = Block {
                        source: self.sources.len() as u32,
                        begin: at,
                        used,
                        number: header.number.get(),
                        cut: used < said,
                    };
                    let room = header.room.get() as usize;
                    source.release(&source.bytes()[at..at + used]);
                    if block.cut {
                        let what = format!(
                            "the file ends inside a block of {said} bytes: it was cut short"
                        );
                        self.cut.push(Cut {
                            block,
                            error: source.damaged(length, what),
                            missing: (said - used) as u64,
                        });
                    } else {
                        self.blocks.push(block);
                    }
                    at = at.saturating_add(room);
                }
                Err(error) => {
                    let next = next_block(&file, at, length).map_err(Error::io(path))?;
                    self.damages.add(error, (next - at) as u64)?;
                    at = next;
                }
            }
        }
        self.sources.push(source);
        Ok(())
    }

    /// Drops a block that has the same number as an earlier one, and counts it as damage.
    fn drop_repeated(&mut self) -> Result<(), Error> {
        let mut numbers = HashSet::with_capacity(self.blocks.len());
        let repeated = |block: &Block| !numbers.insert(block.number);
        let which: Vec<bool> = self.blocks.iter().map(repeated).collect();
        for (block, _) in self.blocks.iter().zip(&which).filter(|(_, which)| **which) {
            let source = &self.sources[block.source as usize];
            let what = format!("block number {} a second time", block.number);
            let error = source.damaged(block.begin + 16, what);
            self.damages.add(error, block.used as u64)?;
        }
        let mut kept = which.iter();
        self.blocks.retain(|_| kept.next() == Some(&false));
        // Blocks that others are counted by.
        if which.contains(&true) {
            for dropped in &mut self.dropped {
                dropped.block = dropped.block.and_then(|index| {
                    let before = which[..index].iter().filter(|which| **which).count();
                    (!which[index]).then_some(index - before)
                });
            }
        }
        Ok(())
    }
}

/// Where behind `at` the next block begins in a file of this length; its end, if none does.
fn next_block(file: &File, at: usize, length: usize) -> std::io::Result<usize> {
    let mut next = at;
    loop {
        next = (next / BLOCK_UNIT as usize + 1).saturating_mul(BLOCK_UNIT as usize);
        if next >= length {
            return Ok(length);
        }
        let mut room_for_header = [0; BLOCK_HEADER];
        let start = header_at(file, next as u64, &mut room_for_header)?;
        if start.starts_with(&BLOCK_MAGIC) {
            return Ok(next);
        }
        // A hole ends a damaged stretch, too, and may be long.
        if start.first_chunk::<8>() == Some(&[0; 8]) {
            return Ok(next);
        }
    }
}

/// What may be a block's header, cut short where the file ends. Read, because it may lie in a hole:
/// where the file system is full, a page of that cannot be had by a mapping (tmpfs: SIGBUS).
fn header_at<'a>(
    file: &File,
    at: u64,
    header: &'a mut [u8; BLOCK_HEADER],
) -> std::io::Result<&'a [u8]> {
    let mut read = 0;
    while read < BLOCK_HEADER {
        match file.read_at(&mut header[read..], at + read as u64) {
            Ok(0) => break,
            Ok(more) => read += more,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(&header[..read])
}

/// Where the file holds data at or after `at`, in whole units: holes of a sparse file are not read.
pub fn data_after(file: &File, at: u64) -> Option<u64> {
    // SAFETY: lseek takes no pointer.
    let next = unsafe { libc::lseek(file.as_raw_fd(), i64::try_from(at).ok()?, libc::SEEK_DATA) };
    match u64::try_from(next) {
        Ok(next) => Some(at.max(next / BLOCK_UNIT * BLOCK_UNIT)),
        Err(_) if std::io::Error::last_os_error().raw_os_error() == Some(libc::ENXIO) => None,
        // A file system that knows no holes.
        Err(_) => Some(at),
    }
}

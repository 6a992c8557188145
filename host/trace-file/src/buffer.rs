//! A thread's shared buffer, while it is there: blocks that are not in `events` yet.

use crate::Error;
use crate::file::{Mapped, unborn};
use crate::layout::{
    BLOCK_HEADER, BUFFER_MAGIC, BlockHeader, BufferHeader, HEADER_SIZE, MOST_SLOTS, SLOT_SIZE,
    Slot, slot,
};
use crate::store::{Block, Bytes, Cut, Dropped, Source, Store, verify};
use std::path::{Path, PathBuf};
use std::sync::atomic::{Ordering, fence};
use zerocopy::FromBytes;

/// The buffers in a process's directory, in order of their numbers.
pub fn paths(directory: &Path) -> Result<Vec<PathBuf>, Error> {
    numbered(directory, "buffer-")
}

/// The files of a directory whose names are `prefix` and a number, in order of their numbers.
pub fn numbered(directory: &Path, prefix: &str) -> Result<Vec<PathBuf>, Error> {
    let numbers = numbers(directory, prefix)?.into_iter();
    let paths = numbers.map(|number| directory.join(format!("{prefix}{number}")));
    Ok(paths.collect())
}

/// Their numbers, in order.
pub fn numbers(directory: &Path, prefix: &str) -> Result<Vec<u32>, Error> {
    let mut numbers = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(Error::io(directory))? {
        let name = entry.map_err(Error::io(directory))?.file_name();
        let number = name
            .to_str()
            .and_then(|name| name.strip_prefix(prefix))
            .and_then(|number| number.parse::<u32>().ok());
        numbers.extend(number);
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// What a buffer's header says, read at one moment.
pub struct Head {
    slots: u32,
    address: u64,
    position: u64,
    pub dropped: u64,
    /// Number of the thread that dropped them; 0: a block of it says.
    pub thread: u32,
}

impl Head {
    pub fn read(file: &Mapped) -> Result<Self, Error> {
        let header: &BufferHeader = file.header()?;
        file.verify(header.magic, BUFFER_MAGIC, header.version.get())?;
        let slots = header.slots.get();
        if !(1..=MOST_SLOTS).contains(&slots) {
            let what = format!("{slots} slots; expected 1 to {MOST_SLOTS}");
            return Err(Error::damaged(&file.path, 12, what));
        }
        Ok(Head {
            slots,
            address: header.address.get(),
            position: header.position.get(),
            dropped: header.dropped.get(),
            thread: header.thread.get(),
        })
    }

    /// How many bytes of the block that is being filled in slot `index` count.
    fn filled(&self, index: u32) -> usize {
        let begin = offset(index);
        match self.position.checked_sub(self.address) {
            Some(at) if (begin..=begin + SLOT_SIZE).contains(&at) => (at - begin) as usize,
            _ => 0,
        }
    }
}

/// Where slot `index` is in the file.
pub fn offset(index: u32) -> u64 {
    HEADER_SIZE as u64 + u64::from(index) * SLOT_SIZE
}

/// Which bytes of a slot are a block: none where it is free, or where nothing is in it yet.
pub struct Filled {
    /// Bytes of it, its header included.
    pub used: usize,
    /// Its number.
    pub number: u64,
    /// Where the slot is in the file.
    pub offset: u64,
}

/// The slots that hold a block, and what is wrong with others.
pub fn filled(file: &Mapped, head: &Head) -> Vec<Result<Filled, Error>> {
    let slots = (0..head.slots).map(|index| slot_filled(file, head, index));
    slots.filter_map(Result::transpose).collect()
}

fn slot_filled(file: &Mapped, head: &Head, index: u32) -> Result<Option<Filled>, Error> {
    let table = HEADER_SIZE / 2 + index as usize * size_of::<Slot>();
    let slot = slot_at(file, table)?;
    let state = slot.state.get();
    let used = match state {
        slot::FREE => return Ok(None),
        slot::FILLING => head.filled(index),
        slot::FULL | slot::COPIED_BY_THREAD | slot::COPIED_BY_US => slot.used.get() as usize,
        other => {
            let what = format!("slot {index} in state {other}; known are 0 to 4");
            return Err(Error::damaged(&file.path, table as u64, what));
        }
    };
    let empty = state == slot::FILLING && used < BLOCK_HEADER;
    Ok((!empty).then(|| Filled {
        used,
        number: slot.number.get(),
        offset: offset(index),
    }))
}

fn slot_at(file: &Mapped, table: usize) -> Result<Slot, Error> {
    file.bytes()
        .get(table..)
        .and_then(|rest| Slot::read_from_prefix(rest).ok())
        .map(|(slot, _)| slot)
        .ok_or_else(|| Error::damaged(&file.path, table as u64, "no room for a slot"))
}

/// Adds the blocks of the buffer at `path`. Those of a process that runs are copied, since it may
/// reuse the place at any time. What cannot be read is damage.
pub fn read(path: &Path, running: bool, store: &mut Store) -> Result<(), Error> {
    let (places, cut) = (store.damages.places, store.cut.len());
    let file = match unborn(path) {
        Ok(true) => return Ok(()),
        Ok(false) => Mapped::open(path),
        Err(error) => Err(error),
    };
    let file = match file {
        Ok(file) => Some(file),
        // Collected since its name was read.
        Err(Error::Io { cause, .. }) if cause.kind() == std::io::ErrorKind::NotFound => {
            return Ok(());
        }
        Err(error) => {
            store.damages.add(error, 0)?;
            None
        }
    };
    if let Some(file) = file {
        match Head::read(&file) {
            Ok(head) => read_slots(&file, &head, running, store)?,
            Err(error) => store.damages.add(error, file.bytes().len() as u64)?,
        }
    }
    let is_whole = (places, cut) == (store.damages.places, store.cut.len());
    store.damaged_buffers += usize::from(!is_whole);
    Ok(())
}

fn read_slots(file: &Mapped, head: &Head, running: bool, store: &mut Store) -> Result<(), Error> {
    // The position before the bytes that it covers.
    fence(Ordering::Acquire);
    let first = store.blocks.len();
    if running {
        copy(file, head, store)?;
    } else {
        map(file, head, store)?;
    }
    if head.dropped > 0 {
        let newest = (first..store.blocks.len()).max_by_key(|&index| store.blocks[index].number);
        store.dropped.push(Dropped {
            block: newest,
            thread: head.thread,
            events: head.dropped,
        });
    }
    Ok(())
}

fn map(file: &Mapped, head: &Head, store: &mut Store) -> Result<(), Error> {
    let source = Source::map(&file.path)?;
    for filled in filled(file, head) {
        let filled = match filled {
            Ok(filled) => filled,
            Err(error) => {
                store.damages.add(error, SLOT_SIZE)?;
                continue;
            }
        };
        let begin = filled.offset as usize;
        // Whole words of what a file that was cut short has left.
        let there = source.bytes().len().saturating_sub(begin) / 8 * 8;
        let can_be = filled.used <= SLOT_SIZE as usize && filled.used % 8 == 0;
        let used = if can_be {
            filled.used.min(there)
        } else {
            filled.used
        };
        let mut block = Block {
            source: store.sources.len() as u32,
            begin,
            used,
            number: filled.number,
            cut: used < filled.used,
        };
        let error = match verify(&source, begin, used) {
            Ok(header) => {
                block.number = header.number.get();
                if !block.cut {
                    store.blocks.push(block);
                    continue;
                }
                let said = filled.used;
                let what =
                    format!("the file ends inside a block of {said} bytes: it was cut short");
                source.damaged(source.bytes().len(), what)
            }
            Err(error) => {
                block.used = 0;
                error
            }
        };
        store.cut.push(Cut {
            block,
            error,
            missing: ((filled.used - block.used) as u64).min(SLOT_SIZE),
        });
    }
    store.sources.push(source);
    Ok(())
}

fn copy(file: &Mapped, head: &Head, store: &mut Store) -> Result<(), Error> {
    for filled in filled(file, head) {
        let copied = filled.and_then(|filled| copy_slot(file, &filled, store));
        if let Err(error) = copied {
            store.damages.add(error, SLOT_SIZE)?;
        }
    }
    Ok(())
}

fn copy_slot(file: &Mapped, filled: &Filled, store: &mut Store) -> Result<(), Error> {
    let begin = filled.offset as usize;
    let end = begin.saturating_add(filled.used);
    let Some(bytes) = file.bytes().get(begin..end) else {
        let what = "the file ends inside a block: it was cut short";
        return Err(Error::damaged(&file.path, file.bytes().len() as u64, what));
    };
    let source = Source {
        path: file.path.clone(),
        first: filled.offset,
        bytes: Bytes::Copied(bytes.to_vec()),
    };
    fence(Ordering::Acquire);
    let table = HEADER_SIZE / 2
        + ((filled.offset - HEADER_SIZE as u64) / SLOT_SIZE) as usize * size_of::<Slot>();
    let after = slot_at(file, table)?;
    let number_after = file.bytes()[begin..]
        .first_chunk::<BLOCK_HEADER>()
        .and_then(|header| BlockHeader::read_from_bytes(header).ok())
        .map(|header| header.number.get());
    let gone = after.state.get() == slot::FREE || after.number.get() != filled.number;
    // A slot that was freed while we copied it may hold another block now; the first one is in
    // `events`.
    if gone {
        return Ok(());
    }
    let header = verify(&source, 0, filled.used)?;
    let number = header.number.get();
    if number_after != Some(number) {
        return Ok(());
    }
    store.blocks.push(Block {
        source: store.sources.len() as u32,
        begin: 0,
        used: filled.used,
        number,
        cut: false,
    });
    store.sources.push(source);
    Ok(())
}

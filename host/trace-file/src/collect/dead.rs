//! Collects what processes have left that ended.

use super::events_file::{EventsFile, Refused};
use super::join::{Apart, join};
use crate::alive::alive;
use crate::buffer::{self, filled};
use crate::file::{Mapped, unborn};
use crate::layout::{BLOCK_HEADER, BLOCK_MAGIC, BLOCK_UNIT, BlockHeader, RUN_SIZE, head, kind};
use crate::process::{Head, Process};
use crate::store::{Bytes, Source};
use crate::trace::{image_directories, is_replaced, newest_images, readable_images};
use crate::{Error, ImageId, LostCounts, stamp};
use std::path::{Path, PathBuf};
use zerocopy::IntoBytes;

/// What was done.
#[derive(Debug, Default)]
pub struct Collected {
    /// Blocks that are in `events` now.
    pub blocks: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Events that their threads had dropped.
    pub dropped: u64,
    /// Events of processes that could not even make their directory.
    pub lost: u64,
    /// Why they could not, an error number, if there were any.
    pub why_lost: Option<i32>,
    /// What else is not known of these, and of others.
    pub counts: LostCounts,
    /// Processes whose buffers were collected.
    pub processes: u32,
    /// Processes that still run, and so keep their buffers.
    pub running: Vec<u32>,
    /// Processes whose headers cannot be read, so that their buffers stay: nothing tells whether
    /// such a process has ended, and which clock it had.
    pub left: Vec<ImageId>,
    /// Processes whose several files of events were joined.
    pub joined: u32,
    /// The first process whose files were not, and why.
    pub apart: Option<(PathBuf, Apart)>,
    /// What stopped it, a full disk for one: buffers that were not collected are still there, and
    /// can be read and collected later. Of a damaged one what can be read was collected.
    pub trouble: Option<Error>,
}

/// Collects the buffers of every process of the trace that has ended, takes its last stamp if it
/// did not do so itself, and joins its files of events, if that copies at most so many bytes.
pub fn collect_all(trace: &Path, most_joined: u64) -> Result<Collected, Error> {
    let mut collected = Collected::default();
    let images = readable_images(trace)?;
    let newest = newest_images(images.iter().map(|(head, _)| head));
    for (head, directory) in &images {
        if alive(directory, head, is_replaced(head, &newest)) {
            collected.running.push(head.pid);
            continue;
        }
        // The others can be collected all the same.
        if let Err(error) = stamp::stamp_process(&directory.join("process")) {
            collected.trouble.get_or_insert(error);
            continue;
        }
        match collect(directory, head, &mut collected) {
            Ok(()) => match join(directory, most_joined) {
                Ok(joined) => collected.joined += u32::from(joined),
                Err(apart) => _ = collected.apart.get_or_insert((directory.clone(), apart)),
            },
            Err(Refused::System(error)) => _ = collected.trouble.get_or_insert(error),
            // What cannot be read is not read by other commands either.
            Err(Refused::Damaged(error)) => {
                let error = error.of_one_file().map_or_else(|other| other, Error::from);
                collected.trouble.get_or_insert(error);
            }
        }
    }
    collected.running.sort_unstable();
    for (directory, id) in image_directories(trace)? {
        let known = images.iter().any(|(_, image)| *image == directory);
        if !known && has_buffers(&directory) {
            collected.left.push(id);
        }
    }
    Ok(collected)
}

/// Whether there is a buffer in which a thread has recorded, as far as its file tells: what is no
/// file has no events.
fn has_buffers(directory: &Path) -> bool {
    let paths = buffer::paths(directory).unwrap_or_default();
    paths
        .iter()
        .any(|path| !matches!(unborn(path), Ok(true) | Err(Error::Damaged { .. })))
}

fn collect(directory: &Path, head: &Head, collected: &mut Collected) -> Result<(), Refused> {
    let mut paths = Vec::new();
    // The first that is wrong with a buffer, which stays where it is: readers tell of it.
    let mut damaged = None;
    for path in buffer::paths(directory).map_err(Refused::Damaged)? {
        match unborn(&path) {
            // Its thread died before it recorded anything.
            Ok(true) => std::fs::remove_file(&path)
                .map_err(|error| Refused::System(Error::io(&path)(error)))?,
            Ok(false) => paths.push(path),
            Err(error) => _ = damaged.get_or_insert(error),
        }
    }
    if paths.is_empty() {
        return damaged.map_or(Ok(()), |error| Err(Refused::Damaged(error)));
    }
    let mut events = EventsFile::open(&directory.join("events")).map_err(Refused::System)?;
    let mut dropped: u64 = 0;
    // A count that belongs to no thread of the trace has no other place.
    let mut unplaced = Vec::new();
    let mut kept = Vec::new();
    for path in &paths {
        let mut keep = |error| {
            kept.push(path);
            damaged.get_or_insert(error);
        };
        let opened = Mapped::open(path).and_then(|file| {
            let header = buffer::Head::read(&file)?;
            Ok((file, header, Source::map(path)?))
        });
        let (file, header, source) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                keep(error);
                continue;
            }
        };
        let blocks = filled(&file, &header);
        if header.dropped > 0 && header.thread == 0 && blocks.is_empty() {
            unplaced.push(path);
        }
        for block in blocks {
            let written = block.map_err(Refused::Damaged).and_then(|block| {
                events.write(&source, block.offset as usize, block.used)?;
                Ok(block.used)
            });
            match written {
                Ok(used) => {
                    collected.blocks += 1;
                    collected.bytes += used as u64;
                }
                Err(Refused::Damaged(error)) => keep(error),
                Err(refused) => return Err(refused),
            }
        }
        dropped = header.dropped.saturating_add(dropped);
    }
    if dropped > 0 {
        tell_dropped(directory, head, &mut events)?;
        collected.dropped = dropped.saturating_add(collected.dropped);
    }
    kept.extend(unplaced);
    for path in paths.iter().filter(|path| !kept.contains(path)) {
        std::fs::remove_file(path).map_err(|error| Refused::System(Error::io(path)(error)))?;
    }
    collected.processes += 1;
    damaged.map_or(Ok(()), |error| Err(Refused::Damaged(error)))
}

/// The number of events dropped is in the header of the thread's buffer, which is about to go: what
/// its gaps do not tell of yet becomes one more gap, in a block of its own. A thread's count is the
/// larger of its header's and its gaps' sum, so that it is right before, between and afterwards.
fn tell_dropped(directory: &Path, head: &Head, events: &mut EventsFile) -> Result<(), Refused> {
    let line = crate::clock::TimeLine {
        start: head.first.ticks,
        rate: crate::Rate::NANOSECOND,
        epoch: head.first.realtime,
    };
    let shapes = std::sync::Arc::default();
    let process = Process::read((directory, directory), head.clone(), false, line, &shapes);
    let process = process.map_err(Refused::Damaged)?;
    let mut number = process.last_block_number();
    for thread in process
        .threads()
        .iter()
        .filter(|thread| thread.dropped() > 0)
    {
        let told = thread.dropped_in_gaps().map_err(Refused::Damaged)?;
        let Some(missing) = thread.dropped().checked_sub(told).filter(|&more| more > 0) else {
            continue;
        };
        let mut run = thread.last_run().map_err(Refused::Damaged)?;
        let next = run.run.get().checked_add(1).zip(number.checked_add(1));
        let Some((of_run, of_block)) = next else {
            let path = directory.join("events");
            let what = "a block or run has the highest number there is, so that none can follow";
            return Err(Refused::Damaged(Error::damaged(&path, 0, what)));
        };
        number = of_block;
        run.bytes = 0.into();
        run.run = of_run.into();
        let ticks = head.latest.ticks.0;
        let gap = [head_of_gap(), ticks, missing];
        let used = BLOCK_HEADER + RUN_SIZE + size_of_val(&gap);
        let block = BlockHeader {
            magic: BLOCK_MAGIC,
            room: (BLOCK_UNIT as u32).into(),
            used: (used as u32).into(),
            number: number.into(),
            unused: [0; 40],
        };
        let mut bytes = block.as_bytes().to_vec();
        bytes.extend_from_slice(run.as_bytes());
        bytes.extend(gap.iter().flat_map(|word| word.to_le_bytes()));
        let source = Source {
            path: directory.join("events"),
            first: 0,
            bytes: Bytes::Copied(bytes),
        };
        events.write(&source, 0, used)?;
    }
    Ok(())
}

/// A gap's first word: events were dropped.
fn head_of_gap() -> u64 {
    const DROPPED: u64 = 2;
    head(kind::GAP, 3) | DROPPED << 32
}

//! Makes one file of events of those that the threads of a process wrote themselves.
//!
//! Nothing is lost and nothing is there twice whenever this is killed. (A machine that stops
//! may lose what was copied, as any file that nobody has synchronised.) The steps, when the process
//! has ended and its buffers are empty:
//!
//! | step | what a reader finds |
//! |---|---|
//! | the blocks of `events` are written behind those of the largest `events-N` | all of them in `events`; of blocks that are in both files one counts |
//! | `events-N` is renamed to `events` | the same |
//! | the blocks of another `events-N` are written behind them | the same; one that `events` ends inside does not count, as it is whole in the other file |
//! | that one is removed | all in `events` |

use super::events_file::{EventsFile, Refused};
use crate::Error;
use crate::buffer::numbered;
use crate::file::{free_bytes, open};
use crate::store::{Source, Store};
use std::fs::{remove_file, rename};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// A file of events, and its length.
struct Part {
    path: PathBuf,
    bytes: u64,
}

impl Part {
    /// None where nothing is; what is no file is an error, so that it is neither moved nor removed.
    fn of(path: PathBuf) -> Result<Option<Self>, Apart> {
        let bytes = open(&path).and_then(|file| file.metadata().map_err(Error::io(&path)));
        match bytes {
            Ok(metadata) => Ok(Some(Part {
                bytes: metadata.len(),
                path,
            })),
            Err(Error::Io { cause, .. }) if cause.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Apart::Error(error)),
        }
    }
}

/// Why a process keeps several files of events. To a reader they are as good, as far as they can be
/// read.
#[derive(Debug)]
pub enum Apart {
    /// More would be copied than was allowed.
    Much,
    /// The disk has no room for twice so many bytes as would be copied.
    NoRoom(u64),
    /// One cannot be read, or not be written.
    Error(Error),
}

/// Joins the files of the process in `directory`, if that copies at most so many bytes, and the
/// disk has room for them twice over. Says whether there were several.
pub fn join(directory: &Path, most: u64) -> Result<bool, Apart> {
    let own = numbered(directory, "events-").map_err(Apart::Error)?;
    let (mut parts, mut apart) = (Vec::new(), None);
    for path in own {
        match Part::of(path) {
            Ok(part) => parts.extend(part),
            Err(error) => _ = apart.get_or_insert(error),
        }
    }
    let Some(largest) = (0..parts.len()).max_by_key(|&index| parts[index].bytes) else {
        return apart.map_or(Ok(false), Err);
    };
    let target = directory.join("events");
    let events = Part::of(target.clone())?;
    let has = events.as_ref().map_or(0, |events| events.bytes);
    let all = parts.iter().map(|part| part.bytes).sum::<u64>() + has;
    let copied = all - has.max(parts[largest].bytes);
    if copied > most {
        return Err(Apart::Much);
    }
    if free_bytes(directory).is_none_or(|free| free / 2 < copied) {
        return Err(Apart::NoRoom(copied));
    }
    if has < parts[largest].bytes {
        let base = parts.swap_remove(largest);
        if let Some(events) = events {
            // What its thread wrote is whole, and a copy in `events` may not be.
            append(&events.path, &base.path, true)?;
        }
        rename(&base.path, &target).map_err(|error| Apart::Error(Error::io(&target)(error)))?;
    }
    for part in parts {
        let joined = append(&part.path, &target, false).and_then(|()| {
            let removed = remove_file(&part.path);
            removed.map_err(|error| Apart::Error(Error::io(&part.path)(error)))
        });
        // The others need not wait for this one.
        if let Err(error) = joined {
            apart.get_or_insert(error);
        }
    }
    apart.map_or(Ok(true), Err)
}

/// Writes the blocks of one file to the other, if all can be read; `keep`: but for those that are
/// whole in it.
fn append(from: &Path, to: &Path, keep: bool) -> Result<(), Apart> {
    let mut store = Store::default();
    store.read_file(from).map_err(Apart::Error)?;
    let mut events = EventsFile::open(to).map_err(Apart::Error)?;
    // The thread was killed as it wrote this block, which has come from its buffer since.
    store.cut.retain(|cut| !events.has(cut.block.number));
    store.settle().map_err(Apart::Error)?;
    if let Some(damage) = store.damages.error() {
        return Err(Apart::Error(damage));
    }
    for block in &store.blocks {
        if keep && events.has_all(block.number) {
            continue;
        }
        let source: &Source = &store.sources[block.source as usize];
        match events.write(source, block.begin, block.used) {
            Ok(()) => {}
            Err(Refused::System(error) | Refused::Damaged(error)) => {
                return Err(Apart::Error(error));
            }
        }
        source.release(&source.bytes()[block.begin..block.begin + block.used]);
    }
    Ok(())
}

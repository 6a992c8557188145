//! Makes one file of events of those that the threads of a process wrote themselves.
//!
//! Nothing is lost and nothing is there twice whenever this is killed. The steps, when the process
//! has ended and its buffers are empty:
//!
//! | step | what a reader finds |
//! |---|---|
//! | the blocks of `events` are written behind those of the largest `events-N` | all of them in `events`; of blocks that are in both files one counts |
//! | `events-N` is renamed to `events` | the same |
//! | the blocks of another `events-N` are written behind them | the same; one that `events` ends inside does not count, as it is whole in the other file |
//! | that one is removed | all in `events` |

use super::events_file::{EventsFile, Refused};
use crate::buffer::numbered;
use crate::file::free_bytes;
use crate::store::{Source, Store};
use std::fs::{metadata, remove_file, rename};
use std::path::{Path, PathBuf};

/// A file of events, and its length.
struct Part {
    path: PathBuf,
    bytes: u64,
}

impl Part {
    fn of(path: PathBuf) -> Option<Self> {
        let bytes = metadata(&path).ok()?.len();
        Some(Part { path, bytes })
    }
}

/// Joins the files of the process in `directory`, if that copies at most so many bytes, and the
/// disk has room for them twice over. Where it cannot be, the trace stays as it is, which is as
/// good to a reader.
pub fn join(directory: &Path, most: u64) {
    let Ok(own) = numbered(directory, "events-") else {
        return;
    };
    let mut parts: Vec<Part> = own.into_iter().filter_map(Part::of).collect();
    let Some(largest) = (0..parts.len()).max_by_key(|&index| parts[index].bytes) else {
        return;
    };
    let target = directory.join("events");
    let events = Part::of(target.clone());
    let has = events.as_ref().map_or(0, |events| events.bytes);
    let all = parts.iter().map(|part| part.bytes).sum::<u64>() + has;
    let copied = all - has.max(parts[largest].bytes);
    if copied > most || free_bytes(directory).is_none_or(|free| free / 2 < copied) {
        return;
    }
    if has < parts[largest].bytes {
        let base = parts.swap_remove(largest);
        let whole = events.is_none_or(|events| append(&events.path, &base.path).is_ok());
        if !whole || rename(&base.path, &target).is_err() {
            return;
        }
    }
    for part in parts {
        if append(&part.path, &target).is_err() || remove_file(&part.path).is_err() {
            return;
        }
    }
}

/// Writes the blocks of one file to the other, if all can be read.
fn append(from: &Path, to: &Path) -> Result<(), Refused> {
    let mut store = Store::default();
    store.read_file(from).map_err(Refused::Damaged)?;
    let mut events = EventsFile::open(to).map_err(Refused::System)?;
    // The thread was killed as it wrote this block, which has come from its buffer since.
    store.cut.retain(|cut| !events.has(cut.block.number));
    store.settle().map_err(Refused::Damaged)?;
    if let Some(damage) = store.damages.error() {
        return Err(Refused::Damaged(damage));
    }
    for block in &store.blocks {
        let source: &Source = &store.sources[block.source as usize];
        events.write(source, block.begin, block.used)?;
        source.release(&source.bytes()[block.begin..block.begin + block.used]);
    }
    Ok(())
}

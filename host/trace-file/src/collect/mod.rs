//! Moves blocks from the buffers, which the traced program shares with us, to `events`.
//!
//! Nothing is lost whenever one of the two is killed: a block stays in its slot until it is in
//! `events` as a whole, and a reader takes the buffer's where both are there. The steps for a
//! process that runs, each of which may be the last:
//!
//! | step | what a reader finds |
//! |---|---|
//! | the thread stores the slot's state *full* | the block, in the buffer |
//! | we change it to *being copied by heddle record* (compare-and-exchange: the thread may take it first) | the same |
//! | we write the block to the end of `events` | the same; in `events` a part of it, which does not count |
//! | we store *free* | the block in `events` |
//!
//! For one that is dead the last step is to remove the buffer, when all its blocks are in `events`.
//! Doing it again writes the same bytes to the same places, which blocks are found at by their
//! numbers.

mod control;
mod dead;
mod events_file;
mod follow;
mod join;
mod requests;
mod spare;

pub use control::{Claim, is_begun};
pub use dead::Collected;
pub use follow::Collector;
pub use join::Apart;
pub(crate) use requests::Requests;

use crate::Error;
use control::Control;
use std::path::Path;

/// Collects what is in the buffers of the trace at `path` after a bare preload, or when `heddle
/// record` was killed. A process that still runs keeps its buffers.
///
/// # Errors
/// No trace is there, `heddle record` is at work on it, or a part of it is damaged. A full disk is
/// no error: [`Collected::trouble`] tells.
///
/// ```no_run
/// let collected = heddle_trace_file::recover("heddle.trace".as_ref())?;
/// println!("{} blocks", collected.blocks);
/// # Ok::<(), heddle_trace_file::Error>(())
/// ```
pub fn recover(path: &Path) -> Result<Collected, Error> {
    crate::trace::verify_marker(path)?;
    let control = Control::hold(path)?;
    spare::Spare::remove(path);
    let collected = dead::collect_all(path, u64::MAX)?;
    control.remove();
    Ok(collected)
}

//! The stamp that is added when a process was killed before it could take its last one.

use crate::layout::{ENDED, PROCESS_MAGIC, ProcessHeader, StampBytes};
use crate::process::boot_id;
use crate::{ClockKind, Error, OLDEST, Stamp, VERSION};
use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::Path;
use zerocopy::{FromZeros, IntoBytes};

/// Takes a last stamp for the dead process with this header, if it did not end by itself, so that
/// the clock's rate is known. Says whether it did.
pub(crate) fn stamp_process(path: &Path) -> Result<bool, Error> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(path)
        .map_err(Error::io(path))?;
    let mut header = ProcessHeader::new_zeroed();
    match file.read_exact_at(header.as_mut_bytes(), 0) {
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(false),
        other => other.map_err(Error::io(path))?,
    }
    let ours = header.magic == PROCESS_MAGIC && (OLDEST..=VERSION).contains(&header.version.get());
    // The clock of another boot, or of another machine, says nothing.
    let here = boot_id().is_some_and(|id| id == header.boot_id);
    if !ours || !here || header.flags.get() & ENDED != 0 {
        return Ok(false);
    }
    let Some(now) = ClockKind::from_number(header.clock.get()).and_then(Stamp::now) else {
        return Ok(false);
    };
    let taken = header.stamps.get();
    let slot = std::mem::offset_of!(ProcessHeader, latest)
        + (taken % 2) as usize * size_of::<StampBytes>();
    // The slot before the number, so that a reader never takes a slot that is half written.
    file.write_all_at(StampBytes::from(now).as_bytes(), slot as u64)
        .map_err(Error::io(path))?;
    let number = taken.wrapping_add(1).to_le_bytes();
    file.write_all_at(&number, std::mem::offset_of!(ProcessHeader, stamps) as u64)
        .map_err(Error::io(path))?;
    Ok(true)
}

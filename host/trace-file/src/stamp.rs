//! The stamp that is added when a process was killed before it could take its last one, or lived
//! too short for its two to give the clock's rate.

use crate::clock::ENOUGH;
use crate::file::open_own;
use crate::layout::{ENDED, PROCESS_MAGIC, ProcessHeader, StampBytes};
use crate::process::{boot_id, latest_stamp};
use crate::{ClockKind, Error, OLDEST, Stamp, VERSION};
use std::os::unix::fs::FileExt;
use std::path::Path;
use zerocopy::{FromZeros, IntoBytes};

/// Takes a last stamp for the dead process with this header, if it did not end by itself, or soon
/// after it began, so that the clock's rate is known: else each reader would take one of its own,
/// and tell other times. Says whether it did.
pub(crate) fn stamp_process(path: &Path) -> Result<bool, Error> {
    let file = open_own(path, libc::O_RDWR)?;
    let mut header = ProcessHeader::new_zeroed();
    match file.read_exact_at(header.as_mut_bytes(), 0) {
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(false),
        other => other.map_err(Error::io(path))?,
    }
    let ours = header.magic == PROCESS_MAGIC && (OLDEST..=VERSION).contains(&header.version.get());
    // The clock of another boot, or of another machine, says nothing.
    let here = boot_id().is_some_and(|id| id == header.boot_id);
    let Some(clock) = ClockKind::from_number(header.clock.get()).filter(|_| ours && here) else {
        return Ok(false);
    };
    let (first, taken) = (Stamp::from(header.first), header.stamps.get());
    let apart = latest_stamp(&header)
        .monotonic_raw
        .0
        .saturating_sub(first.monotonic_raw.0);
    let tells_rate = clock == ClockKind::MonotonicRaw || apart >= ENOUGH.0;
    if header.flags.get() & ENDED != 0 && tells_rate {
        return Ok(false);
    }
    let Some(now) = first.later(clock) else {
        return Ok(false);
    };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Nanos;

    /// The stamp in this slot of the header in a file, and how many were taken.
    fn taken(path: &Path, slot: usize) -> (Stamp, u32) {
        let mut header = ProcessHeader::new_zeroed();
        header
            .as_mut_bytes()
            .copy_from_slice(&std::fs::read(path).unwrap());
        (Stamp::from(header.latest[slot]), header.stamps.get())
    }

    #[test]
    fn a_process_that_ended_soon_gets_one_stamp_that_tells_the_rate() {
        let Some(first) = Stamp::now(ClockKind::Tsc) else {
            return;
        };
        let mut header = ProcessHeader::new_zeroed();
        header.magic = PROCESS_MAGIC;
        header.version = VERSION.into();
        header.flags = ENDED.into();
        header.clock = 1.into();
        header.boot_id = boot_id().unwrap();
        header.first = first.into();
        header.latest[0] = first.into();
        header.stamps = 1.into();
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("process");
        std::fs::write(&path, header.as_bytes()).unwrap();
        assert!(stamp_process(&path).unwrap());
        let (latest, number) = taken(&path, 1);
        let apart = latest.monotonic_raw - first.monotonic_raw;
        assert!(apart >= ENOUGH && number == 2, "{apart:?}, {number} stamps");
        assert!(!stamp_process(&path).unwrap(), "the rate is known now");
        // One of which the clock needs none is left as it is.
        header.clock = 2.into();
        header.first = StampBytes::from(Stamp {
            monotonic_raw: Nanos(1),
            ..first
        });
        std::fs::write(&path, header.as_bytes()).unwrap();
        assert!(!stamp_process(&path).unwrap());
    }
}

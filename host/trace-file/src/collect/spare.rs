//! A process's directory that is made before the program begins, so that its first thread need not
//! make files and give them room between its first calls.

use crate::file::{free_bytes, open_to_write};
use crate::layout::{HEADER_SIZE, SLOT_SIZE};
use std::fs;
use std::io::{IoSlice, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// The directory `spare` of a trace. The first process that records renames it to its own; if none
/// does, it is removed with this.
#[derive(Debug)]
pub struct Spare {
    trace: PathBuf,
}

/// One slot to fill while the collector empties the other.
const SLOTS: u64 = 2;
const BUFFER_SIZE: u64 = HEADER_SIZE as u64 + SLOTS * SLOT_SIZE;
/// The room that there must be for each byte of the directory: it must not be what fills a disk.
const SHARE: u64 = 64;
/// What the files are written from.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

impl Spare {
    /// Makes the directory in the trace at `trace`. Gives none where that cannot be, or where there
    /// is little room; then the program makes its files itself.
    pub fn make(trace: &Path) -> Option<Self> {
        if free_bytes(trace)? < SHARE * BUFFER_SIZE {
            return None;
        }
        let directory = trace.join("spare");
        fs::DirBuilder::new().mode(0o700).create(&directory).ok()?;
        let spare = Spare {
            trace: trace.to_owned(),
        };
        allocate(&directory.join("process"), HEADER_SIZE as u64)?;
        allocate(&directory.join("buffer-1"), BUFFER_SIZE)?;
        open_to_write(&directory.join("modules")).ok()?;
        Some(spare)
    }

    /// Removes what a killed `heddle record` has left of it.
    pub fn remove(trace: &Path) {
        // A process may take it at any time until it has another name.
        let unused = trace.join("spare-unused");
        let _ = fs::rename(trace.join("spare"), &unused);
        let _ = fs::remove_dir_all(unused);
    }
}

impl Drop for Spare {
    fn drop(&mut self) {
        Spare::remove(&self.trace);
    }
}

/// Whether the directory, and no link, holds nothing but the files of a spare one.
pub fn is_spare(directory: &Path) -> bool {
    let ours = |entry: std::io::Result<fs::DirEntry>| {
        entry.is_ok_and(|entry| {
            let name = entry.file_name();
            matches!(name.to_str(), Some("process" | "buffer-1" | "modules"))
                && entry.file_type().is_ok_and(|kind| kind.is_file())
        })
    };
    fs::symlink_metadata(directory).is_ok_and(|it| it.is_dir())
        && fs::read_dir(directory).is_ok_and(|mut names| names.all(ours))
}

/// Makes a file of zeros that has its blocks on the disk, and its pages in memory.
fn allocate(path: &Path, bytes: u64) -> Option<()> {
    let file = open_to_write(path).ok()?;
    // SAFETY: posix_fallocate takes no pointer.
    if unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, bytes as libc::off_t) } != 0 {
        return None;
    }
    // In one piece, for which the kernel takes large folios: they are mapped by few page faults.
    // That is made of small ones, as memory may be short.
    let mut left = bytes as usize;
    while left > 0 {
        let whole = std::iter::repeat_n(IoSlice::new(&ZEROS), left / ZEROS.len());
        let rest = IoSlice::new(&ZEROS[..left % ZEROS.len()]);
        let pieces: Vec<IoSlice<'_>> = whole.chain([rest]).collect();
        left -= (&file)
            .write_vectored(&pieces)
            .ok()
            .filter(|&written| written > 0)?;
    }
    Some(())
}

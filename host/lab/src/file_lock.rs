//! Locks on files and directories that end with the process that holds them, however it ends.

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// What came of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lock {
    /// Ours until the file is closed.
    Held,
    /// Another process holds it.
    Others,
    /// The file system knows no locks.
    Unknown,
}

/// Tries to lock it (`flock`) without waiting.
pub(crate) fn try_lock(file: &File) -> Lock {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Lock::Held,
        Err(Errno::WOULDBLOCK) => Lock::Others,
        Err(_) => Lock::Unknown,
    }
}

/// Opens a directory, and nothing else.
pub(crate) fn open_directory(path: &Path) -> std::io::Result<File> {
    let flags = libc::O_DIRECTORY | libc::O_NOFOLLOW;
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

/// Whether the open directory is the one of that name.
pub(crate) fn is_at(directory: &File, path: &Path) -> bool {
    let (Ok(one), Ok(other)) = (directory.metadata(), std::fs::symlink_metadata(path)) else {
        return false;
    };
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

//! Locks on files and directories that end with whoever holds them, however that happens.

use std::fs::File;
use std::os::fd::AsRawFd;

/// What came of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lock {
    /// Ours until the file is closed.
    Held,
    /// Somebody else's.
    Others,
    /// The file system knows no locks.
    Unknown,
}

/// Tries to lock it (`flock`) without waiting.
pub(crate) fn try_lock(file: &File) -> Lock {
    // SAFETY: plain system call on an open descriptor.
    if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } == 0 {
        return Lock::Held;
    }
    match std::io::Error::last_os_error().kind() {
        std::io::ErrorKind::WouldBlock => Lock::Others,
        _ => Lock::Unknown,
    }
}

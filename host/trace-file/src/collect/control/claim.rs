//! The lock by which a process owns a trace's directory.

use crate::Error;
use crate::file::{open, open_in, own_directory};
use crate::layout::CONTROL_MAGIC;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The right to record into a directory, and to move or remove it: the lock of its `control`. It is
/// ours as long as this lives.
#[derive(Debug)]
pub struct Claim {
    path: PathBuf,
    file: File,
    directory: File,
}

impl Claim {
    /// Claims the directory `trace`, and makes its `control` if there is none.
    ///
    /// # Errors
    /// [`Error::Recording`] if another process has claimed it; the file cannot be made.
    pub fn of(trace: &Path) -> Result<Self, Error> {
        let mut path = trace.join("control");
        loop {
            let directory = own_directory(trace)?;
            let flags = libc::O_RDWR | libc::O_CREAT;
            let file = open_in(&directory, &path, "control".as_ref(), flags)?;
            // SAFETY: flock takes no pointer.
            if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } != 0 {
                let cause = std::io::Error::last_os_error();
                return Err(match cause.kind() {
                    ErrorKind::WouldBlock => Error::Recording(trace.to_owned()),
                    _ => Error::Io { path, cause },
                });
            }
            // Another process may have removed or moved the file that was opened before it gave up
            // the lock.
            let claim = Self {
                path,
                file,
                directory,
            };
            if claim.holds() {
                return Ok(claim);
            }
            path = claim.path;
        }
    }

    /// Whether the file that is locked is still where it was opened.
    fn holds(&self) -> bool {
        is_same(&self.path, &self.file)
    }

    /// Writes a file of the directory, whatever is by now where that was, and not what a link in
    /// the file's place leads to.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn write(&self, name: &str, text: &str) -> std::io::Result<()> {
        let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC;
        let path = self.path.with_file_name(name);
        match open_in(&self.directory, &path, name.as_ref(), flags) {
            Ok(mut file) => file.write_all(text.as_bytes()),
            Err(Error::Io { cause, .. }) => Err(cause),
            Err(error) => Err(std::io::Error::other(error)),
        }
    }

    /// The directory, opened, which it stays whatever takes its place.
    ///
    /// # Errors
    /// There are too many open files.
    pub fn directory(&self) -> std::io::Result<File> {
        self.directory.try_clone()
    }

    /// A path to the directory, which leads to it wherever it is moved, and to nothing else that
    /// takes its name; for as long as this lives. Where /proc is not mounted, the name.
    pub fn place(&self) -> PathBuf {
        let place = PathBuf::from(format!("/proc/self/fd/{}/.", self.directory.as_raw_fd()));
        match is_same(&place, &self.directory) {
            true => place,
            false => self.path.parent().map_or(place, Path::to_owned),
        }
    }

    /// Whether the directory was removed.
    pub fn is_removed(&self) -> bool {
        self.directory.metadata().is_ok_and(|it| it.nlink() == 0)
    }

    /// Ends it, and removes the file, unless the directory was removed and another process has made
    /// a new one there.
    pub fn release(self) {
        if self.holds() {
            // If the file cannot be removed, the next claim takes it over.
            // SAFETY: the name is zero-terminated.
            unsafe { libc::unlinkat(self.directory.as_raw_fd(), c"control".as_ptr(), 0) };
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }
}

/// Whether the file, or directory, lies at the path, not behind a link there.
fn is_same(path: &Path, file: &File) -> bool {
    let (there, ours) = (path.symlink_metadata(), file.metadata());
    let (Ok(there), Ok(ours)) = (there, ours) else {
        return false;
    };
    (there.dev(), there.ino()) == (ours.dev(), ours.ino())
}

/// Whether the directory at `path` is empty, or holds only what a recording makes first, `control`,
/// a part of the marker, and `spare`: a recording begins there, or was killed as it began.
pub fn is_begun(path: &Path) -> bool {
    let marker = crate::marker();
    let Ok(entries) = std::fs::read_dir(path) else {
        return false;
    };
    let begins = |name: &str| -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        let file = open(&path.join(name)).ok()?;
        let most = marker.len().max(CONTROL_MAGIC.len()) as u64;
        file.take(most + 1).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    };
    entries
        .flatten()
        .all(|entry| match entry.file_name().to_str() {
            Some("control") => begins("control").is_some_and(|bytes| {
                let magic = &bytes[..bytes.len().min(CONTROL_MAGIC.len())];
                magic == CONTROL_MAGIC || magic.iter().all(|&byte| byte == 0)
            }),
            Some("heddle") => {
                begins("heddle").is_some_and(|bytes| marker.as_bytes().starts_with(&bytes))
            }
            Some("spare" | "spare-unused") => super::super::spare::is_spare(&entry.path()),
            _ => false,
        })
}

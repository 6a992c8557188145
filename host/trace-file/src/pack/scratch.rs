//! The directory that a trace is unpacked into.

use crate::Error;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::ErrorKind;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// What the names of such directories begin with.
const PREFIX: &str = "heddle-unpacked-";

/// A directory of ours that no other user may enter, and that goes when this does. Where we are
/// killed, the next one that is made beside it removes it: nobody locks it any more.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    _lock: File,
}

impl Scratch {
    /// In TMPDIR, or else in /var/tmp: /tmp may be memory.
    pub fn new() -> Result<Self, Error> {
        let parent = std::env::var_os("TMPDIR").map_or_else(|| "/var/tmp".into(), PathBuf::from);
        sweep(&parent);
        for attempt in 0_u32.. {
            let path = parent.join(format!("{PREFIX}{}-{attempt}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(Error::io(&path)(error)),
            }
            // Another may have swept it before it was locked.
            if let Some(lock) = lock(&path).filter(|lock| is_at(lock, &path)) {
                return Ok(Scratch { path, _lock: lock });
            }
        }
        Err(Error::io(&parent)(ErrorKind::AlreadyExists.into()))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nothing can be done about what cannot be removed.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// Removes what is there of processes that have ended. That it cannot be removed harms nobody.
fn sweep(parent: &Path) {
    // SAFETY: a system call without arguments.
    let us = unsafe { libc::geteuid() };
    for entry in parent.read_dir().into_iter().flatten().flatten() {
        if !entry
            .file_name()
            .as_encoded_bytes()
            .starts_with(PREFIX.as_bytes())
        {
            continue;
        }
        let path = entry.path();
        let left = lock(&path).filter(|lock| lock.metadata().is_ok_and(|found| found.uid() == us));
        if left.is_some() {
            let _ = std::fs::remove_dir_all(&path);
        }
    }
}

/// The directory, locked: none if it is not there, or if another has locked it.
fn lock(path: &Path) -> Option<File> {
    let directory = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_DIRECTORY | libc::O_NOFOLLOW)
        .open(path)
        .ok()?;
    // SAFETY: a system call on a descriptor that is open.
    let locked = unsafe { libc::flock(directory.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) };
    (locked == 0).then_some(directory)
}

fn is_at(directory: &File, path: &Path) -> bool {
    let same =
        |a: std::fs::Metadata, b: std::fs::Metadata| (a.dev(), a.ino()) == (b.dev(), b.ino());
    match (directory.metadata(), path.symlink_metadata()) {
        (Ok(ours), Ok(there)) => same(ours, there),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_process_left_is_swept_and_what_is_in_use_is_not() {
        let parent = tempfile::tempdir().unwrap();
        let [left, used, other] = ["heddle-unpacked-1-0", "heddle-unpacked-2-0", "heddle-3"]
            .map(|name| parent.path().join(name));
        for path in [&left, &used, &other] {
            std::fs::create_dir(path).unwrap();
            std::fs::write(path.join("heddle"), "x").unwrap();
        }
        let locked = lock(&used).unwrap();
        sweep(parent.path());
        assert_eq!(
            [&left, &used, &other].map(|path| path.exists()),
            [false, true, true]
        );
        drop(locked);
        sweep(parent.path());
        assert!(!used.exists());
    }
}

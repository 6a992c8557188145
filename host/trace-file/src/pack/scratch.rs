//! The directory that a trace is unpacked into.

use crate::Error;
use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// What the names of such directories begin with.
const PREFIX: &str = "heddle-unpacked-";

/// Names that are tried.
const ATTEMPTS: u32 = 1000;

/// Directories that one process removes at most of those that others have left: it is not to be
/// kept from its own work by many.
const SWEPT: usize = 100;

/// A directory of ours that no other user may enter, and that goes when this does. Where we are
/// killed, the next one that is made beside it removes it: nobody locks it any more. Its name is
/// drawn and comes once: another process may remove by its name one that goes just now, and would
/// remove a second of that name with all that is in it.
#[derive(Debug)]
pub struct Scratch {
    directory: TempDir,
    /// Until it is removed.
    lock: Option<File>,
}

impl Scratch {
    /// In TMPDIR, or else in /var/tmp: /tmp may be memory.
    pub fn new() -> Result<Self, Error> {
        let parent = std::env::var_os("TMPDIR").map_or_else(|| "/var/tmp".into(), PathBuf::from);
        Self::beside(&parent)
    }

    fn beside(parent: &Path) -> Result<Self, Error> {
        sweep(parent);
        for _ in 0..ATTEMPTS {
            let directory = tempfile::Builder::new()
                .prefix(PREFIX)
                .permissions(Permissions::from_mode(0o700))
                .tempdir_in(parent)
                .map_err(Error::io(parent))?;
            match lock(directory.path()) {
                Ok(lock) if is_at(&lock, directory.path()) => {
                    let lock = Some(lock);
                    return Ok(Scratch { directory, lock });
                }
                // Another sweeps it, or has done so, before it was locked.
                Ok(_) => {}
                Err(error) if is_swept(&error) => {}
                Err(error) => {
                    // It is empty: that takes no descriptor, of which there may be none.
                    let path = directory.keep();
                    let _ = std::fs::remove_dir(&path);
                    return Err(Error::io(&path)(error));
                }
            }
        }
        Err(Error::io(parent)(ErrorKind::AlreadyExists.into()))
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // It takes a descriptor to remove the directory, which is next, and this may be the last.
        self.lock = None;
    }
}

/// Removes what is there of processes that have ended. That it cannot be removed harms nobody.
fn sweep(parent: &Path) {
    // SAFETY: a system call without arguments.
    let us = unsafe { libc::geteuid() };
    let names = parent.read_dir().into_iter().flatten().flatten();
    let ours = names.filter(|entry| {
        let name = entry.file_name();
        name.as_encoded_bytes().starts_with(PREFIX.as_bytes())
    });
    for entry in ours.take(SWEPT) {
        let path = entry.path();
        // The lock is kept meanwhile: who has just made the directory would lock and use it.
        if let Ok(lock) = lock(&path)
            && lock.metadata().is_ok_and(|it| it.uid() == us)
        {
            let _ = std::fs::remove_dir_all(&path);
        }
    }
}

/// The directory, locked.
fn lock(path: &Path) -> io::Result<File> {
    let directory = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_DIRECTORY | libc::O_NOFOLLOW)
        .open(path)?;
    // SAFETY: a system call on a descriptor that is open.
    match unsafe { libc::flock(directory.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } {
        0 => Ok(directory),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Whether a directory cannot be locked because another process removes it.
fn is_swept(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::WouldBlock)
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

    /// The lock is let go before the directory is removed, so others sweep while it goes.
    #[test]
    fn what_is_in_use_stays_while_others_come_and_go() {
        let parent = tempfile::tempdir().unwrap();
        let user = || {
            for _ in 0..300 {
                let scratch = Scratch::beside(parent.path()).unwrap();
                let file = scratch.path().join("heddle");
                std::fs::write(&file, "x").unwrap();
                assert_eq!(std::fs::read(&file).unwrap(), b"x");
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(user);
            }
        });
    }

    #[test]
    fn of_many_that_were_left_some_are_swept_each_time() {
        let parent = tempfile::tempdir().unwrap();
        for number in 0..SWEPT + 50 {
            std::fs::create_dir(parent.path().join(format!("{PREFIX}1-{number}"))).unwrap();
        }
        let left = || parent.path().read_dir().unwrap().count();
        sweep(parent.path());
        assert_eq!(left(), 50);
        sweep(parent.path());
        assert_eq!(left(), 0);
    }
}

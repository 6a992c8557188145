//! The directory that samples may leave files in: emptied after each, however it ended, and removed
//! with the run.
//!
//! A sample that is stopped (its time is up, the user interrupts) has no chance to remove what it
//! wrote, and a recorded trace may have gigabytes. So the place is ours. While we live we hold a
//! lock on the directory. A directory that no process holds is of a run that was killed, and is
//! removed when the next one begins.

use crate::error::{Error, Result};
use crate::file_lock::{Lock, is_at, open_directory, try_lock};
use std::cell::RefCell;
use std::fs::{DirBuilder, File};
use std::io::ErrorKind;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// What the name begins with, before a number of [`DIGITS`] hexadecimal digits.
const PREFIX: &str = "heddle-compare-";
/// Always as many, so that the environment of samples has the same size in each run.
const DIGITS: usize = 8;

/// A directory of this run, removed when this is dropped.
pub(super) struct Scratch {
    parent: PathBuf,
    place: RefCell<Place>,
}

/// Where the directory is.
#[derive(Debug)]
struct Place {
    path: PathBuf,
    /// Open, and so locked.
    lock: File,
}

impl Scratch {
    /// Removes what killed runs have left in `parent`, and makes a new one there.
    ///
    /// # Errors
    /// If none can be made.
    pub(super) fn new(parent: &Path) -> Result<Self> {
        remove_abandoned(parent);
        Ok(Self {
            parent: parent.to_owned(),
            place: RefCell::new(Place::make(parent)?),
        })
    }

    /// Where it is.
    pub(super) fn path(&self) -> PathBuf {
        self.place.borrow().path.clone()
    }

    /// Removes what is in it; to be called while no sample runs. Where a sample has put something
    /// else in its place, a link is removed, anything else stays, and the next samples have a
    /// directory of another name; if none can be made, they have none.
    pub(super) fn empty(&self) {
        let mut place = self.place.borrow_mut();
        place.empty();
        if !is_at(&place.lock, &place.path) {
            if place.path.is_symlink() {
                let _ = std::fs::remove_file(&place.path);
            }
            if let Ok(another) = Place::make(&self.parent) {
                *place = another;
            }
        }
    }
}

impl Place {
    fn make(parent: &Path) -> Result<Self> {
        let what = || {
            format!(
                "no directory for files of the samples can be made in {} (set TMPDIR to one that can be written)",
                parent.display()
            )
        };
        loop {
            let number = fastrand::u32(..);
            let path = parent.join(format!("{PREFIX}{number:0DIGITS$x}"));
            match DirBuilder::new().mode(0o700).create(&path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                other => other.map_err(Error::io(what()))?,
            }
            // Until it is locked, a run that begins at the same time may take it for abandoned.
            // Then it is removed, or locked by that run.
            let lock = match open_directory(&path) {
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                other => other.map_err(Error::io(what()))?,
            };
            if try_lock(&lock) != Lock::Others && is_at(&lock, &path) {
                return Ok(Self { path, lock });
            }
        }
    }

    /// Removes what is in it. The open directory is used: a sample may have put a link to other
    /// files in its place.
    fn empty(&self) {
        let directory = format!("/proc/self/fd/{}", self.lock.as_raw_fd());
        for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
            // The files that cannot be removed now are tried again at the end.
            let _ = match entry.file_type() {
                Ok(kind) if kind.is_dir() => std::fs::remove_dir_all(entry.path()),
                _ => std::fs::remove_file(entry.path()),
            };
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.empty();
        // What a sample has put in its place stays. The next run tries again to remove what is
        // left: its lock is free then.
        if is_at(&self.lock, &self.path) {
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

/// Removes the directories in `parent` that have names like ours, are this user's, and that no
/// process holds.
fn remove_abandoned(parent: &Path) {
    // SAFETY: geteuid takes nothing and cannot fail.
    let user = unsafe { libc::geteuid() };
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        if !entry.file_name().to_str().is_some_and(is_name) {
            continue;
        }
        let path = entry.path();
        let Ok(directory) = open_directory(&path) else {
            continue;
        };
        let ours = directory.metadata().is_ok_and(|data| data.uid() == user);
        if ours && try_lock(&directory) == Lock::Held && is_at(&directory, &path) {
            let _ = std::fs::remove_dir_all(&path);
        }
    }
}

fn is_name(name: &str) -> bool {
    let number = name.strip_prefix(PREFIX);
    number.is_some_and(|it| it.len() == DIGITS && it.bytes().all(|c| c.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(parent: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(parent).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn it_is_emptied_and_removed() {
        let parent = tempfile::tempdir().unwrap();
        let scratch = Scratch::new(parent.path()).unwrap();
        let trace = scratch.path().join("trace/1");
        std::fs::create_dir_all(&trace).unwrap();
        std::fs::write(trace.join("events"), "x").unwrap();
        std::os::unix::fs::symlink("/", scratch.path().join("link")).unwrap();
        scratch.empty();
        assert_eq!(names(&scratch.path()), [""; 0]);
        std::fs::write(scratch.path().join("file"), "x").unwrap();
        drop(scratch);
        assert_eq!(names(parent.path()), [""; 0]);
    }

    #[test]
    fn what_a_link_in_its_place_leads_to_stays() {
        let parent = tempfile::tempdir().unwrap();
        let other = parent.path().join("precious");
        std::fs::create_dir(&other).unwrap();
        std::fs::write(other.join("file"), "x").unwrap();
        let scratch = Scratch::new(parent.path()).unwrap();
        let moved = parent.path().join("moved");
        std::fs::rename(scratch.path(), &moved).unwrap();
        std::fs::write(moved.join("trace"), "x").unwrap();
        let before = scratch.path();
        std::os::unix::fs::symlink(&other, &before).unwrap();
        scratch.empty();
        assert_eq!(
            (names(&moved), names(&other)),
            (vec![], vec!["file".into()])
        );
        // The next sample has a directory, and the link is gone.
        assert!(!before.is_symlink() && scratch.path().is_dir() && !scratch.path().is_symlink());
        drop(scratch);
        assert_eq!(names(parent.path()), ["moved", "precious"]);
        assert_eq!(names(&other), ["file"]);
    }

    #[test]
    fn a_directory_in_its_place_stays() {
        let parent = tempfile::tempdir().unwrap();
        let scratch = Scratch::new(parent.path()).unwrap();
        let before = scratch.path();
        std::fs::remove_dir(&before).unwrap();
        std::fs::create_dir(&before).unwrap();
        std::fs::write(before.join("file"), "x").unwrap();
        scratch.empty();
        assert!(scratch.path() != before && scratch.path().is_dir());
        drop(scratch);
        assert_eq!(names(&before), ["file"]);
    }

    #[test]
    fn what_a_killed_run_left_is_removed_and_nothing_else() {
        let parent = tempfile::tempdir().unwrap();
        let alive = Scratch::new(parent.path()).unwrap();
        let other = parent.path().join("precious");
        std::fs::create_dir(&other).unwrap();
        std::fs::write(other.join("file"), "x").unwrap();
        std::fs::create_dir(parent.path().join("heddle-compare-mine")).unwrap();
        std::fs::write(parent.path().join("heddle-compare-00000001"), "a file").unwrap();
        std::os::unix::fs::symlink(&other, parent.path().join("heddle-compare-00000002")).unwrap();
        let abandoned = parent.path().join("heddle-compare-0123abcd");
        std::fs::create_dir_all(abandoned.join("trace")).unwrap();
        let mut before = names(parent.path());
        let second = Scratch::new(parent.path()).unwrap();
        before.retain(|name| name != "heddle-compare-0123abcd");
        before.push(second.path().file_name().unwrap().to_str().unwrap().into());
        before.sort();
        assert_eq!(names(parent.path()), before);
        assert!(alive.path().exists() && other.join("file").exists());
    }

    #[test]
    fn many_that_begin_at_the_same_time_leave_each_other_alone() {
        let parent = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let scratch = Scratch::new(parent.path()).unwrap();
                        std::fs::write(scratch.path().join("file"), "x").unwrap();
                        assert!(scratch.path().join("file").exists());
                    }
                });
            }
        });
        assert_eq!(names(parent.path()), [""; 0]);
    }

    #[test]
    fn where_none_can_be_made_it_says_what_to_do() {
        let error = Scratch::new(Path::new("/nowhere")).err().unwrap();
        assert!(
            error.to_string().contains("/nowhere (set TMPDIR to"),
            "{error}"
        );
    }
}

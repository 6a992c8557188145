//! The directory that a new trace goes into.

use crate::notes::{self, note, quoted};
use crate::preparing::failure::Failure;
use heddle_trace_file::{Claim, Error, Use, foreign, in_words, is_begun, is_trace, use_of};
use rustix::fs::{AtFlags, Dir, Mode, OFlags, openat, unlinkat};
use rustix::path::Arg;
use std::ffi::{CString, OsString};
use std::fs::{self, DirBuilder, File};
use std::io::ErrorKind;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// A directory that is ours to record into.
pub struct Prepared {
    pub trace: Opened,
    /// What the user calls it.
    pub shown: PathBuf,
    pub claim: Claim,
}

/// A trace directory that was claimed.
pub struct Opened {
    path: PathBuf,
    directory: File,
    /// It was there, and empty: it stays where nothing is recorded.
    kept: bool,
}

/// Where a directory is that was claimed.
pub enum Whereabouts {
    /// Where it was.
    Here,
    Moved(PathBuf),
    /// It was removed, or moved where we see no files.
    Gone,
}

impl Opened {
    fn of(claim: &Claim, path: &Path, kept: bool) -> Result<Self, Failure> {
        Ok(Opened {
            kept,
            path: std::path::absolute(path).map_err(failed("find", path))?,
            directory: claim.directory().map_err(failed("open", path))?,
        })
    }

    /// Its absolute path when it was claimed.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its path without a link at its end: the recorder follows none there.
    pub fn resolved(&self) -> PathBuf {
        match self.path.is_symlink() {
            true => fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone()),
            false => self.path.clone(),
        }
    }

    /// What tells it from all that may have its name later, for the recorder.
    pub fn identity(&self) -> Result<OsString, Failure> {
        let about = self.directory.metadata();
        let about = about.map_err(failed("look at", &self.path))?;
        let mut identity = OsString::from(format!("{}:{}:", about.dev(), about.ino()));
        identity.push(self.resolved());
        Ok(identity)
    }

    /// Where it is now.
    pub fn whereabouts(&self) -> Whereabouts {
        let is_there = |path: &Path| {
            let (Ok(there), Ok(ours)) = (path.metadata(), self.directory.metadata()) else {
                return false;
            };
            (there.dev(), there.ino()) == (ours.dev(), ours.ino())
        };
        if is_there(&self.path) {
            return Whereabouts::Here;
        }
        let link = format!("/proc/self/fd/{}", self.directory.as_raw_fd());
        match fs::read_link(link) {
            Ok(path) if is_there(&path) => Whereabouts::Moved(path),
            _ => Whereabouts::Gone,
        }
    }
}

/// Recordings that may go on at a time into directories of one name.
const MOST: u32 = 1000;

/// Makes `path` an empty trace directory. A trace that is there becomes `path.old`, unless it is
/// being recorded: then ours is `path.2`, or the next number. Anything else that is there is left
/// alone.
pub fn prepare(path: &Path) -> Result<Prepared, Failure> {
    let mut first_busy = None;
    for number in 1..=MOST {
        let shown = match number {
            1 => path.to_owned(),
            number => with_suffix(path, &format!(".{number}")),
        };
        let (claim, kept) = match claim(&shown)? {
            Claimed::Ours(claim, kept) => (claim, kept),
            Claimed::Busy(busy) => {
                first_busy.get_or_insert(busy);
                continue;
            }
        };
        let trace = Opened::of(&claim, &shown, kept)?;
        claim
            .write("heddle", &heddle_trace_file::marker())
            .inspect_err(|_| _ = trace.discard())
            .map_err(failed("write", &shown.join("heddle")))?;
        if let Some(busy) = first_busy {
            note(format_args!(
                "{} is being recorded; this recording goes to {}",
                busy.display(),
                shown.display()
            ));
        }
        return Ok(Prepared {
            trace,
            shown,
            claim,
        });
    }
    Err(Failure::ours(format!(
        "{MOST} recordings go on in {}; record elsewhere: heddle record -o OTHER-DIRECTORY …",
        path.display()
    )))
}

enum Claimed {
    /// With whether the directory was there and empty.
    Ours(Claim, bool),
    /// Another process records into this directory, which would have to move or go.
    Busy(PathBuf),
}

/// Claims the directory at `path`, which is made, or emptied by moving a trace to its old name.
fn claim(path: &Path) -> Result<Claimed, Failure> {
    loop {
        let there = path.symlink_metadata().ok();
        // SAFETY: geteuid takes nothing and cannot fail.
        let ours = unsafe { libc::geteuid() };
        let owner = path.metadata().map_or(ours, |directory| directory.uid());
        if owner != ours {
            return Err(Failure::ours(format!(
                "{} belongs to another user (id {owner}), who could change what is written there; record elsewhere: heddle record -o OTHER-DIRECTORY …",
                path.display()
            )));
        }
        if there.is_some() && !is_trace(path) && !is_begun(path) {
            // Between the two looks another process may have made it a trace, or moved it away.
            if is_trace(path) || path.symlink_metadata().is_err() {
                continue;
            }
            return Err(Failure::ours(format!(
                "{} exists and is not a heddle trace; record elsewhere: heddle record -o OTHER-DIRECTORY …",
                path.display()
            )));
        }
        let kept = path
            .read_dir()
            .is_ok_and(|mut there| there.next().is_none());
        make(path).map_err(failed("make the directory", path))?;
        let claim = match Claim::of(path) {
            Ok(claim) => claim,
            Err(Error::Recording(_)) => return Ok(Claimed::Busy(path.to_owned())),
            // Another process has moved it away.
            Err(Error::Io { cause, .. }) if cause.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(refused(&error)),
        };
        if !is_trace(path) || use_of(path) == Use::Unused {
            // What a start has left that was interrupted: it is no trace to be kept.
            Opened::of(&claim, path, kept)?.clear();
            return Ok(Claimed::Ours(claim, kept));
        }
        let old = keep_as_old(path);
        if let Some(busy) = old.inspect_err(|_| _ = fs::remove_file(path.join("control")))? {
            claim.release();
            return Ok(Claimed::Busy(busy));
        }
    }
}

/// Makes the directory, which nobody else may enter, with the ones above it.
fn make(path: &Path) -> std::io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        other => other,
    }
}

/// Moves the trace at `path`, which is claimed, to its old name, and removes the one that was
/// there, unless others' files are in it. Returns the one of the two that another process records
/// into: then nothing is done.
fn keep_as_old(path: &Path) -> Result<Option<PathBuf>, Failure> {
    let old = with_suffix(path, ".old");
    if use_of(path) == Use::Running {
        return Ok(Some(path.to_owned()));
    }
    if !old.is_symlink() && (is_trace(&old) || is_begun(&old)) {
        match Claim::of(&old) {
            Err(Error::Recording(_)) => return Ok(Some(old)),
            _ if use_of(&old) == Use::Running => return Ok(Some(old)),
            claim => {
                if let Some(other) = foreign(&old).map_err(failed("read", &old))? {
                    claim.into_iter().for_each(Claim::release);
                    return Err(Failure::ours(format!(
                        "{} is in the way of keeping the last trace, and is not removed: heddle did not write {}; move that away, or record elsewhere: heddle record -o OTHER-DIRECTORY …",
                        old.display(),
                        other.display()
                    )));
                }
                // What cannot be claimed can perhaps be removed.
                remove(&old).map_err(failed("remove the old trace", &old))?;
            }
        }
    } else if old.symlink_metadata().is_ok() {
        let (what, remedy) = match old.is_symlink() {
            true => ("a link", format!("rm {}, or ", quoted(&old))),
            false => ("not a heddle trace", String::new()),
        };
        return Err(Failure::ours(format!(
            "{} is in the way of keeping the last trace, and is {what}; {remedy}record elsewhere: heddle record -o OTHER-DIRECTORY …",
            old.display()
        )));
    }
    fs::rename(path, &old).map_err(failed("keep the last trace as", &old))?;
    let _ = fs::remove_file(old.join("control"));
    Ok(None)
}

/// Removes a trace, its marker last: what is left where that is interrupted is a trace still, or
/// what a recording makes first.
fn remove(trace: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(trace)? {
        let entry = entry?;
        if entry.file_name() == "heddle" {
            continue;
        }
        match entry.file_type()?.is_dir() {
            true => fs::remove_dir_all(entry.path())?,
            false => fs::remove_file(entry.path())?,
        }
    }
    fs::remove_dir_all(trace)
}

/// What could not be done to `path`, why, and what to do about it.
pub fn failed(what: &str, path: &Path) -> impl FnOnce(std::io::Error) -> Failure + use<> {
    let message = format!("cannot {what} {}", path.display());
    move |error: std::io::Error| {
        Failure::ours(format!("{message}: {}{}", in_words(&error), remedy(&error)))
    }
}

/// Why a recording cannot begin, and what to do about it.
pub fn refused(error: &Error) -> Failure {
    let remedy = match error {
        Error::Io { cause, .. } => remedy(cause),
        _ => "",
    };
    Failure::ours(format!("cannot begin to record: {error}{remedy}"))
}

/// Why one of our threads cannot be started, and what to do about it.
pub fn no_thread(error: std::io::Error) -> Failure {
    Failure::ours(notes::no_thread(&error))
}

/// What to do about an error, behind it.
pub fn remedy(error: &std::io::Error) -> &'static str {
    match error.kind() {
        ErrorKind::FileTooLarge => "; raise the limit: ulimit -f unlimited",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "; make room there, or record elsewhere: heddle record -o OTHER-DIRECTORY …"
        }
        ErrorKind::OutOfMemory => "; raise the limit: ulimit -v unlimited",
        _ if error.raw_os_error() == Some(libc::EMFILE) => "; raise the limit: ulimit -n 65536",
        _ => "",
    }
}

/// Writes into the claimed trace which options made it record less, if there are any.
pub fn say_filters(claim: &Claim, trace: &Opened, options: &str) -> Result<(), Failure> {
    if options.is_empty() {
        return Ok(());
    }
    claim
        .write("filters", &format!("{options}\n"))
        .inspect_err(|_| _ = trace.discard())
        .map_err(failed("write", &trace.path.join("filters")))
}

impl Opened {
    /// Removes a trace in which nothing was recorded, and nothing of what took its place. Other
    /// files in it stay, and so does a directory that was there before. Returns whether no process
    /// had tried to record: a process that tries makes a directory of its own.
    pub fn discard(&self) -> bool {
        let untried = self.clear();
        // From here on it may be another recording's.
        if let Some(directory) = open(&self.directory, ".") {
            let _ = unlinkat(&directory, "control", AtFlags::empty());
        }
        if !self.kept {
            let _ = fs::remove_dir(&self.path);
        }
        untried
    }

    /// The same, but that the directory and its claim stay.
    fn clear(&self) -> bool {
        // What cannot be removed would only leave an empty trace, which says so when it is opened.
        let Some(directory) = open(&self.directory, ".") else {
            return true;
        };
        let mut untried = true;
        for name in names(&directory) {
            let spare = matches!(name.as_bytes(), b"spare" | b"spare-unused");
            if !spare && !name.as_bytes()[0].is_ascii_digit() {
                continue;
            }
            untried &= spare;
            let Some(process) = open(&directory, &name) else {
                continue;
            };
            let made = match spare {
                true => names(&process),
                false => vec![c"process".to_owned()],
            };
            for file in made {
                let _ = unlinkat(&process, file, AtFlags::empty());
            }
            let _ = unlinkat(&directory, &name, AtFlags::REMOVEDIR);
        }
        // The marker is last: what is left where that is interrupted is in nobody's way.
        for name in ["filters", "switches", "unrecorded", "heddle"] {
            let _ = unlinkat(&directory, name, AtFlags::empty());
        }
        untried
    }
}

/// Opens a directory, and not one that a link leads to.
fn open(within: impl AsFd, name: impl Arg) -> Option<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(within, name, flags, Mode::empty()).ok()
}

/// The names of what is in a directory.
fn names(directory: &OwnedFd) -> Vec<CString> {
    let entries = Dir::read_from(directory).into_iter().flatten();
    let names = entries.filter_map(|entry| Some(entry.ok()?.file_name().to_owned()));
    names
        .filter(|name| !matches!(name.as_bytes(), b"." | b".."))
        .collect()
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    // `traces/` and `traces` are the same directory; a suffix goes on its name.
    let path: PathBuf = path.components().collect();
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::{Prepared, failed, no_thread, prepare, say_filters};
    use std::fs;
    use std::path::Path;

    fn prepared(path: &Path) -> Prepared {
        prepare(path).unwrap_or_else(|_| panic!("no trace directory could be made"))
    }

    #[test]
    fn what_took_the_place_of_a_claimed_directory_is_not_written_to() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("trace");
        let prepared = prepared(&path);
        let moved = directory.path().join("moved");
        fs::rename(&path, &moved).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(say_filters(&prepared.claim, &prepared.trace, "--depth 3").is_ok());
        let said = fs::read_to_string(moved.join("filters")).unwrap();
        assert_eq!(said, "--depth 3\n");
        assert_eq!(fs::read_dir(&path).unwrap().count(), 0);
        // Nor is what a link leads to.
        let target = directory.path().join("target");
        fs::write(&target, "mine").unwrap();
        fs::remove_file(moved.join("filters")).unwrap();
        std::os::unix::fs::symlink(&target, moved.join("filters")).unwrap();
        assert!(say_filters(&prepared.claim, &prepared.trace, "--depth 3").is_err());
        assert_eq!(fs::read_to_string(&target).unwrap(), "mine");
    }

    #[test]
    fn a_directory_that_was_there_stays_where_nothing_is_recorded() {
        let scratch = tempfile::tempdir().unwrap();
        for there in [true, false] {
            let path = scratch.path().join(there.to_string());
            if there {
                fs::create_dir(&path).unwrap();
            }
            assert!(prepared(&path).trace.discard());
            assert_eq!(path.exists(), there);
            assert!(!there || fs::read_dir(&path).unwrap().next().is_none());
        }
    }

    #[test]
    fn what_links_lead_to_is_not_removed_with_a_trace() {
        let scratch = tempfile::tempdir().unwrap();
        let (path, target) = (scratch.path().join("trace"), scratch.path().join("target"));
        let prepared = prepared(&path);
        let files = ["process", "buffer-1", "heddle", "filters"].map(|name| target.join(name));
        fs::create_dir(&target).unwrap();
        files
            .iter()
            .for_each(|file| fs::write(file, "mine").unwrap());
        for name in ["42", "spare"] {
            std::os::unix::fs::symlink(&target, path.join(name)).unwrap();
        }
        let moved = scratch.path().join("moved");
        fs::rename(&path, &moved).unwrap();
        std::os::unix::fs::symlink(&target, &path).unwrap();
        assert!(!prepared.trace.discard());
        for file in files {
            assert_eq!(fs::read_to_string(file).unwrap(), "mine");
        }
        let left = fs::read_dir(&moved).unwrap().flatten();
        let mut left: Vec<_> = left.map(|entry| entry.file_name()).collect();
        left.sort();
        assert_eq!(left, ["42", "spare"]);
    }

    #[test]
    fn what_cannot_be_written_is_said_with_its_path_and_with_what_to_do() {
        let said = |error| {
            let error = std::io::Error::from_raw_os_error(error);
            failed("write", Path::new("small/trace/switches"))(error).message
        };
        for (error, remedy) in [
            (libc::ENOSPC, "make room there, or record elsewhere"),
            (libc::EMFILE, "ulimit -n"),
            (libc::EFBIG, "ulimit -f"),
        ] {
            let said = said(error);
            assert!(
                said.starts_with("cannot write small/trace/switches: "),
                "{said}"
            );
            assert!(said.contains(remedy), "{said}");
        }
    }

    #[test]
    fn a_thread_that_cannot_be_started_blames_no_limit_that_may_be_none() {
        let said = |error| no_thread(std::io::Error::from_raw_os_error(error)).message;
        for (error, remedy) in [
            (libc::EAGAIN, "(ulimit -u, ulimit -v, ulimit -d)"),
            (libc::ENOMEM, "; raise the limit: ulimit -v unlimited"),
        ] {
            let said = said(error);
            assert!(said.starts_with("cannot start a thread: "), "{said}");
            assert!(said.ends_with(remedy), "{said}");
        }
    }

    #[test]
    fn what_interrupted_starts_and_removals_leave_is_in_nobodys_way() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("trace");
        let kept = scratch.path().join("trace.old/42");
        drop(prepared(&path));
        fs::create_dir(path.join("42")).unwrap();
        drop(prepared(&path));
        assert!(kept.exists());
        // It was interrupted before the program began: the last trace stays.
        fs::create_dir(path.join("spare")).unwrap();
        for _ in 0..2 {
            drop(prepared(&path));
            assert!(kept.exists() && !path.join("spare").exists());
        }
        // The removal of the last trace was interrupted, before its marker went and behind that.
        fs::create_dir(path.join("43")).unwrap();
        fs::remove_dir(&kept).unwrap();
        drop(prepared(&path));
        assert!(scratch.path().join("trace.old/43").exists());
        fs::create_dir(path.join("44")).unwrap();
        fs::remove_dir(scratch.path().join("trace.old/43")).unwrap();
        fs::remove_file(scratch.path().join("trace.old/heddle")).unwrap();
        drop(prepared(&path));
        assert!(scratch.path().join("trace.old/44").exists());
    }

    #[test]
    fn what_a_failed_start_leaves_is_in_nobodys_way() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("trace");
        let spare = path.join("spare");
        fs::create_dir_all(&spare).unwrap();
        for file in ["process", "modules", "buffer-1"] {
            fs::write(spare.join(file), "").unwrap();
        }
        drop(prepared(&path));
        assert!(!spare.exists());
        // What is nothing of Heddle's stays.
        let path = scratch.path().join("other");
        fs::create_dir_all(path.join("spare")).unwrap();
        fs::write(path.join("spare/thesis.txt"), "precious").unwrap();
        assert!(prepare(&path).is_err());
        assert!(path.join("spare/thesis.txt").exists());
    }

    #[test]
    fn others_files_are_not_removed_with_an_old_trace() {
        for theirs in [
            "thesis.txt",
            "43/thesis.txt",
            "snapshot-1/thesis.txt",
            "44/events/x",
        ] {
            let scratch = tempfile::tempdir().unwrap();
            let path = scratch.path().join("trace");
            drop(prepared(&path));
            let file = path.join(theirs);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, "precious").unwrap();
            fs::create_dir_all(path.join("42")).unwrap();
            drop(prepared(&path));
            fs::create_dir(path.join("45")).unwrap();
            let Err(failure) = prepare(&path) else {
                panic!("{theirs} went");
            };
            let kept = scratch.path().join("trace.old").join(theirs);
            assert_eq!(fs::read_to_string(&kept).unwrap(), "precious");
            let name = theirs.strip_suffix("/x").unwrap_or(theirs);
            let said = &failure.message;
            assert!(
                said.contains("heddle did not write") && said.contains(name),
                "{said}"
            );
            assert!(path.join("45").exists() && !path.join("control").exists());
            // A directory that a link of that name leads to is not removed either.
            let old = scratch.path().join("trace.old");
            let elsewhere = scratch.path().join("elsewhere");
            fs::remove_file(&kept).unwrap();
            fs::rename(&old, &elsewhere).unwrap();
            std::os::unix::fs::symlink(&elsewhere, &old).unwrap();
            assert!(prepare(&path).is_err());
            assert!(elsewhere.join("42").exists());
        }
    }

    #[test]
    fn a_trace_in_which_nothing_was_recorded_is_removed() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("trace");
        let prepared = prepared(&path);
        for directory in ["spare", "42"] {
            fs::create_dir(path.join(directory)).unwrap();
        }
        for file in ["filters", "42/process", "spare/modules"] {
            fs::write(path.join(file), "").unwrap();
        }
        assert!(!prepared.trace.discard());
        assert!(!path.exists());
    }
}

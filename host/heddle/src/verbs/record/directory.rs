//! The directory that a new trace goes into.

use super::failure::Failure;
use crate::notes::note;
use heddle_trace_file::{Claim, Error, is_begun, is_trace};
use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// A directory that is ours to record into.
pub struct Prepared {
    /// Its absolute path.
    pub trace: PathBuf,
    /// What the user calls it.
    pub shown: PathBuf,
    pub claim: Claim,
}

/// Recordings that may go on at a time into directories of one name.
const MOST: u32 = 1000;

/// Makes `path` an empty trace directory. A trace that is there becomes `path.old`, unless it is
/// being recorded: then ours is `path.2`, or the next number. Anything else that is there is left
/// alone.
pub fn prepare(path: &Path) -> Result<Prepared, Failure> {
    for number in 1..=MOST {
        let shown = match number {
            1 => path.to_owned(),
            number => with_suffix(path, &format!(".{number}")),
        };
        let Some(claim) = claim(&shown)? else {
            continue;
        };
        let marker = shown.join("heddle");
        claim
            .write("heddle", &heddle_trace_file::marker())
            .inspect_err(|_| _ = discard(&shown))
            .map_err(failed("write", &marker))?;
        let trace = std::path::absolute(&shown).map_err(failed("find", &shown))?;
        if number > 1 {
            note(format_args!(
                "{} is being recorded; this recording goes to {}",
                path.display(),
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

/// Claims the directory at `path`, which is made, or emptied by moving a trace to its old name.
/// Gives none where another process records into it.
fn claim(path: &Path) -> Result<Option<Claim>, Failure> {
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
        make(path).map_err(failed("make the directory", path))?;
        let claim = match Claim::of(path) {
            Ok(claim) => claim,
            Err(Error::Recording(_)) => return Ok(None),
            // Another process has moved it away.
            Err(Error::Io { cause, .. }) if cause.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(Failure::ours(format!("cannot begin to record: {error}"))),
        };
        if !is_trace(path) {
            return Ok(Some(claim));
        }
        if !keep_as_old(path).inspect_err(|_| _ = fs::remove_file(path.join("control")))? {
            claim.release();
            return Ok(None);
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
/// there. Returns whether that was possible: not if another process records into it.
fn keep_as_old(path: &Path) -> Result<bool, Failure> {
    let old = with_suffix(path, ".old");
    if is_trace(&old) {
        match Claim::of(&old) {
            Err(Error::Recording(_)) => return Ok(false),
            // What cannot be claimed can perhaps be removed.
            _ => fs::remove_dir_all(&old).map_err(failed("remove the old trace", &old))?,
        }
    } else if old.symlink_metadata().is_ok() {
        return Err(Failure::ours(format!(
            "{} is in the way of keeping the last trace, and is not a heddle trace; record elsewhere: heddle record -o OTHER-DIRECTORY …",
            old.display()
        )));
    }
    fs::rename(path, &old).map_err(failed("keep the last trace as", &old))?;
    let _ = fs::remove_file(old.join("control"));
    Ok(true)
}

/// What could not be done to `path`, why, and what to do about it.
fn failed(what: &str, path: &Path) -> impl FnOnce(std::io::Error) -> Failure + use<> {
    let message = format!("cannot {what} {}", path.display());
    move |error: std::io::Error| {
        let remedy = match error.kind() {
            ErrorKind::FileTooLarge => "; raise the limit: ulimit -f unlimited",
            _ => "",
        };
        Failure::ours(format!("{message}: {error}{remedy}"))
    }
}

/// Writes into the claimed trace at `path` which options made it record less, if there are any.
pub fn say_filters(claim: &Claim, path: &Path, options: &str) -> Result<(), Failure> {
    if options.is_empty() {
        return Ok(());
    }
    claim
        .write("filters", &format!("{options}\n"))
        .inspect_err(|_| _ = discard(path))
        .map_err(failed("write", &path.join("filters")))
}

/// Removes a trace directory in which nothing was recorded. Other files in it stay. Returns whether
/// no process had tried to record: a process that tries makes a directory of its own.
pub fn discard(path: &Path) -> bool {
    // Not removing it would only leave an empty trace, which says so when it is opened.
    let _ = fs::remove_file(path.join("heddle"));
    let _ = fs::remove_file(path.join("filters"));
    let _ = fs::remove_dir_all(path.join("spare"));
    let mut untried = true;
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name
            .to_string_lossy()
            .starts_with(|c: char| c.is_ascii_digit())
        {
            untried = false;
            let _ = fs::remove_file(entry.path().join("process"));
            let _ = fs::remove_dir(entry.path());
        }
    }
    // From here on it may be another recording's.
    let _ = fs::remove_file(path.join("control"));
    let _ = fs::remove_dir(path);
    untried
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
    use super::{prepare, say_filters};
    use std::fs;

    #[test]
    fn what_took_the_place_of_a_claimed_directory_is_not_written_to() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("trace");
        let Ok(prepared) = prepare(&path) else {
            panic!("no trace directory could be made");
        };
        let moved = directory.path().join("moved");
        fs::rename(&path, &moved).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(say_filters(&prepared.claim, &path, "--depth 3").is_ok());
        let said = fs::read_to_string(moved.join("filters")).unwrap();
        assert_eq!(said, "--depth 3\n");
        assert_eq!(fs::read_dir(&path).unwrap().count(), 0);
        // Nor is what a link leads to.
        let target = directory.path().join("target");
        fs::write(&target, "mine").unwrap();
        fs::remove_file(moved.join("filters")).unwrap();
        std::os::unix::fs::symlink(&target, moved.join("filters")).unwrap();
        assert!(say_filters(&prepared.claim, &path, "--depth 3").is_err());
        assert_eq!(fs::read_to_string(&target).unwrap(), "mine");
    }
}

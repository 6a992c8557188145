//! The directory that a new trace goes into.

use super::failure::Failure;
use heddle_trace_file::{MARKER, VERSION, is_trace};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// Makes `path` an empty trace directory and returns its absolute path. A trace that is there
/// becomes `path.old`; anything else that is there is left alone.
pub fn prepare(path: &Path) -> Result<PathBuf, Failure> {
    let failed = |what: &str, path: &Path| {
        let message = format!("cannot {what} {}", path.display());
        move |error: std::io::Error| {
            let remedy = match error.kind() {
                std::io::ErrorKind::FileTooLarge => "; raise the limit: ulimit -f unlimited",
                _ => "",
            };
            Failure::ours(format!("{message}: {error}{remedy}"))
        }
    };
    if is_trace(path) {
        let old = old_name(path);
        if is_trace(&old) {
            fs::remove_dir_all(&old).map_err(failed("remove the old trace", &old))?;
        } else if old.symlink_metadata().is_ok() {
            return Err(Failure::ours(format!(
                "{} is in the way of keeping the last trace, and is not a heddle trace; record elsewhere: heddle record -o OTHER-DIRECTORY …",
                old.display()
            )));
        }
        fs::rename(path, &old).map_err(failed("keep the last trace as", &old))?;
    } else if path.symlink_metadata().is_ok() && !is_empty_directory(path) {
        return Err(Failure::ours(format!(
            "{} exists and is not a heddle trace; record elsewhere: heddle record -o OTHER-DIRECTORY …",
            path.display()
        )));
    }
    fs::create_dir_all(path).map_err(failed("make the directory", path))?;
    let marker = path.join("heddle");
    fs::write(&marker, format!("{MARKER}{VERSION}\n"))
        .inspect_err(|_| _ = discard(path)) // half a marker would be in the way of the next attempt
        .map_err(failed("write", &marker))?;
    std::path::absolute(path).map_err(failed("find", path))
}

/// Writes into the trace at `path` which options made it record less, if there are any.
pub fn say_filters(path: &Path, options: &str) -> Result<(), Failure> {
    if options.is_empty() {
        return Ok(());
    }
    let file = path.join("filters");
    fs::write(&file, format!("{options}\n"))
        .inspect_err(|_| _ = discard(path))
        .map_err(|error| Failure::ours(format!("cannot write {}: {error}", file.display())))
}

/// Removes a trace directory in which nothing was recorded. Other files in it stay. Returns whether
/// no process had tried to record: a process that tries makes a directory of its own.
pub fn discard(path: &Path) -> bool {
    // Not removing it would only leave an empty trace, which says so when it is opened.
    let _ = fs::remove_file(path.join("heddle"));
    let _ = fs::remove_file(path.join("filters"));
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
    let _ = fs::remove_dir(path);
    untried
}

fn old_name(path: &Path) -> PathBuf {
    // `traces/` and `traces` are the same directory; a suffix goes on its name.
    let path: PathBuf = path.components().collect();
    let mut name = OsString::from(path);
    name.push(".old");
    name.into()
}

fn is_empty_directory(path: &Path) -> bool {
    fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

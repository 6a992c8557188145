//! What lies in a trace's directory and is not Heddle's: it must not go with the trace.

use crate::ImageId;
use std::io;
use std::path::{Path, PathBuf};

/// What lies in the directory of the trace at `path`, or of its processes and snapshots, and is
/// nothing that Heddle writes there: the first such thing in order of names, if there is any.
///
/// # Errors
/// A directory cannot be read.
pub fn foreign(path: &Path) -> io::Result<Option<PathBuf>> {
    for entry in entries(path)? {
        let name = entry.file_name();
        let name = name.to_str().unwrap_or_default();
        let kind = entry.file_type()?;
        let within = match kind.is_dir() {
            true if is_process(name) => foreign_in_process(&entry.path())?,
            true if is_numbered(name, &["snapshot"]) => foreign(&entry.path())?,
            false if kind.is_file() && is_top(name) => None,
            _ => Some(entry.path()),
        };
        if within.is_some() {
            return Ok(within);
        }
    }
    Ok(None)
}

fn foreign_in_process(path: &Path) -> io::Result<Option<PathBuf>> {
    let numbered = ["allocation", "buffer", "events", "objects", "plan"];
    let ours = |entry: &std::fs::DirEntry| {
        let name = entry.file_name();
        let name = name.to_str().unwrap_or_default();
        let known = matches!(name, "events" | "modules" | "plan.new" | "process");
        entry.file_type().is_ok_and(|kind| kind.is_file())
            && (known || is_numbered(name, &numbered))
    };
    Ok(entries(path)?
        .into_iter()
        .find(|entry| !ours(entry))
        .map(|entry| entry.path()))
}

/// The names of the directories that hold a process's files.
fn is_process(name: &str) -> bool {
    matches!(name, "spare" | "spare-unused") || name.parse::<ImageId>().is_ok()
}

/// The names of files that lie directly in a trace.
fn is_top(name: &str) -> bool {
    matches!(
        name,
        "control" | "filters" | "heddle" | "shapes" | "switches" | "tui-index" | "unrecorded"
    ) || name.starts_with(".tui-index-")
}

fn is_numbered(name: &str, stems: &[&str]) -> bool {
    name.rsplit_once('-')
        .is_some_and(|(stem, number)| stems.contains(&stem) && number.parse::<u64>().is_ok())
}

fn entries(path: &Path) -> io::Result<Vec<std::fs::DirEntry>> {
    let mut entries = std::fs::read_dir(path)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    Ok(entries)
}

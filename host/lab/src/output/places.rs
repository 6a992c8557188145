//! Where a comparison's directories are, and which of them are ours.
//!
//! With `-o report`: `report` holds the last finished report, `report.partial` the run that goes on
//! or was interrupted, `report.partial.old` an interrupted run that another one has replaced,
//! `report.old`, `report.old.1` … earlier reports. Nothing is written to, renamed or removed that
//! is a symbolic link or that no comparison has made.

use super::{PAGE, RAW, RECORD, REPORT};
use crate::error::{Error, Result};
use heddle_results::Sample;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, ErrorKind};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Earlier reports that are kept beside `report.old`.
pub(super) const KEPT: usize = 9;
/// What earlier versions of Heddle called a file while they wrote it.
const NEW: &str = ".new";

/// The directories of a comparison.
#[derive(Clone, Debug)]
pub(super) struct Places {
    /// The finished report.
    pub dir: PathBuf,
    name: String,
}

/// What there is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    Nothing,
    /// A directory that a comparison has made, or an empty one.
    Ours,
}

impl Places {
    /// The directories of `-o dir`.
    ///
    /// # Errors
    /// If `dir` has no name of its own that could be changed (`.`, `..`, `/`).
    pub fn new(dir: &Path) -> Result<Self> {
        let name = dir
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        let dots = dir.as_os_str().as_encoded_bytes().ends_with(b"/.") || dir == Path::new(".");
        match name {
            Some(name) if !dots => Ok(Self {
                dir: dir.to_owned(),
                name,
            }),
            _ => Err(Error::Usage(format!(
                "{} cannot be renamed, and a finished report moves to its place by renaming: name a directory, such as `-o report`",
                dir.display()
            ))),
        }
    }

    /// The run that goes on, or was interrupted.
    pub fn partial(&self) -> PathBuf {
        self.beside(".partial")
    }

    /// The interrupted run that another one has replaced.
    pub fn replaced(&self) -> PathBuf {
        self.beside(".partial.old")
    }

    /// The earlier report with this number: 0 is the last one.
    pub fn earlier(&self, number: usize) -> PathBuf {
        match number {
            0 => self.beside(".old"),
            number => self.beside(&format!(".old.{number}")),
        }
    }

    /// Whether a finished report could be moved to its place: all that is in the way is ours.
    ///
    /// # Errors
    /// If something else is in the way.
    pub fn check(&self) -> Result<()> {
        if look(&self.dir)? == Found::Ours && !is_empty(&self.dir) {
            for number in 0..=KEPT {
                look(&self.earlier(number))?;
            }
        }
        let device = |path: &Path| std::fs::metadata(path).ok().map(|data| data.dev());
        let parent = self.parent();
        match (device(&self.dir), device(&parent)) {
            (Some(own), Some(above)) if own != above => Err(Error::Usage(format!(
                "{} is a mount point, which cannot be renamed: name a directory below it, such as `-o {}`",
                self.dir.display(),
                self.dir.join("report").display()
            ))),
            _ => Ok(()),
        }
    }

    /// Where all of them are.
    pub fn parent(&self) -> PathBuf {
        match self.dir.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
            _ => PathBuf::from("."),
        }
    }

    fn beside(&self, ending: &str) -> PathBuf {
        self.dir.with_file_name(format!("{}{ending}", self.name))
    }
}

/// What there is at `path`.
///
/// # Errors
/// If it is a symbolic link, no directory, or one that no comparison has made.
pub(super) fn look(path: &Path) -> Result<Found> {
    let elsewhere = "choose another place with `-o DIR`";
    let data = match std::fs::symlink_metadata(path) {
        Ok(data) => data,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound) => return Ok(Found::Nothing),
        Err(error) => return Err(Error::io(format!("cannot read {}", path.display()))(error)),
    };
    if data.is_symlink() {
        return Err(Error::Usage(format!(
            "{} is a symbolic link, which a comparison neither follows nor renames: {elsewhere}",
            path.display()
        )));
    }
    if !data.is_dir() {
        return Err(Error::Usage(format!(
            "{} is not a directory: {elsewhere}",
            path.display()
        )));
    }
    let names = names(path)?;
    let known = |name: &&String| !name.ends_with(NEW);
    let Some(other) = names.iter().filter(known).min() else {
        return Ok(Found::Ours);
    };
    if is_record(&path.join(RECORD)) || is_raw(&path.join(RAW)) {
        return Ok(Found::Ours);
    }
    Err(Error::Usage(format!(
        "{} holds files that no comparison wrote, such as {other}: {elsewhere}",
        path.display()
    )))
}

/// Removes a directory of ours, if there is nothing in it but what a comparison writes; whether it
/// is gone.
pub(super) fn remove(path: &Path) -> Result<bool> {
    let ours = [PAGE, RAW, RECORD, REPORT];
    let is_ours = |name: &String| {
        let name = name.strip_suffix(NEW).unwrap_or(name);
        ours.contains(&name) || is_page_of_machine(name)
    };
    let names = names(path)?;
    if !names.iter().all(is_ours) {
        return Ok(false);
    }
    let what = || format!("cannot remove {}", path.display());
    for name in names {
        std::fs::remove_file(path.join(name)).map_err(Error::io(what()))?;
    }
    std::fs::remove_dir(path).map_err(Error::io(what()))?;
    Ok(true)
}

/// The page of one of the machines that a report puts side by side, from 1.
pub(super) fn page_of_machine(number: usize) -> String {
    format!("machine-{number}.html")
}

fn is_page_of_machine(name: &str) -> bool {
    let number = name
        .strip_prefix("machine-")
        .and_then(|rest| rest.strip_suffix(".html"));
    number.is_some_and(|number| number.parse().is_ok_and(|it| page_of_machine(it) == name))
}

pub(super) fn is_empty(path: &Path) -> bool {
    names(path).is_ok_and(|names| names.is_empty())
}

fn names(path: &Path) -> Result<Vec<String>> {
    let entries =
        std::fs::read_dir(path).map_err(Error::io(format!("cannot read {}", path.display())))?;
    let name = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.map(|it| it.file_name().to_string_lossy().into_owned())
    };
    entries
        .map(name)
        .collect::<std::io::Result<_>>()
        .map_err(Error::io(format!("cannot read {}", path.display())))
}

/// Opens a file to be read, and no symbolic link.
pub fn open(path: &Path) -> std::io::Result<File> {
    open_as(OpenOptions::new().read(true), path)
}

/// Opens a regular file; a symbolic link, or a FIFO, which would keep us waiting, is an error.
pub(super) fn open_as(options: &mut OpenOptions, path: &Path) -> std::io::Result<File> {
    let wrong = || std::io::Error::other("expected a regular file");
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    match options.custom_flags(flags).open(path) {
        Ok(file) if file.metadata()?.is_file() => Ok(file),
        Ok(_) => Err(wrong()),
        // A FIFO that nobody reads cannot be opened to be written.
        Err(error) if error.raw_os_error() == Some(libc::ENXIO) => Err(wrong()),
        Err(error) => Err(error),
    }
}

fn is_record(path: &Path) -> bool {
    open(path)
        .is_ok_and(|file| serde_json::from_reader::<_, super::Record>(BufReader::new(file)).is_ok())
}

/// Whether a file is empty or begins with a sample.
fn is_raw(path: &Path) -> bool {
    let Ok(file) = open(path) else {
        return false;
    };
    let mut first = String::new();
    BufReader::new(file).read_line(&mut first).is_ok()
        && (first.is_empty() || serde_json::from_str::<Sample>(&first).is_ok())
}

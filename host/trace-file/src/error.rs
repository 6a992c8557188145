//! What can be wrong with a trace: always which file, at which offset, and what was expected.

use crate::{Damage, Lack};
use libc::{EACCES, EIO, ENODATA, ENODEV, ENXIO, EPERM};
use std::path::{Path, PathBuf};

/// Why a trace cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is nothing at the path.
    #[error("{0}: no such trace; record one with `heddle record -- PROGRAM`")]
    Missing(PathBuf),
    /// The path is there, but is not a directory that `heddle` made.
    #[error(
        "{0}: not a heddle trace (a directory that `heddle record` made, or a file that `heddle pack` made)"
    )]
    NotOurs(PathBuf),
    /// A later heddle wrote it.
    #[error(
        "{path}: written in version {found} of the format; this heddle reads versions {} to {}: use a newer heddle",
        crate::OLDEST,
        crate::VERSION
    )]
    Newer {
        /// The file that says so.
        path: PathBuf,
        /// Its version.
        found: u64,
    },
    /// An earlier heddle wrote it.
    #[error(
        "{path}: written in version {found} of the format, which only the heddle that recorded it reads (0.1.0 built before version {} was made); this one reads versions {} to {}: record the program again",
        crate::OLDEST,
        crate::OLDEST,
        crate::VERSION
    )]
    Older {
        /// The file that says so.
        path: PathBuf,
        /// Its version.
        found: u64,
    },
    /// The directory is ours, but the program recorded nothing.
    #[error(
        "{0}: the trace holds no process: nothing was recorded; record again: heddle record -- PROGRAM"
    )]
    Empty(PathBuf),
    /// The bytes contradict the format.
    #[error("{path}: at offset {offset}: {what}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The offset in the file, in bytes.
        offset: u64,
        /// What was expected and what is there.
        what: String,
    },
    /// No process can be read: the first file that is missing or damaged.
    #[error("{0}")]
    Lacking(Lack),
    /// A packed file would take much more room than its size lets one expect.
    #[error(
        "{path}: its {packed} bytes unpack to {bytes}, far more than is usual; if you know where it comes from: --max-size {bytes}"
    )]
    TooLarge {
        /// The packed file.
        path: PathBuf,
        /// Its bytes.
        packed: u64,
        /// Bytes that the trace takes.
        bytes: u64,
    },
    /// It cannot be packed before its buffers are collected.
    #[error(
        "{0}: some of its events are still in buffers; when its program has ended: heddle recover {0}"
    )]
    Uncollected(PathBuf),
    /// `heddle record` is still at work on it.
    #[error("{0}: `heddle record` is still recording into it; wait for its end")]
    Recording(PathBuf),
    /// Another user could change what is written there.
    #[error("{path}: it belongs to another user (id {owner}), and nothing is written there")]
    Others {
        /// The directory.
        path: PathBuf,
        /// Its owner.
        owner: u32,
    },
    /// The operating system refused.
    #[error("{path}: {}", in_words(cause))]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// Its reason.
        cause: std::io::Error,
    },
}

impl Error {
    pub(crate) fn damaged(path: &Path, offset: u64, what: impl Into<String>) -> Self {
        Error::Damaged {
            path: path.to_owned(),
            offset,
            what: what.into(),
        }
    }

    /// What is wrong with one file, whose content alone is missing then: other files can be read.
    /// Any other error is given back.
    pub(crate) fn of_one_file(self) -> Result<Damage, Self> {
        let (path, found) = match self {
            Error::Damaged { path, offset, what } => return Ok(Damage { path, offset, what }),
            Error::Newer { path, found } | Error::Older { path, found } => (path, found),
            Error::Io { path, cause } if is_of_file(&cause) => {
                let what = format!("it cannot be read: {}", in_words(&cause));
                return Ok(Damage {
                    path,
                    offset: 0,
                    what,
                });
            }
            other => return Err(other),
        };
        let (oldest, newest) = (crate::OLDEST, crate::VERSION);
        Ok(Damage {
            path,
            offset: 8,
            what: format!(
                "version {found} of the format; this heddle reads versions {oldest} to {newest}"
            ),
        })
    }

    /// The same of a file that is read whole, or not at all; `follows` says what is not known then.
    pub(crate) fn lack(self, follows: &str) -> Result<Lack, Self> {
        match self {
            Error::Io { path, cause } if is_of_file(&cause) => Ok(Lack {
                path,
                what: format!("cannot be read ({}): {follows}", in_words(&cause)),
            }),
            other => Ok(Lack::of(other.of_one_file()?, follows)),
        }
    }

    /// The same, but that files below `from` are called by the names that they have below `to`.
    #[must_use]
    pub fn renamed(mut self, from: &Path, to: &Path) -> Self {
        let (Error::Missing(path)
        | Error::NotOurs(path)
        | Error::Empty(path)
        | Error::Uncollected(path)
        | Error::Recording(path)
        | Error::Newer { path, .. }
        | Error::Older { path, .. }
        | Error::Lacking(Lack { path, .. })
        | Error::Damaged { path, .. }
        | Error::TooLarge { path, .. }
        | Error::Others { path, .. }
        | Error::Io { path, .. }) = &mut self;
        *path = renamed(path, from, to);
        self
    }

    /// Whether there is no memory, or no room among the addresses, for what was to be done.
    pub fn lacks_memory(&self) -> bool {
        matches!(self, Error::Io { cause, .. } if cause.kind() == std::io::ErrorKind::OutOfMemory)
    }

    /// The error number (errno.h) that comes nearest to it.
    pub fn number(&self) -> i32 {
        match self {
            Error::Io { cause, .. } => cause.raw_os_error().unwrap_or(EIO),
            _ => ENODATA,
        }
    }

    pub(crate) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |cause| Error::Io { path, cause }
    }
}

/// What the system says of an error, in words alone: `Display` adds its number, which tells a
/// reader nothing more.
pub fn in_words(error: &std::io::Error) -> String {
    let text = error.to_string();
    match error.raw_os_error() {
        Some(number) => text.replace(&format!(" (os error {number})"), ""),
        None => text,
    }
}

/// Whether this is for what one file is, or lies on: others can be read.
fn is_of_file(cause: &std::io::Error) -> bool {
    let number = cause.raw_os_error();
    number.is_some_and(|number| [EACCES, EPERM, EIO, ENXIO, ENODEV].contains(&number))
}

/// What lies below `from` by the name that it has below `to`.
pub(crate) fn renamed(path: &Path, from: &Path, to: &Path) -> PathBuf {
    match path.strip_prefix(from) {
        Ok(within) if within.as_os_str().is_empty() => to.to_owned(),
        Ok(within) => to.join(within),
        Err(_) => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_may_not_be_read_costs_that_file() {
        let of = |number| {
            let cause = std::io::Error::from_raw_os_error(number);
            let path = "trace/42/process".into();
            Error::Io { path, cause }.lack("that is not known")
        };
        let lack = of(EACCES).map(|lack| lack.to_string());
        let said = "trace/42/process cannot be read (Permission denied): that is not known";
        assert_eq!(lack.unwrap(), said);
        // What no file can help with.
        assert!(of(libc::EMFILE).is_err());
    }

    #[test]
    fn the_system_s_reason_is_in_words_alone() {
        let cause = std::io::Error::from_raw_os_error(libc::ENOMEM);
        let error = Error::io(Path::new("t/1/buffer-1"))(cause);
        assert_eq!(error.to_string(), "t/1/buffer-1: Cannot allocate memory");
        assert!(error.lacks_memory() && error.number() == libc::ENOMEM);
        let own = Error::io(Path::new("t"))(std::io::Error::other("no (os error 12) here"));
        assert_eq!(own.to_string(), "t: no (os error 12) here");
    }
}

//! A file of the trace, mapped.

use crate::Error;
use crate::layout::HEADER_SIZE;
use memmap2::Mmap;
use std::ffi::{CString, OsStr};
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::mem::MaybeUninit;
use std::ops::RangeInclusive;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

/// Whether the recorder died between making the file and giving it its magic number, which it
/// stores last: the file holds nothing.
pub fn unborn(path: &Path) -> Result<bool, Error> {
    let mut magic = [0; 8];
    let file = open(path)?;
    match file.read_exact_at(&mut magic, 0) {
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
            Ok(file.metadata().map_err(Error::io(path))?.len() == 0)
        }
        other => other.map(|()| magic == [0; 8]).map_err(Error::io(path)),
    }
}

/// Opens a regular file of a trace. A FIFO, which would keep us waiting, and a device, which never
/// ends, are refused; so is a link, by which a trace of someone else's would have us show what only
/// we may read.
pub fn open(path: &Path) -> Result<File, Error> {
    match open_with(path, libc::O_NOFOLLOW) {
        Err(Error::Io { cause, .. }) if cause.raw_os_error() == Some(libc::ELOOP) => {
            Err(Error::damaged(path, 0, "expected a file, found a link"))
        }
        // A socket.
        Err(Error::Io { cause, .. }) if cause.raw_os_error() == Some(libc::ENXIO) => {
            Err(Error::damaged(path, 0, "expected a regular file"))
        }
        other => other,
    }
}

/// Opens a regular file that the user named, by a link or not.
pub fn open_named(path: &Path) -> Result<File, Error> {
    open_with(path, 0)
}

fn open_with(path: &Path, flags: libc::c_int) -> Result<File, Error> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | flags)
        .open(path)
        .map_err(Error::io(path))?;
    regular(path, file)
}

fn regular(path: &Path, file: File) -> Result<File, Error> {
    if file.metadata().map_err(Error::io(path))?.is_file() {
        Ok(file)
    } else {
        Err(Error::damaged(path, 0, "expected a regular file"))
    }
}

/// Far beyond what any program loads and unloads (some 100 bytes a line, so two million lines):
/// what is larger is no text of the recorder's, and is not read into memory.
const LONGEST_TEXT: u64 = 1 << 28;

/// The contents of a file of a trace.
pub fn bytes_of(path: &Path) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let mut file = open(path)?;
    file.read_to_end(&mut bytes).map_err(Error::io(path))?;
    Ok(bytes)
}

/// The contents of a file of text of a trace, if it is there.
pub fn text_of(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    let file = match open(path) {
        Err(Error::Io { cause, .. }) if cause.kind() == std::io::ErrorKind::NotFound => {
            return Ok(None);
        }
        other => other?,
    };
    let size = file.metadata().map_err(Error::io(path))?.len();
    if size > LONGEST_TEXT {
        let what = format!("expected at most {LONGEST_TEXT} bytes of text, found {size}");
        return Err(Error::damaged(path, LONGEST_TEXT, what));
    }
    let mut text = Vec::new();
    file.take(size)
        .read_to_end(&mut text)
        .map_err(Error::io(path))?;
    Ok(Some(text))
}

/// Opens a file of a trace to be written, too; makes it where there is none, for its user
/// alone. A FIFO keeps nobody waiting, and a link is refused.
pub fn open_to_write(path: &Path) -> Result<File, Error> {
    open_own(path, libc::O_RDWR | libc::O_CREAT)
}

/// Opens a file, and no link, in a directory of ours, which is opened first.
pub fn open_own(path: &Path, flags: libc::c_int) -> Result<File, Error> {
    let (parent, name) = match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) if parent == Path::new("") => (Path::new("."), name),
        (Some(parent), Some(name)) => (parent, name),
        _ => return Err(Error::io(path)(std::io::ErrorKind::IsADirectory.into())),
    };
    open_in(&own_directory(parent)?, path, name, flags)
}

/// Opens a directory of ours. One that another user owns is refused, who could put something else
/// in a file's place.
pub fn own_directory(path: &Path) -> Result<File, Error> {
    let directory = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_PATH | libc::O_DIRECTORY)
        .open(path)
        .map_err(Error::io(path))?;
    let owner = directory.metadata().map_err(Error::io(path))?.uid();
    // SAFETY: a system call without arguments.
    if owner != unsafe { libc::geteuid() } {
        return Err(Error::Others {
            path: path.to_owned(),
            owner,
        });
    }
    Ok(directory)
}

/// Opens the regular file of this name, and no link, in a directory; errors call it `path`.
pub fn open_in(
    directory: &File,
    path: &Path,
    name: &OsStr,
    flags: libc::c_int,
) -> Result<File, Error> {
    let name = CString::new(name.as_bytes()).map_err(|error| Error::io(path)(error.into()))?;
    let flags = flags | libc::O_NONBLOCK | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    // SAFETY: the name is zero-terminated, and what is opened nobody else's.
    let file = unsafe {
        match libc::openat(directory.as_raw_fd(), name.as_ptr(), flags, 0o600) {
            -1 => return Err(Error::io(path)(std::io::Error::last_os_error())),
            file => File::from_raw_fd(file),
        }
    };
    regular(path, file)
}

/// A mapped file that is at least one header long.
#[derive(Debug)]
pub struct Mapped {
    pub path: PathBuf,
    map: Mmap,
}

impl Mapped {
    /// Maps `path` read-only.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let file = open(path)?;
        let size = file.metadata().map_err(Error::io(path))?.len();
        if size < HEADER_SIZE as u64 {
            return Err(Error::damaged(
                path,
                size,
                format!("the file ends inside its header of {HEADER_SIZE} bytes"),
            ));
        }
        // SAFETY: the recorder only ever grows a file, and no other process writes it; a concurrent
        // store shows as another value of plain bytes.
        let map = unsafe { Mmap::map(&file) }.map_err(Error::io(path))?;
        Ok(Mapped {
            path: path.to_owned(),
            map,
        })
    }

    /// The header, of type `T`.
    pub fn header<T: FromBytes + Immutable + KnownLayout + Unaligned>(&self) -> Result<&T, Error> {
        T::ref_from_prefix(&self.map)
            .map(|(header, _)| header)
            .map_err(|_| Error::damaged(&self.path, 0, "no room for a header"))
    }

    /// All of it.
    pub fn bytes(&self) -> &[u8] {
        &self.map
    }

    /// Refuses a wrong magic number and any version that we do not read.
    pub fn verify(&self, magic: [u8; 8], expected: [u8; 8], version: u32) -> Result<(), Error> {
        if magic != expected {
            let (found, expected) = (magic.escape_ascii(), expected.escape_ascii());
            return Err(Error::damaged(
                &self.path,
                0,
                format!("expected the magic number {expected}, found {found}"),
            ));
        }
        version_of(&self.path, version, crate::OLDEST..=crate::VERSION)
    }
}

/// No heddle will have come so far: a version beyond is damage.
pub const MOST_VERSIONS: u64 = 255;

/// Refuses any version that we do not read.
pub fn version_of(path: &Path, version: u32, read: RangeInclusive<u32>) -> Result<(), Error> {
    let (path, found) = (path.to_owned(), version.into());
    match version {
        _ if read.contains(&version) => Ok(()),
        0 => Err(Error::damaged(
            &path,
            8,
            "version 0 is none; the first is 1",
        )),
        older if older < *read.start() => Err(Error::Older { path, found }),
        _ if found > MOST_VERSIONS => Err(Error::damaged(
            &path,
            8,
            format!("version {found} cannot be: the first was 1"),
        )),
        _ => Err(Error::Newer { path, found }),
    }
}

/// Bytes that an unprivileged user may still write on the file system of `path`.
pub fn free_bytes(path: &Path) -> Option<u64> {
    let path = CString::new(path.as_os_str().as_bytes()).ok()?;
    let mut about = MaybeUninit::<libc::statvfs>::uninit();
    // SAFETY: a string that ends in zero, and room for the answer.
    if unsafe { libc::statvfs(path.as_ptr(), about.as_mut_ptr()) } != 0 {
        return None;
    }
    // SAFETY: the call succeeded, and so has filled it in.
    let about = unsafe { about.assume_init() };
    Some(about.f_bavail.saturating_mul(about.f_frsize))
}

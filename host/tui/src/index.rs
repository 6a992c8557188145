//! A model, kept beside its trace for the next opening. The format is in docs/trace-format.md.
//!
//! Such a file is input from whoever could write it: it is taken only if it is a plain file of the
//! user's own, of a bounded size, of this version and of the trace's files as they are now, if its
//! sum is right, and if what it holds holds together.

use crate::check::{check, put_in_order};
use crate::model::Model;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

const MAGIC: &[u8; 16] = b"heddle tui index";
/// Changes with the meaning of what is written.
pub const VERSION: u32 = 6;
/// Bytes in front of what is written by `postcard`.
const HEAD: usize = 32;
/// Larger files are neither written nor read.
const MOST: u64 = 256 << 20;

/// What a model was made of. Another one is another model's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Version of the program, and options that change what is shown.
    pub made_by: String,
    /// The trace's files, in order of their paths.
    pub files: Vec<Part>,
}

/// A file of the trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Relative to the trace.
    pub path: String,
    /// Its size, in bytes.
    pub size: u64,
    /// When it was changed: ns since 1970.
    pub changed: i64,
}

impl Origin {
    /// Of the trace at `path`, a directory or a file.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn of(path: &Path, made_by: String, index: &Path) -> io::Result<Self> {
        let mut files = Vec::new();
        collect(path, "", index, &mut files)?;
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Origin { made_by, files })
    }
}

fn collect(path: &Path, name: &str, index: &Path, files: &mut Vec<Part>) -> io::Result<()> {
    let about = path.metadata()?;
    if !about.is_dir() {
        files.push(Part {
            path: name.to_owned(),
            size: about.len(),
            changed: about.mtime().saturating_mul(1_000_000_000) + about.mtime_nsec(),
        });
        return Ok(());
    }
    for entry in path.read_dir()? {
        let entry = entry?;
        let below = entry.path();
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        // A link could lead round in a circle.
        if below == index || hidden || entry.file_type()?.is_symlink() {
            continue;
        }
        let name = format!("{name}/{}", entry.file_name().to_string_lossy());
        collect(&below, &name, index, files)?;
    }
    Ok(())
}

/// Why there is no model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// There is no index.
    Missing,
    /// It is of another trace, or of this one before it was changed, or of another version.
    Stale,
    /// It is not to be trusted.
    Wrong(String),
}

/// The model in an index of this origin.
///
/// # Errors
/// There is none that can be used.
pub fn read(path: &Path, origin: &Origin) -> Result<Model, Refusal> {
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
        .open(path);
    let mut file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Refusal::Missing),
        Err(error) => return Err(Refusal::Wrong(error.to_string())),
    };
    let bytes = contents(&mut file)?;
    let (head, payload) = bytes.split_at_checked(HEAD).ok_or_else(cut)?;
    if !head.starts_with(MAGIC) {
        return Err(wrong("it is no index"));
    }
    let word = |at: usize| {
        head[at..]
            .first_chunk()
            .map_or(0, |bytes| u32::from_le_bytes(*bytes))
    };
    if word(16) != VERSION {
        return Err(Refusal::Stale);
    }
    let length = head[24..]
        .first_chunk()
        .map_or(0, |bytes| u64::from_le_bytes(*bytes));
    if length != payload.len() as u64 {
        return Err(cut());
    }
    if crc32fast::hash(payload) != word(20) {
        return Err(wrong("its check sum is not that of what it holds"));
    }
    let broken = |_| wrong("it cannot be decoded");
    let (found, rest) = postcard::take_from_bytes::<Origin>(payload).map_err(broken)?;
    if found != *origin {
        return Err(Refusal::Stale);
    }
    let (mut model, rest) = postcard::take_from_bytes::<Model>(rest).map_err(broken)?;
    if !rest.is_empty() {
        return Err(wrong("something follows what it should hold"));
    }
    check(&model).map_err(wrong)?;
    put_in_order(&mut model);
    Ok(model)
}

fn contents(file: &mut File) -> Result<Vec<u8>, Refusal> {
    let failed = |error: io::Error| Refusal::Wrong(error.to_string());
    let about = file.metadata().map_err(failed)?;
    // SAFETY: it takes nothing and cannot fail.
    let ours = unsafe { libc::geteuid() };
    if !about.is_file() || about.uid() != ours {
        return Err(wrong("it is not a plain file of yours"));
    }
    if about.len() > MOST {
        return Err(wrong("it is larger than any index"));
    }
    let mut bytes = Vec::with_capacity(about.len() as usize);
    file.take(MOST).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

fn wrong(why: &str) -> Refusal {
    Refusal::Wrong(why.to_owned())
}

fn cut() -> Refusal {
    wrong("it is cut short")
}

/// Writes an index, for its owner alone. What was there is replaced when the new one is whole; a
/// link is replaced, and not followed.
///
/// # Errors
/// It cannot be written there, or would be too large.
pub fn write(path: &Path, origin: &Origin, model: &Model) -> io::Result<()> {
    let failed = |error: postcard::Error| io::Error::other(error.to_string());
    let payload = postcard::to_extend(origin, Vec::new()).map_err(failed)?;
    let payload = postcard::to_extend(model, payload).map_err(failed)?;
    if payload.len() as u64 + HEAD as u64 > MOST {
        return Err(io::Error::other("it would be larger than 256 MB"));
    }
    let directory = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let mut file = tempfile::Builder::new()
        .prefix(".tui-index-")
        .tempfile_in(directory.unwrap_or(Path::new(".")))?;
    file.write_all(MAGIC)?;
    file.write_all(&VERSION.to_le_bytes())?;
    file.write_all(&crc32fast::hash(&payload).to_le_bytes())?;
    file.write_all(&(payload.len() as u64).to_le_bytes())?;
    file.write_all(&payload)?;
    file.persist(path)?;
    Ok(())
}

//! Files that a command without an installation beside it holds itself, as `cargo install` makes
//! it, and that have to be on disk to be used.

use anyhow::Context as _;
use std::env;
use std::fs::{self, Permissions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// libheddle.so, or nothing: build.rs says which.
pub const LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libheddle.so"));

/// libheddle-sync.so, likewise.
pub const WAITS_LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libheddle-sync.so"));
/// libheddle-alloc.so, likewise.
pub const ALLOCATION_LIBRARY: &[u8] =
    include_bytes!(concat!(env!("OUT_DIR"), "/libheddle-alloc.so"));

/// heddle/return.h.
pub const RETURN_H: &[u8] = include_bytes!("../../../include/heddle/return.h");

/// The file of this name and content in the user's cache directory; written if it is not there.
/// Commands of other versions have other files.
///
/// # Errors
/// There is no such directory, or it cannot be written to.
pub fn file(name: &str, content: &[u8]) -> anyhow::Result<PathBuf> {
    let mut hasher = DefaultHasher::new();
    content.hash(&mut hasher);
    let version = format!("{}-{:016x}", env!("CARGO_PKG_VERSION"), hasher.finish());
    let path = cache()?.join("heddle").join(version).join(name);
    if fs::read(&path).is_ok_and(|there| there == content) {
        return Ok(path);
    }
    write(&path, content).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}

fn cache() -> anyhow::Result<PathBuf> {
    let directory = |name: &str| {
        env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    directory("XDG_CACHE_HOME")
        .or_else(|| directory("HOME").map(|home| home.join(".cache")))
        .context("neither XDG_CACHE_HOME nor HOME names a directory for the recorder's files")
}

/// Under its name only when it is whole: other commands may look for it at the same time.
fn write(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    let directory = path.parent().context("no directory")?;
    fs::create_dir_all(directory)?;
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    file.write_all(content)?;
    // The traced program may run as another user.
    file.as_file()
        .set_permissions(Permissions::from_mode(0o644))?;
    file.persist(path)?;
    Ok(())
}

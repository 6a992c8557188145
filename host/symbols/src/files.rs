//! Finds a file's symbols: in itself, or in the separate debug file that Debian and others put
//! aside.

use crate::SymbolTable;
use heddle_trace_file::Nanos;
use memmap2::Mmap;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The bytes of the file at `path`. Parse them at once and copy what you need: if another process
/// truncates the file meanwhile, SIGBUS ends us, as it would any reader of mapped files.
pub fn map(path: &Path) -> io::Result<Mmap> {
    let file = File::open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    // SAFETY: as said above.
    unsafe { Mmap::map(&file) }
}

/// Reads the symbols of the file at `path`.
pub fn load(path: &Path) -> io::Result<SymbolTable> {
    SymbolTable::parse(&map(path)?).map_err(io::Error::other)
}

/// Whether the file at `path` may be another since this time, in ns since 1970: since its inode
/// changed last, its bytes have been the same, and it has been where it is. False where either time
/// is not known.
pub fn has_changed_since(path: &Path, time: Option<Nanos>) -> bool {
    let changed = path
        .metadata()
        .map(|data| i128::from(data.ctime()) * 1_000_000_000 + i128::from(data.ctime_nsec()));
    let (Ok(changed), Some(time)) = (changed, time) else {
        return false;
    };
    changed > i128::from(time.0)
}

/// The separate debug file of `table`, read from `path`, and where it is; only one whose build id
/// is the same, where both have one.
///
/// # Errors
/// There is no memory to read one.
pub fn debug_file(path: &Path, table: &SymbolTable) -> io::Result<Option<(PathBuf, SymbolTable)>> {
    for candidate in candidates(path, table) {
        if candidate == path {
            continue;
        }
        match load(&candidate) {
            Ok(debug) => {
                let fits = debug.build_id() == table.build_id() && !debug.is_empty();
                return Ok(fits.then_some((candidate, debug)));
            }
            Err(error) if error.kind() == io::ErrorKind::OutOfMemory => return Err(error),
            Err(_) => {}
        }
    }
    Ok(None)
}

fn candidates(path: &Path, table: &SymbolTable) -> Vec<PathBuf> {
    let root = Path::new("/usr/lib/debug");
    let mut candidates = Vec::new();
    if let Some((first, rest)) = table.build_id().and_then(|id| id.split_at_checked(2)) {
        candidates.push(
            root.join(".build-id")
                .join(first)
                .join(format!("{rest}.debug")),
        );
    }
    // GDB looks in the same places.
    if let (Some(link), Some(directory)) = (
        table.debug_link().filter(|link| !link.contains('/')),
        path.parent(),
    ) {
        candidates.push(directory.join(link));
        candidates.push(directory.join(".debug").join(link));
        candidates.push(
            root.join(directory.strip_prefix("/").unwrap_or(directory))
                .join(link),
        );
    }
    candidates.retain(|candidate| candidate.is_file());
    candidates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_the_same_since_its_inode_changed_last() {
        let directory = tempfile::tempdir().unwrap();
        let [path, moved] = ["program", "moved"].map(|name| directory.path().join(name));
        std::fs::write(&path, "text").unwrap();
        let changed = |path: &Path| {
            let data = path.metadata().unwrap();
            (data.ctime() * 1_000_000_000 + data.ctime_nsec()) as u64
        };
        let written = changed(&path);
        assert!(has_changed_since(&path, Some(Nanos(written - 1))));
        assert!(!has_changed_since(&path, Some(Nanos(written))));
        assert!(!has_changed_since(&path, None));
        // A file that is put there by a move keeps the time at which its bytes were written.
        while changed(&path) == written {
            std::fs::rename(&path, &moved).unwrap();
            std::fs::rename(&moved, &path).unwrap();
        }
        assert!(has_changed_since(&path, Some(Nanos(written))));
    }
}

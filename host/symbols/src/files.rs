//! Finds a file's symbols: in itself, or in the separate debug file that Debian and others put
//! aside.

use crate::SymbolTable;
use memmap2::Mmap;
use std::fs::File;
use std::io;
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

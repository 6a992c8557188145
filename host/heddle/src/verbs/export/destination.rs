//! Where an exported file goes.

use super::behind;
use crate::unnamed::{FOR_ALL, Unbound};
use crate::{output, progress};
use anyhow::{Context, ensure};
use std::fs::{File, Metadata};
use std::io::{self, Write};
use std::path::Path;

/// Whether it is standard output.
pub fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

/// Has `export` write to `path`; it is told where there is room for as much again. A link is
/// followed if the user has `typed` the name: beside the trace, another may have put it there.
/// `None`: who was to read it had seen enough.
pub fn write<T>(
    path: &Path,
    typed: bool,
    export: impl FnOnce(&Path, &mut dyn Write) -> anyhow::Result<T>,
) -> anyhow::Result<Option<T>> {
    if !is_stdout(path) {
        return to_file(path, typed, export).map(Some);
    }
    let mut result = None;
    output::print(|out| {
        result = Some(export(&std::env::temp_dir(), out)?);
        Ok(())
    })?;
    Ok(result)
}

/// Has `export` write the file at `path`. What was there stays until the new file is whole; a
/// device or a pipe is written as it is.
fn to_file<T>(
    path: &Path,
    typed: bool,
    export: impl FnOnce(&Path, &mut dyn Write) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let told = || path.display().to_string();
    let write = |file: &File, spill: &Path| -> anyhow::Result<T> {
        behind::write(Counted(file), |out| export(spill, out))
    };
    ensure!(
        typed || !path.is_symlink(),
        "{}: it is a link; name the file that is to be written with -o FILE",
        told()
    );
    let is_special = |metadata: Metadata| !metadata.is_file() && !metadata.is_dir();
    if typed && path.metadata().is_ok_and(is_special) {
        let file = File::options().write(true).open(path);
        return write(&file.with_context(told)?, &std::env::temp_dir()).with_context(told);
    }
    output::directory_for(path)?;
    // What a link leads to is written, not the link.
    let whole = typed.then(|| path.canonicalize().ok()).flatten();
    let path = whole.as_deref().unwrap_or(path);
    let file = Unbound::new(path, FOR_ALL)?;
    let exported = write(file.file.as_file(), file.directory).with_context(told)?;
    file.name().with_context(told)?;
    Ok(exported)
}

/// A file whose bytes are counted.
pub struct Counted<F>(pub F);

impl<F: Write> Write for Counted<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.0.write(bytes)?;
        progress::wrote(written);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

//! Where an exported file goes.

use super::behind;
use super::unnamed::Unnamed;
use crate::{output, progress};
use anyhow::{Context, anyhow};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// Whether it is standard output.
pub fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

/// Has `export` write to `path`; it is told where there is room for as much again. `None`: who was
/// to read it had seen enough.
pub fn write<T>(
    path: &Path,
    export: impl FnOnce(&Path, &mut dyn Write) -> anyhow::Result<T>,
) -> anyhow::Result<Option<T>> {
    if !is_stdout(path) {
        return to_file(path, export).map(Some);
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
    export: impl FnOnce(&Path, &mut dyn Write) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let told = || path.display().to_string();
    let write = |file: &File, spill: &Path| -> anyhow::Result<T> {
        behind::write(Counted(file), |out| export(spill, out))
    };
    if path
        .metadata()
        .is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
    {
        let file = File::options().write(true).open(path);
        return write(&file.with_context(told)?, &std::env::temp_dir()).with_context(told);
    }
    // What a link leads to is written, not the link.
    let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let directory = output::directory_for(path)?;
    // By its kind alone, because its text names a file of our own.
    let file = Unnamed::new(directory).map_err(|error| {
        anyhow!(
            "{}: cannot write in {}: {}; name a file elsewhere with -o FILE",
            told(),
            directory.display(),
            error.kind()
        )
    })?;
    let exported = write(file.as_file(), directory).with_context(told)?;
    file.name(path).with_context(told)?;
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

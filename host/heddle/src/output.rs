//! Results go to stdout.

use crate::inherited;
use crate::progress;
use crate::usage::Usage;
use anyhow::ensure;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
use std::path::Path;

/// Bytes that are written at once.
const PIECE: usize = 1 << 16;

/// Runs `write` on stdout. A reader that has seen enough (`| head`) is no failure: the rest is not
/// printed.
pub fn print(write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>) -> anyhow::Result<()> {
    anyhow::ensure!(
        !inherited::is_closed(1),
        "standard output: closed (`>&-`); to throw the result away: > /dev/null"
    );
    if io::stdout().is_terminal() {
        progress::end();
    }
    print_to(Stdout(io::stdout().lock()), write)
}

/// Runs `write` on what stands for stdout, in large pieces.
pub fn print_to(
    out: impl Write,
    write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut out = BufWriter::with_capacity(PIECE, out);
    match write(&mut out).and_then(|()| Ok(out.flush()?)) {
        Err(error) if closed(&error) => {
            // What is left in the buffer has no reader either.
            let _ = out.into_parts();
            Ok(())
        }
        Err(error) if error.is::<Usage>() => {
            // A result that was not asked for rightly is none.
            let _ = out.into_parts();
            Err(error)
        }
        other => other,
    }
}

struct Stdout<W>(W);

impl<W: Write> Write for Stdout<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(named)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(named)
    }
}

fn named(error: io::Error) -> io::Error {
    match error.kind() {
        // Writers try again.
        ErrorKind::Interrupted => error,
        kind => io::Error::new(kind, format!("standard output: {error}")),
    }
}

fn closed(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<io::Error>()
            .is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
    })
}

/// The directory in which a file of this name is to be made.
///
/// # Errors
/// There is none, or the name is a directory's.
pub fn directory_for(file: &Path) -> anyhow::Result<&Path> {
    let directory = match file.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    ensure!(
        !file.is_dir(),
        "{}: it is a directory; name a file in it with -o FILE",
        file.display()
    );
    ensure!(
        directory.is_dir(),
        "{}: there is no directory {}; make it, or name another file with -o FILE",
        file.display(),
        directory.display()
    );
    Ok(directory)
}

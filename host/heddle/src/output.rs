//! Results go to stdout.

use std::io::{self, BufWriter, ErrorKind, StdoutLock, Write};

/// Standard output, written in large pieces.
pub fn stdout() -> BufWriter<StdoutLock<'static>> {
    BufWriter::with_capacity(1 << 16, io::stdout().lock())
}

/// Runs `write` on stdout. A reader that has seen enough (`| head`) is no failure: the rest is not printed.
pub fn print(write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let mut out = stdout();
    match write(&mut out).and_then(|()| Ok(out.flush()?)) {
        Err(error) if closed(&error) => {
            // What is left in the buffer has no reader either.
            let _ = out.into_parts();
            Ok(())
        }
        other => other,
    }
}

fn closed(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<io::Error>()
            .is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
    })
}

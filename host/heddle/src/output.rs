//! Results go to stdout.

use crate::progress;
use crate::usage::Usage;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Whether we were started without a standard output (`>&-`). Rust puts /dev/null in its place
/// before `main`, so that it is too late to ask there.
static CLOSED: AtomicBool = AtomicBool::new(false);

extern "C" fn look() {
    // SAFETY: fcntl with F_GETFD takes no pointer.
    CLOSED.store(unsafe { libc::fcntl(1, libc::F_GETFD) } == -1, Relaxed);
}

// SAFETY: `.init_array` holds functions that the loader calls before Rust's runtime begins; this
// one needs nothing of it.
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

/// Bytes that are written at once.
const PIECE: usize = 1 << 16;

/// Runs `write` on stdout. A reader that has seen enough (`| head`) is no failure: the rest is not
/// printed.
pub fn print(write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>) -> anyhow::Result<()> {
    anyhow::ensure!(
        !CLOSED.load(Relaxed),
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

//! Results on standard output, notes on standard error.

use super::layout::{columns, wrap};

/// Prints results; a reader who has closed the pipe has read enough.
pub fn print(text: &str) -> anyhow::Result<()> {
    use anyhow::Context;
    use std::io::Write;
    let mut stdout = anstream::stdout().lock();
    match stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
    {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other.context("cannot write to standard output"),
    }
}

/// Tells the user something. A comparison goes on when its output's reader is gone, so a closed
/// stream is no error.
pub fn note(text: std::fmt::Arguments) {
    use std::io::Write;
    let text = text.to_string();
    let text = match columns(std::io::stderr()) {
        Some(columns) => wrap(&text, columns, 2).join("\n"),
        None => text,
    };
    let _ = writeln!(anstream::stderr(), "{text}");
}

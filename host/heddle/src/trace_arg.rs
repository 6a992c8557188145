//! The argument that most verbs share.

use crate::{notes, progress};
use anyhow::Context;
use heddle_trace_file::{Error, Trace};
use std::path::{Path, PathBuf};

/// Which trace.
#[derive(clap::Args)]
pub struct TraceArg {
    /// The trace directory
    #[arg(default_value = "heddle.trace")]
    pub trace: PathBuf,
    #[command(flatten)]
    unpacking: Unpacking,
}

/// How a packed trace is opened.
#[derive(clap::Args)]
pub struct Unpacking {
    /// Unpack a packed trace up to this size: 2G (K, M and G are powers of 1024); without it, up to
    /// 1024 times the file's size and 64M
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_size: Option<u64>,
}

impl Unpacking {
    /// Opens a trace, and warns if a part of it is gone.
    pub fn open(&self, path: &Path) -> Result<Trace, Error> {
        let trace = Trace::open_within(path, self.max_size)?;
        notes::missing(&trace);
        progress::reads(&trace);
        Ok(trace)
    }
}

/// Bytes: a number, with K, M or G behind it.
pub fn size(text: &str) -> Result<u64, String> {
    let (digits, unit) = match text.char_indices().next_back() {
        Some((at, 'k' | 'K')) => (&text[..at], 1 << 10),
        Some((at, 'm' | 'M')) => (&text[..at], 1 << 20),
        Some((at, 'g' | 'G')) => (&text[..at], 1 << 30),
        _ => (text, 1),
    };
    let number = digits.parse::<u64>().ok();
    number
        .and_then(|number| number.checked_mul(unit))
        .filter(|&bytes| bytes > 0)
        .ok_or_else(|| "expected a number of bytes such as 64M".to_owned())
}

impl TraceArg {
    /// Opens it, and warns if a part of it is gone.
    pub fn open(&self) -> Result<Trace, Error> {
        self.unpacking.open(&self.trace)
    }

    /// A file beside it: `heddle.trace` with `.packed` becomes `heddle.trace.packed`.
    pub fn beside(&self, ending: &str) -> anyhow::Result<PathBuf> {
        let whole = self
            .trace
            .canonicalize()
            .with_context(|| self.trace.display().to_string())?;
        let mut name = whole
            .file_name()
            .context("a trace without a name: say --output FILE")?
            .to_owned();
        name.push(ending);
        // A path such as `.` has no name of its own, and the file does not belong into the trace.
        let parent = match self.trace.file_name() {
            Some(_) => self.trace.parent(),
            None => whole.parent(),
        };
        Ok(parent.map_or_else(PathBuf::new, PathBuf::from).join(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_as_people_write_them() {
        assert_eq!(
            ["64M", "1g", "4096"].map(size),
            [Ok(64 << 20), Ok(1 << 30), Ok(4096)]
        );
        for wrong in ["", "M", "0", "1.5G", "-1", "99999999999G"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }
}

//! The argument that most verbs share.

use crate::notes;
use anyhow::Context;
use heddle_trace_file::{Error, Trace};
use std::path::PathBuf;

/// Which trace.
#[derive(clap::Args)]
pub struct TraceArg {
    /// The trace directory
    #[arg(default_value = "heddle.trace")]
    pub trace: PathBuf,
}

impl TraceArg {
    /// Opens it, and warns if a part of it is gone.
    pub fn open(&self) -> Result<Trace, Error> {
        let trace = Trace::open(&self.trace)?;
        notes::missing(&trace);
        Ok(trace)
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

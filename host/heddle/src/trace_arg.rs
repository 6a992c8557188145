//! The argument that most verbs share.

use crate::notes;
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
}

//! The argument that most verbs share.

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
    /// Opens it.
    pub fn open(&self) -> Result<Trace, Error> {
        Trace::open(&self.trace)
    }
}

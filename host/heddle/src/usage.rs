//! Errors of usage, which end with exit code 2.

use std::fmt;

/// The options do not fit the trace, or one another.
#[derive(Debug)]
pub struct Usage(String);

impl Usage {
    /// With these words as its message.
    pub fn new(text: impl Into<String>) -> Self {
        Usage(text.into())
    }
}

impl std::error::Error for Usage {}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

//! Why `heddle record` itself failed.

/// A failure of ours, with the exit code that says so: 127 not found, 126 not executable, 125
/// anything else.
#[derive(Debug)]
pub struct Failure {
    /// The exit code.
    pub code: u8,
    /// Cause and remedy.
    pub message: String,
}

impl Failure {
    /// Anything but the program itself.
    pub fn ours(message: impl Into<String>) -> Self {
        Failure {
            code: 125,
            message: message.into(),
        }
    }
}

use std::path::PathBuf;

/// What can go wrong with a comparison as a whole. Single samples that go wrong are results, not
/// errors.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An experiment file that cannot be used as it stands.
    #[error("{}:{line}: {message}", path.display())]
    Experiment {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// What is wrong, and what would be right.
        message: String,
    },
    /// The request names something that doesn't exist, or asks for what cannot be.
    #[error("{0}")]
    Usage(String),
    /// Reading or writing failed.
    #[error("{what}: {cause}")]
    Io {
        /// What was being done to which file.
        what: String,
        /// The system's answer.
        cause: std::io::Error,
    },
}

impl Error {
    /// For `map_err`: says what was being done.
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |cause| Self::Io { what, cause }
    }

    /// Whether the caller asked for something wrong, as opposed to the machine failing.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Experiment { .. } | Self::Usage(_))
    }
}

/// Shorthand.
pub type Result<T> = std::result::Result<T, Error>;

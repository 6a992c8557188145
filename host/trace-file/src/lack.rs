//! The files of a trace that are not there, or not whole. What they say is missing from every
//! answer, though nothing else in the trace contradicts itself.

use crate::Damage;
use std::fmt;
use std::path::PathBuf;

/// Such a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lack {
    /// The file.
    pub path: PathBuf,
    /// What it lacks, and what follows.
    pub what: String,
}

impl Lack {
    /// Of a file that contradicts the format; `follows` says what is not known then.
    pub(crate) fn of(damage: Damage, follows: &str) -> Self {
        let Damage { path, offset, what } = damage;
        Lack {
            path,
            what: format!("is damaged at offset {offset} ({what}): {follows}"),
        }
    }
}

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.path.display(), self.what)
    }
}

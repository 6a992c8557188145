//! The parts of a trace's files that cannot be read, because their bytes contradict the format. The
//! rest can be read.

use crate::Error;
use std::fmt;
use std::ops::AddAssign;
use std::path::PathBuf;

/// A stretch of a file that is passed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The file.
    pub path: PathBuf,
    /// The offset in the file, in bytes, at which the expected content is missing.
    pub offset: u64,
    /// What was expected and what is there.
    pub what: String,
}

/// The first such stretch, and how much all of them are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Damages {
    /// The one that was met first.
    pub first: Option<Damage>,
    /// How many stretches.
    pub places: u64,
    /// Bytes that are not read; of a file that was cut short, as far as its last block says how
    /// many there were.
    pub bytes: u64,
}

impl Damages {
    /// Adds a stretch of so many bytes. An error that is not of one file is none: it is given back.
    pub(crate) fn add(&mut self, error: Error, bytes: u64) -> Result<(), Error> {
        let damage = error.of_one_file()?;
        self.first.get_or_insert(damage);
        self.places += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        Ok(())
    }

    /// The first, as an error.
    pub(crate) fn error(&self) -> Option<Error> {
        self.first.clone().map(Error::from)
    }
}

impl AddAssign<&Damages> for Damages {
    fn add_assign(&mut self, other: &Damages) {
        self.first = self.first.take().or_else(|| other.first.clone());
        self.places += other.places;
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

impl From<Damage> for Error {
    fn from(damage: Damage) -> Self {
        Error::Damaged {
            path: damage.path,
            offset: damage.offset,
            what: damage.what,
        }
    }
}

/// `heddle.trace/42/events: at offset 65536: expected …`.
impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Error::from(self.clone()).fmt(f)
    }
}

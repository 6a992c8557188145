//! An interrupted run is taken up again.

use super::{Output, RAW, RECORD, Record, locked, places};
use crate::error::{Error, Result};
use heddle_results::Sample;
use places::{Found, Places, look};
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, ErrorKind, Seek, SeekFrom};
use std::path::Path;

/// An interrupted run.
pub struct Resumed {
    /// Where it goes on.
    pub output: Output,
    /// What it was asked to do.
    pub record: Record,
    /// What it has.
    pub samples: Vec<Sample>,
    /// What to tell the user.
    pub notes: Vec<String>,
}

impl Output {
    /// Takes up the run in `<dir>.partial`.
    ///
    /// # Errors
    /// If there is none, if it goes on elsewhere, or if its files are damaged by more than a last
    /// line that is not whole.
    pub fn resume(dir: &Path) -> Result<Resumed> {
        let places = Places::new(dir)?;
        let partial = places.partial();
        places.check()?;
        if look(&partial)? == Found::Nothing {
            return Err(nothing(&places));
        }
        let Some(lock) = locked(&places)? else {
            return Err(nothing(&places));
        };
        let record = read_record(
            &partial.join(RECORD),
            "run cannot be resumed: begin anew, without --resume",
        )?;
        let path = partial.join(RAW);
        let file = places::open_as(File::options().read(true).write(true), &path)
            .map_err(Error::io(format!("cannot write {}", path.display())))?;
        let (samples, whole, dropped) = read_samples(&file, &path, "begin anew, without --resume")?;
        let mut notes = Vec::new();
        if dropped {
            notes.push(format!(
                "the last line of {} is not whole, and is dropped",
                path.display()
            ));
        }
        let at_end = || {
            file.set_len(whole)?;
            (&file).seek(SeekFrom::End(0))
        };
        at_end().map_err(Error::io(format!("cannot write {}", path.display())))?;
        Ok(Resumed {
            output: Output {
                places,
                record: record.clone(),
                raw: BufWriter::new(file),
                replaced: false,
                _lock: lock,
            },
            record,
            samples,
            notes,
        })
    }
}

fn nothing(places: &Places) -> Error {
    let partial = places.partial();
    let replaced = places.replaced();
    let hint = if count(&replaced.join(RAW)) > 0 {
        format!(
            "; another run has replaced one: `mv {0} {1}` puts it back",
            replaced.display(),
            partial.display()
        )
    } else {
        String::new()
    };
    Error::Usage(format!(
        "there is no interrupted run in {}, so nothing can be resumed{hint}",
        partial.display()
    ))
}

/// What a run was asked to do; where it cannot be read, `so` says what follows.
pub(super) fn read_record(path: &Path, so: &str) -> Result<Record> {
    let unusable =
        |cause: String| Error::Usage(format!("{}: {cause}, so this {so}", path.display()));
    let file = places::open(path).map_err(|error| unusable(error.to_string()))?;
    serde_json::from_reader(BufReader::new(file)).map_err(|error| unusable(error.to_string()))
}

/// The samples, the length of their lines, and whether there was a piece of a line after them: a
/// run that was killed may have written one. Where a line is no sample, `hint` says what to do.
pub(super) fn read_samples(
    file: &File,
    path: &Path,
    hint: &str,
) -> Result<(Vec<Sample>, u64, bool)> {
    let mut reader = BufReader::new(file);
    let (mut samples, mut whole) = (Vec::new(), 0_u64);
    let mut line = Vec::new();
    loop {
        line.clear();
        let length = reader
            .read_until(b'\n', &mut line)
            .map_err(Error::io(format!("cannot read {}", path.display())))?;
        if length == 0 {
            return Ok((samples, whole, false));
        }
        if line.last() != Some(&b'\n') {
            return Ok((samples, whole, true));
        }
        let sample = serde_json::from_slice(&line).map_err(|error| {
            Error::Usage(format!(
                "{}:{}: not a sample: {error}; {hint}",
                path.display(),
                samples.len() + 1
            ))
        })?;
        samples.push(sample);
        whole += length as u64;
    }
}

/// Whole lines of a file; 0 where there is none.
pub(super) fn count(path: &Path) -> usize {
    match places::open(path) {
        Ok(file) => BufReader::new(file)
            .split(b'\n')
            .filter(|line| !matches!(line, Ok(line) if line.is_empty()))
            .take_while(
                |line| !matches!(line, Err(error) if error.kind() != ErrorKind::Interrupted),
            )
            .count(),
        Err(_) => 0,
    }
}

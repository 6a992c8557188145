//! A finished run, read back.

use super::resume::{read_record, read_samples};
use super::{RAW, RECORD, REPORT, Record, places};
use crate::error::{Error, Result};
use crate::experiment::Experiment;
use heddle_results::{Report, Sample};
use std::io::{BufReader, ErrorKind};
use std::path::{Path, PathBuf};

/// What a finished run has left.
#[derive(Debug)]
pub struct Finished {
    /// Its directory.
    pub dir: PathBuf,
    /// What it was asked to do.
    pub record: Record,
    /// What it found.
    pub report: Report,
    /// Its samples, in the order taken.
    pub samples: Vec<Sample>,
}

impl Finished {
    /// Reads the directory of a finished run.
    ///
    /// # Errors
    /// If it is none, or its files are damaged.
    pub fn read(dir: &Path) -> Result<Self> {
        let path = |name: &str| dir.join(name);
        let open = |name: &str| {
            places::open(&path(name)).map_err(|cause| match cause.kind() {
                ErrorKind::NotFound | ErrorKind::NotADirectory => Error::Usage(format!(
                    "there is no finished run in {0}, for {name} is missing there: `heddle compare -o {0}` makes one, with --resume it finishes one that was interrupted",
                    dir.display()
                )),
                _ => Error::io(format!("cannot read {}", path(name).display()))(cause),
            })
        };
        let report: serde_json::Value = serde_json::from_reader(BufReader::new(open(REPORT)?))
            .map_err(|cause| unusable(&path(REPORT), &cause))?;
        if let Some(machines) = report.get(MACHINES) {
            return Err(Error::Usage(format!(
                "{} is a report of {} machines, put together from their runs: name those",
                dir.display(),
                machines.as_array().map_or(0, Vec::len)
            )));
        }
        let report =
            serde_json::from_value(report).map_err(|cause| unusable(&path(REPORT), &cause))?;
        drop(open(RECORD)?);
        let hint = "measure anew";
        let record = read_record(&path(RECORD), &format!("run cannot be read: {hint}"))?;
        let (samples, _, cut) = read_samples(&open(RAW)?, &path(RAW), hint)?;
        if cut {
            return Err(Error::Usage(format!(
                "the last line of {} is not whole, so samples are missing: copy the file again, or {hint}",
                path(RAW).display()
            )));
        }
        Ok(Self {
            dir: dir.to_owned(),
            record,
            report,
            samples,
        })
    }

    /// The experiments, as their files were when the run began.
    ///
    /// # Errors
    /// If the text of one is not kept, or not valid.
    pub fn experiments(&self) -> Result<Vec<Experiment>> {
        let kept = self.record.experiments.iter();
        kept.map(|identity| {
            let experiment = Experiment::parse(&identity.text, &identity.path)?;
            Ok(identity.named(experiment))
        })
        .collect()
    }
}

/// What a report of several machines has in its `report.json`, and no other has.
pub const MACHINES: &str = "machines";

fn unusable(path: &Path, cause: &serde_json::Error) -> Error {
    Error::Usage(format!(
        "{} is not a report of this version: measure anew ({cause})",
        path.display()
    ))
}

//! The directory of a comparison, and how no finished report is ever lost by a run.
//!
//! A run writes to `<dir>.partial`: every sample at once (`results.jsonl`), and what it needs to go
//! on (`run.json`). When it is finished, that directory is renamed to `<dir>`, and the report that
//! was there to `<dir>.old`. A run that was interrupted or killed leaves `<dir>` as it was, and can
//! be resumed.

mod finished;
mod places;
mod record;
mod resume;
mod rotate;
#[cfg(test)]
mod tests;

pub use finished::{Finished, MACHINES};
pub use places::open;
pub use record::{Identity, Record};
pub use resume::Resumed;

use crate::error::{Error, Result};
use crate::file_lock::{self, Lock, try_lock};
use crate::run::Checkpoint;
use heddle_results::Sample;
use places::{Found, Places, look, open_as, remove};
use std::fs::File;
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Every sample on a line of its own.
pub const RAW: &str = "results.jsonl";
/// The page.
pub const PAGE: &str = "index.html";
/// What is on the page, as data.
pub const REPORT: &str = "report.json";
/// What was asked for: what a run needs to go on, and `--merge` to judge samples.
const RECORD: &str = "run.json";

/// A comparison's directory, being written.
pub struct Output {
    places: Places,
    record: Record,
    raw: BufWriter<File>,
    /// An interrupted run had to make room.
    replaced: bool,
    /// Open, and so locked.
    _lock: File,
}

impl Output {
    /// Makes `<dir>.partial`. An interrupted run that is there is kept as `<dir>.partial.old`. Also
    /// returns what to tell the user.
    ///
    /// # Errors
    /// If a directory that is needed holds other files than ours or cannot be written, or another
    /// run goes on there.
    pub fn open(dir: &Path, record: Record) -> Result<(Self, Vec<String>)> {
        let places = Places::new(dir)?;
        places.check()?;
        let parent = places.parent();
        std::fs::create_dir_all(&parent).map_err(Error::io(format!(
            "cannot make the directory {}",
            parent.display()
        )))?;
        let partial = places.partial();
        let mut notes = Vec::new();
        let mut replaced = false;
        let lock = loop {
            match std::fs::create_dir(&partial) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                other => other.map_err(Error::io(format!(
                    "cannot make the directory {} (`-o DIR` names another place)",
                    partial.display()
                )))?,
            }
            let Some(lock) = locked(&places)? else {
                continue;
            };
            let samples = resume::count(&partial.join(RAW));
            if samples == 0 {
                break lock;
            }
            notes.push(replace(&places, samples)?);
            replaced = true;
        };
        let path = partial.join(RAW);
        let mut options = File::options();
        let file = open_as(options.write(true).create(true).truncate(true), &path)
            .map_err(Error::io(format!("cannot write {}", path.display())))?;
        let output = Self {
            places,
            record,
            raw: BufWriter::new(file),
            replaced,
            _lock: lock,
        };
        output.write_record()?;
        Ok((output, notes))
    }

    /// Appends a line; it is in the file when this returns, so that a comparison that is killed
    /// leaves what it had.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn append(&mut self, sample: &Sample) -> Result<()> {
        let write = |raw: &mut BufWriter<File>| {
            serde_json::to_writer(&mut *raw, sample)?;
            raw.write_all(b"\n")?;
            raw.flush()
        };
        write(&mut self.raw).map_err(Error::io(format!(
            "cannot write {}",
            self.unfinished().display()
        )))
    }

    /// Writes all lines anew: some samples were found to be wrong after they had been written.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn rewrite(&mut self, samples: &[&Sample]) -> Result<()> {
        let lines: serde_json::Result<String> = (samples.iter())
            .map(|sample| Ok(serde_json::to_string(sample)? + "\n"))
            .collect();
        let path = self.unfinished();
        let failed = |cause| Error::io(format!("cannot write {}", path.display()))(cause);
        self.write(RAW, &lines.map_err(|cause| failed(cause.into()))?)?;
        let file = open_as(File::options().append(true), &path).map_err(failed)?;
        self.raw = BufWriter::new(file);
        Ok(())
    }

    /// Notes how far the run is.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn checkpoint(&mut self, point: &Checkpoint) -> Result<()> {
        self.record.elapsed_ns = u64::try_from(point.elapsed.as_nanos()).unwrap_or(u64::MAX);
        self.record.second_look = point.second_look.cloned();
        self.write_record()
    }

    /// The lines so far.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn raw(&self) -> Result<String> {
        let path = self.unfinished();
        open(&path)
            .and_then(std::io::read_to_string)
            .map_err(Error::io(format!("cannot read {}", path.display())))
    }

    /// The file with the lines so far.
    pub fn unfinished(&self) -> PathBuf {
        self.places.partial().join(RAW)
    }

    /// Writes the page of one of the machines that a report puts side by side, from 1; its name.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_page(&self, number: usize, page: &str) -> Result<String> {
        let name = places::page_of_machine(number);
        self.write(&name, page)?;
        Ok(name)
    }

    /// Puts the page and the report in place, and the earlier report out of the way; where the page
    /// is, and what to tell the user.
    ///
    /// # Errors
    /// If they cannot be written, or the directories not be renamed: then all is in
    /// `<dir>.partial`.
    pub fn finish(self, page: &str, report: &str) -> Result<(PathBuf, Vec<String>)> {
        self.write(PAGE, page)?;
        self.write(REPORT, report)?;
        let notes = rotate::finish(&self.places)?;
        Ok((self.places.dir.join(PAGE), notes))
    }

    /// Leaves an interrupted run to be resumed, with a page of what there is; where that page is.
    ///
    /// # Errors
    /// If the page cannot be written.
    pub fn leave(self, page: &str) -> Result<PathBuf> {
        self.write(PAGE, page)?;
        Ok(self.places.partial().join(PAGE))
    }

    /// Leaves everything as it was before a run that took no sample.
    pub fn discard(self) {
        // What cannot be removed is reused by the next comparison.
        let partial = self.places.partial();
        if remove(&partial).unwrap_or(false) && self.replaced {
            let _ = rotate::rename(&self.places.replaced(), &partial);
        }
    }

    fn write_record(&self) -> Result<()> {
        let text = serde_json::to_string_pretty(&self.record).unwrap_or_default();
        self.write(RECORD, &format!("{text}\n"))
    }

    /// Writes a file under another name first, so that it is whole or not there.
    fn write(&self, name: &str, text: &str) -> Result<()> {
        let path = self.places.partial().join(name);
        let new = path.with_file_name(format!("{name}.new"));
        let write = || {
            let mut options = File::options();
            let mut file = open_as(options.write(true).create(true).truncate(true), &new)?;
            file.write_all(text.as_bytes())?;
            std::fs::rename(&new, &path)
        };
        write().map_err(Error::io(format!("cannot write {}", path.display())))
    }
}

/// Whether another comparison has the lock, also a moment later: a child that a thread of ours is
/// just starting has our descriptors until it executes its program.
fn is_others(lock: &File) -> bool {
    (0..50).all(|_| {
        let others = try_lock(lock) == Lock::Others;
        if others {
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        others
    })
}

/// The lock on `<dir>.partial`, held until the file is closed, however we end; none if the
/// directory was renamed meanwhile. A file system that knows no locks does without.
fn locked(places: &Places) -> Result<Option<File>> {
    let partial = places.partial();
    if look(&partial)? == Found::Nothing {
        return Ok(None);
    }
    let lock = match file_lock::open_directory(&partial) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        other => other.map_err(Error::io(format!("cannot read {}", partial.display())))?,
    };
    if is_others(&lock) {
        return Err(Error::Usage(format!(
            "another comparison is writing to {}: wait for its end, or choose another place with `-o DIR`",
            partial.display()
        )));
    }
    Ok(file_lock::is_at(&lock, &partial).then_some(lock))
}

/// Keeps an interrupted run as `<dir>.partial.old`, in the place of an earlier one; says so.
fn replace(places: &Places, samples: usize) -> Result<String> {
    let (partial, old) = (places.partial(), places.replaced());
    let mut also = String::new();
    if look(&old)? == Found::Ours {
        let earlier = resume::count(&old.join(RAW));
        if !remove(&old)? {
            return Err(Error::Usage(format!(
                "{} holds files of yours beside an interrupted run: move them away, or choose another place with `-o DIR`",
                old.display()
            )));
        }
        also = format!(", in the place of one with {earlier}");
    }
    rotate::rename(&partial, &old)?;
    Ok(format!(
        "{samples} samples of an interrupted run, with which --resume would have gone on, are kept in {}{also}",
        old.display()
    ))
}

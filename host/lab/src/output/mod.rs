//! The directory of a comparison: `results.jsonl` while samples come, `index.html` at the end.
//!
//! Both are written under another name first and renamed at the end, so that an earlier comparison stays whole until the
//! new one is. A directory that holds anything else than a comparison of ours is never written to.

use crate::error::{Error, Result};
use crate::file_lock::{Lock, try_lock};
use heddle_results::Sample;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

const RAW: &str = "results.jsonl";
const PAGE: &str = "index.html";
/// Ending of a file that is being written.
const NEW: &str = ".new";

/// A comparison's directory, being written.
pub struct Output {
    dir: PathBuf,
    raw: BufWriter<File>,
}

impl Output {
    /// Makes the directory if there is none, and refuses one that isn't ours.
    ///
    /// # Errors
    /// If it holds something else, or cannot be written.
    pub fn open(dir: &Path) -> Result<Self> {
        refuse_foreign(dir)?;
        std::fs::create_dir_all(dir).map_err(Error::io(format!(
            "cannot make the directory {}",
            dir.display()
        )))?;
        let path = dir.join(format!("{RAW}{NEW}"));
        let what = || format!("cannot write {}", path.display());
        // Emptied only when it is ours alone.
        let file = File::options()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(Error::io(what()))?;
        lock(&file, dir)?;
        // The other one may have ended, and renamed what we have opened, before we had the lock.
        let at_path = std::fs::metadata(&path).ok().map(|data| data.ino());
        if at_path != Some(file.metadata().map_err(Error::io(what()))?.ino()) {
            return Self::open(dir);
        }
        file.set_len(0).map_err(Error::io(what()))?;
        Ok(Self {
            dir: dir.to_owned(),
            raw: BufWriter::new(file),
        })
    }

    /// Appends a line; it is in the file when this returns, so that a comparison that is killed leaves what it had.
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

    /// The lines so far.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn raw(&self) -> Result<String> {
        let path = self.unfinished();
        std::fs::read_to_string(&path).map_err(Error::io(format!("cannot read {}", path.display())))
    }

    /// The file with the lines so far; the next comparison into the same directory overwrites it.
    pub fn unfinished(&self) -> PathBuf {
        self.path(RAW, NEW)
    }

    /// Puts the page and the lines in place; where the page is.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn finish(self, page: &str) -> Result<PathBuf> {
        let (new, done) = (self.path(PAGE, NEW), self.path(PAGE, ""));
        std::fs::write(&new, page).map_err(Error::io(format!("cannot write {}", new.display())))?;
        for (from, to) in [(self.unfinished(), self.path(RAW, "")), (new, done.clone())] {
            std::fs::rename(&from, &to)
                .map_err(Error::io(format!("cannot write {}", to.display())))?;
        }
        Ok(done)
    }

    /// Leaves an earlier comparison as it was.
    pub fn discard(self) {
        // What cannot be removed is overwritten by the next comparison.
        let _ = std::fs::remove_file(self.unfinished());
        let _ = std::fs::remove_dir(&self.dir);
    }

    fn path(&self, name: &str, ending: &str) -> PathBuf {
        self.dir.join(format!("{name}{ending}"))
    }
}

/// Held until the file is closed, however we end. A file system that knows no locks does without.
fn lock(file: &File, dir: &Path) -> Result<()> {
    if try_lock(file) == Lock::Others {
        return Err(Error::Usage(format!(
            "another comparison is writing to {}: wait for its end, or choose another place with `-o DIR`",
            dir.display()
        )));
    }
    Ok(())
}

/// Ours is a directory that is new, empty, or has our `results.jsonl` in it; what an interrupted comparison left is
/// nobody's.
fn refuse_foreign(dir: &Path) -> Result<()> {
    if !dir.exists() {
        return Ok(());
    }
    if !dir.is_dir() {
        return Err(Error::Usage(format!(
            "{} is not a directory: choose another place with `-o DIR`",
            dir.display()
        )));
    }
    let entries =
        std::fs::read_dir(dir).map_err(Error::io(format!("cannot read {}", dir.display())))?;
    let names =
        entries.filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()));
    let other = names.filter(|name| !name.ends_with(NEW)).min();
    let Some(other) = other else { return Ok(()) };
    if is_ours(&dir.join(RAW)) {
        return Ok(());
    }
    Err(Error::Usage(format!(
        "{} holds files that no comparison wrote, such as {other}: choose another place with `-o DIR`",
        dir.display()
    )))
}

/// Whether a file is empty or begins with a sample.
fn is_ours(path: &Path) -> bool {
    let Ok(file) = File::open(path) else {
        return false;
    };
    let mut first = String::new();
    BufReader::new(file).read_line(&mut first).is_ok()
        && (first.is_empty() || serde_json::from_str::<Sample>(&first).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_directories_are_written_to() {
        let home = tempfile::tempdir().unwrap();
        let dir = |name: &str| home.path().join(name);
        // New, and made with its parents; then ours.
        let output = Output::open(&dir("a/b")).unwrap();
        assert_eq!(output.finish("page").unwrap(), dir("a/b/index.html"));
        Output::open(&dir("a/b")).unwrap().finish("page 2").unwrap();
        assert_eq!(
            std::fs::read_to_string(dir("a/b/index.html")).unwrap(),
            "page 2"
        );
        // Somebody's web site, somebody's results, a file.
        std::fs::create_dir(dir("site")).unwrap();
        std::fs::write(dir("site/index.html"), "hello").unwrap();
        assert!(
            Output::open(&dir("site"))
                .is_err_and(|error| error.is_usage() && error.to_string().contains("index.html"))
        );
        std::fs::write(dir("site/results.jsonl"), "{\"mine\": 1}\n").unwrap();
        assert!(Output::open(&dir("site")).is_err());
        assert!(Output::open(&dir("site/index.html")).is_err_and(|error| error.is_usage()));
        assert_eq!(
            std::fs::read_to_string(dir("site/index.html")).unwrap(),
            "hello"
        );
    }

    #[test]
    fn two_comparisons_do_not_write_to_one_directory() {
        let home = tempfile::tempdir().unwrap();
        let first = Output::open(home.path()).unwrap();
        assert!(Output::open(home.path()).is_err_and(
            |error| error.is_usage() && error.to_string().contains("another comparison")
        ));
        first.finish("page").unwrap();
        assert!(Output::open(home.path()).is_ok());
    }

    #[test]
    fn a_discarded_comparison_leaves_the_earlier_one() {
        let home = tempfile::tempdir().unwrap();
        Output::open(home.path()).unwrap().finish("old").unwrap();
        Output::open(home.path()).unwrap().discard();
        assert_eq!(
            std::fs::read_to_string(home.path().join("index.html")).unwrap(),
            "old"
        );
        let names: Vec<_> = std::fs::read_dir(home.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(names.len(), 2, "{names:?}");
    }
}

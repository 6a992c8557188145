//! Writes the first inputs of every target, from real files: `heddle-fuzz-seeds DIRECTORY`. What is
//! in `corpora` was made of these and of what libFuzzer found, by `tests/fuzz merge`.

#![allow(clippy::unwrap_used, reason = "it is run by hand")]

mod indexes;
mod programs;
mod recorder;
mod texts;
mod traces;
mod values;

use std::path::{Path, PathBuf};

/// Where the inputs of a target go.
pub struct Corpus(PathBuf);

impl Corpus {
    fn of(all: &Path, target: &str) -> Self {
        let path = all.join(target);
        std::fs::create_dir_all(&path).unwrap();
        Corpus(path)
    }

    /// Adds an input.
    pub fn add(&self, name: &str, input: &[u8]) {
        std::fs::write(self.0.join(name), input).unwrap();
    }
}

fn main() {
    let all = std::env::args().nth(1).map(PathBuf::from);
    let all = all.unwrap_or_else(|| panic!("usage: heddle-fuzz-seeds DIRECTORY"));
    let scratch = tempfile::tempdir().unwrap();
    texts::experiments(&Corpus::of(&all, "experiments"));
    texts::filters(&Corpus::of(&all, "filters"));
    texts::plans(&Corpus::of(&all, "plan"));
    recorder::write(&Corpus::of(&all, "recorder"));
    texts::results(&Corpus::of(&all, "results"));
    programs::compile(scratch.path(), &Corpus::of(&all, "symbols"));
    indexes::write(&Corpus::of(&all, "tui-index"));
    let traces = Corpus::of(&all, "trace");
    traces::write(scratch.path(), &traces, &Corpus::of(&all, "pack"));
}

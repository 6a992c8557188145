//! The readers' corpora: what libFuzzer found worth keeping, and every input that broke a reader.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod changes;

use heddle_fuzz::{TARGETS, Target};
use std::fs;
use std::path::{Path, PathBuf};

/// Inputs of a target, by path.
fn corpus(target: Target) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("corpora")
        .join(target.name);
    let entries = fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let read = |path: PathBuf| {
        let bytes = fs::read(&path).unwrap();
        (path, bytes)
    };
    paths.into_iter().map(read).collect()
}

/// One after the other: memory is counted for the whole process.
#[test]
fn no_input_of_the_corpora_and_no_change_of_one_breaks_its_reader() {
    for &target in TARGETS {
        let corpus = corpus(target);
        assert!(corpus.len() >= 2, "{} has no corpus", target.name);
        for (path, input) in &corpus {
            run(target, input, &path.display().to_string());
        }
        let mut chance = changes::Chance::new(1);
        for number in 0..changes::EACH {
            let input = changes::changed(&corpus, &mut chance);
            run(target, &input, &format!("change {number}"));
        }
    }
}

fn run(target: Target, input: &[u8], what: &str) {
    // Written before: the recorder's readers are C++, and may end the process.
    let process = std::process::id();
    let kept = std::env::temp_dir().join(format!("heddle-fuzz-{}-{process}", target.name));
    fs::write(&kept, input).unwrap();
    let read = std::panic::catch_unwind(|| target.run(input));
    if read.is_err() {
        panic!(
            "{}: {what} breaks the reader (see above); it is in {}",
            target.name,
            kept.display()
        );
    }
    fs::remove_file(&kept).unwrap();
}

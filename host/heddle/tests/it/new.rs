//! `heddle new`, as far as no compiler is needed; tests/check-new builds and compares.

use crate::common::heddle;
use predicates::str::contains;
use std::fs;
use std::path::Path;

const LANGUAGES: [&str; 5] = ["c++", "c", "go", "rust", "python"];

/// The text of every file below a folder, behind its path.
fn texts(folder: &Path) -> String {
    let mut all = String::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        all += &path.display().to_string();
        all += &if path.is_dir() {
            texts(&path)
        } else {
            fs::read_to_string(&path).unwrap()
        };
    }
    all
}

#[test]
fn a_folder_names_its_workload_and_leaves_no_place_open() {
    let directory = tempfile::tempdir().unwrap();
    for (number, language) in LANGUAGES.iter().enumerate() {
        let name = format!("work-{number}");
        heddle(directory.path())
            .args(["new", &name, "--lang", language])
            .assert()
            .success()
            .stdout(contains(format!("heddle compare ./{name}\n")));
        let folder = directory.path().join(&name);
        let text = texts(&folder);
        assert!(text.contains(&format!("id       = \"{name}\"")), "{text}");
        let open = text
            .split('@')
            .find(|part| part.len() > 1 && part.bytes().all(|b| b.is_ascii_uppercase()));
        assert_eq!(open, None, "{language}");
        // The experiment is one that `heddle compare` reads, and names the program's models.
        heddle(directory.path())
            .args(["compare", "--list", &name])
            .assert()
            .success()
            .stdout(contains("serial"));
    }
}

#[test]
fn the_id_of_an_experiment_of_ours_is_taken() {
    let directory = tempfile::tempdir().unwrap();
    let lab = directory.path().join("lab/experiments");
    fs::create_dir_all(&lab).unwrap();
    fs::write(lab.join("b1-switch.toml"), "").unwrap();
    heddle(directory.path())
        .args(["new", "b1-switch"])
        .env("HEDDLE_LAB", directory.path().join("lab"))
        .assert()
        .code(1)
        .stderr(contains(
            "`b1-switch` is the id of one of Heddle's own experiments",
        ));
    assert!(!directory.path().join("b1-switch").exists());
}

#[test]
fn a_folder_that_is_there_is_left_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("mine")).unwrap();
    heddle(directory.path())
        .args(["new", "mine"])
        .assert()
        .code(1)
        .stderr(contains("mine exists: nothing in it was changed"));
    assert_eq!(
        texts(directory.path()),
        directory.path().join("mine").display().to_string()
    );
}

#[test]
fn a_name_that_something_cannot_bear_is_refused_before_anything_is_written() {
    let directory = tempfile::tempdir().unwrap();
    for name in [
        "Work",
        "9lives",
        "a_b",
        "test",
        "",
        "..",
        "a-name-of-23-characters",
    ] {
        heddle(directory.path())
            .args(["new", name])
            .assert()
            .code(2)
            .stderr(contains("error: invalid value"));
    }
    assert_eq!(texts(directory.path()), "");
}

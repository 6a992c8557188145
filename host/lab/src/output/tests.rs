use super::*;
use crate::experiment::Mode;
use crate::run::Options;
use heddle_results::{Machine, ProcessUsage, Status};
use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::time::Duration;

fn record() -> Record {
    let options = Options {
        mode: Mode::Quick,
        models: vec![],
        samples: None,
        timeout: None,
        budget: Duration::from_secs(240),
        seed: 7,
        shard: None,
        trace: None,
        lab: "/nowhere".into(),
    };
    Record::new(&[], &options, (None, true), vec![]).unwrap()
}

fn sample(number: u32) -> Sample {
    Sample {
        experiment: "e".into(),
        workload: "w".into(),
        model: "thread".into(),
        point: BTreeMap::new(),
        params: BTreeMap::new(),
        sample: number,
        order: number,
        seed: 7,
        started_ns: 1,
        status: Status::Ok,
        detail: None,
        checked: None,
        ran: None,
        result: None,
        command: vec![],
        metrics: BTreeMap::new(),
        counters: BTreeMap::new(),
        process: ProcessUsage::default(),
        around: None,
        traced: None,
        build: BTreeMap::new(),
        machine: Arc::new(Machine::default()),
    }
}

/// A home, and what is asked of it.
struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.at(name)).unwrap()
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name();
        let mut names: Vec<String> = entries.map(|it| name(it).into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn open(&self) -> Result<(Output, Vec<String>)> {
        Output::open(&self.at("report"), record())
    }

    /// A finished run with this page.
    fn run(&self, page: &str) -> Vec<String> {
        let (output, _) = self.open().unwrap();
        output.finish(page, "{}").unwrap().1
    }

    /// A run that was interrupted after so many samples.
    fn interrupted(&self, samples: u32) {
        let (mut output, _) = self.open().unwrap();
        (0..samples).for_each(|number| output.append(&sample(number)).unwrap());
        output.leave("partial page").unwrap();
    }
}

fn refused<T>(result: Result<T>, why: &str) {
    let error = result.err().unwrap();
    assert!(
        error.is_usage() && error.to_string().contains(why),
        "{error}"
    );
}

#[test]
fn a_run_is_seen_at_its_place_only_when_it_is_finished() {
    let home = Home::new();
    let (mut output, notes) = Output::open(&home.at("a/report"), record()).unwrap();
    output.append(&sample(0)).unwrap();
    assert!(notes.is_empty() && !home.at("a/report").exists());
    assert_eq!(
        output.unfinished(),
        home.at("a/report.partial/results.jsonl")
    );
    let (page, notes) = output.finish("page", "{}").unwrap();
    assert_eq!((page, notes.len()), (home.at("a/report/index.html"), 0));
    let mut names: Vec<_> = std::fs::read_dir(home.at("a/report"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(
        names,
        ["index.html", "report.json", "results.jsonl", "run.json"]
    );
    assert!(!home.at("a/report.partial").exists());
}

#[test]
fn every_finished_report_is_kept_until_there_are_too_many() {
    let home = Home::new();
    assert!(home.run("page 0").is_empty());
    for number in 1..=10 {
        let notes = home.run(&format!("page {number}"));
        assert!(notes[0].contains("report.old"), "{notes:?}");
    }
    // The last, and ten before.
    assert_eq!(home.names().len(), 11);
    assert_eq!(home.read("report/index.html"), "page 10");
    assert_eq!(home.read("report.old/index.html"), "page 9");
    assert_eq!(home.read("report.old.1/index.html"), "page 8");
    assert_eq!(home.read("report.old.9/index.html"), "page 0");
    let notes = home.run("page 11");
    assert!(notes[0].contains("report.old.9, the oldest, is removed"));
    assert_eq!(home.read("report.old.9/index.html"), "page 1");
    // Files of the user's beside ours are a reason to keep it.
    std::fs::write(home.at("report.old.9/notes.txt"), "mine").unwrap();
    home.run("page 12");
    assert_eq!(home.read("report.old.10/notes.txt"), "mine");
    assert_eq!(home.read("report.old.9/index.html"), "page 2");
    // A gap is filled before anything is moved further.
    std::fs::remove_dir_all(home.at("report.old.1")).unwrap();
    home.run("page 13");
    assert_eq!(home.read("report.old.1/index.html"), "page 11");
    assert_eq!(home.read("report.old.9/index.html"), "page 2");
}

#[test]
fn an_interrupted_run_leaves_the_report_and_goes_on() {
    let home = Home::new();
    home.run("old");
    home.interrupted(3);
    assert_eq!(home.read("report/index.html"), "old");
    assert_eq!(home.read("report.partial/index.html"), "partial page");
    let Resumed {
        mut output,
        record,
        samples,
        notes,
    } = Output::resume(&home.at("report")).unwrap();
    assert_eq!((samples.len(), record.seed, notes.len()), (3, 7, 0));
    output.append(&sample(3)).unwrap();
    output.finish("new", "{}").unwrap();
    assert_eq!(home.read("report/results.jsonl").lines().count(), 4);
    assert_eq!(home.names(), ["report", "report.old"]);
    refused(Output::resume(&home.at("report")), "no interrupted run in");
}

#[test]
fn samples_that_turn_out_to_be_wrong_are_written_anew() {
    let home = Home::new();
    let (mut output, _) = home.open().unwrap();
    let mut first = sample(0);
    output.append(&first).unwrap();
    first.status = Status::Wrong;
    output.rewrite(&[&first]).unwrap();
    output.append(&sample(1)).unwrap();
    let raw = output.raw().unwrap();
    let samples = raw.lines().map(serde_json::from_str::<Sample>);
    let statuses: Vec<Status> = samples.map(|sample| sample.unwrap().status).collect();
    assert_eq!(statuses, [Status::Wrong, Status::Ok]);
}

#[test]
fn a_line_that_a_killed_run_did_not_finish_is_dropped() {
    let home = Home::new();
    home.interrupted(2);
    let path = home.at("report.partial/results.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{text}{}", &text[..40])).unwrap();
    let Resumed {
        mut output,
        samples,
        notes,
        ..
    } = Output::resume(&home.at("report")).unwrap();
    assert_eq!(samples.len(), 2);
    assert!(notes[0].contains("the last line of"), "{notes:?}");
    output.append(&sample(2)).unwrap();
    assert_eq!(output.raw().unwrap().lines().count(), 3);
    drop(output);
    // Damage elsewhere is no accident of ours.
    std::fs::write(&path, format!("{{\n{text}")).unwrap();
    refused(
        Output::resume(&home.at("report")),
        "results.jsonl:1: not a sample",
    );
    std::fs::write(&path, text).unwrap();
    std::fs::remove_file(home.at("report.partial/run.json")).unwrap();
    refused(Output::resume(&home.at("report")), "cannot be resumed");
}

#[test]
fn a_new_run_keeps_an_interrupted_one() {
    let home = Home::new();
    home.interrupted(3);
    let (mut output, notes) = home.open().unwrap();
    assert!(
        notes[0].starts_with("3 samples of an interrupted run, with which --resume would"),
        "{notes:?}"
    );
    output.append(&sample(0)).unwrap();
    output.finish("page", "{}").unwrap();
    assert_eq!(home.names(), ["report", "report.partial.old"]);
    refused(Output::resume(&home.at("report")), "report.partial.old");
    // A run without a sample replaces none.
    home.interrupted(5);
    home.open().unwrap().0.discard();
    assert_eq!(home.names(), ["report", "report.partial"]);
    assert_eq!(resume::count(&home.at("report.partial/results.jsonl")), 5);
}

#[test]
fn a_run_without_a_sample_leaves_no_trace() {
    let home = Home::new();
    home.run("old");
    home.open().unwrap().0.discard();
    assert_eq!(home.names(), ["report"]);
    assert_eq!(home.read("report/index.html"), "old");
}

#[test]
fn two_runs_do_not_write_to_one_place() {
    let home = Home::new();
    let (first, _) = home.open().unwrap();
    refused(home.open(), "another comparison");
    refused(Output::resume(&home.at("report")), "another comparison");
    first.finish("page", "{}").unwrap();
    assert!(home.open().is_ok());
}

#[test]
fn only_our_own_directories_are_written_to() {
    let home = Home::new();
    // A web site, another program's results, a file.
    std::fs::create_dir(home.at("report")).unwrap();
    std::fs::write(home.at("report/index.html"), "hello").unwrap();
    refused(home.open(), "index.html");
    std::fs::write(home.at("report/results.jsonl"), "{\"mine\": 1}\n").unwrap();
    refused(home.open(), "holds files that no comparison wrote");
    refused(
        Output::open(&home.at("report/index.html"), record()),
        "is not a directory",
    );
    assert_eq!(home.read("report/index.html"), "hello");
    assert_eq!(home.names(), ["report"]);
    // An empty one is free to be used.
    std::fs::remove_dir_all(home.at("report")).unwrap();
    std::fs::create_dir(home.at("report")).unwrap();
    home.run("page");
    assert_eq!(home.names(), ["report"]);
    // What is in the way of an earlier report, or of the run itself.
    for name in ["report.old", "report.old.3", "report.partial"] {
        std::fs::create_dir(home.at(name)).unwrap();
        std::fs::write(home.at(name).join("thesis.tex"), "mine").unwrap();
        refused(
            home.open(),
            &format!("{name} holds files that no comparison"),
        );
        std::fs::remove_dir_all(home.at(name)).unwrap();
    }
    for dir in [".", "..", "/", "a/.."] {
        refused(Output::open(Path::new(dir), record()), "cannot be renamed");
    }
}

#[test]
fn symbolic_links_are_neither_followed_nor_renamed() {
    let home = Home::new();
    std::fs::create_dir(home.at("elsewhere")).unwrap();
    for name in ["report", "report.partial"] {
        for target in ["elsewhere", "nowhere"] {
            symlink(home.at(target), home.at(name)).unwrap();
            refused(home.open(), "is a symbolic link");
            std::fs::remove_file(home.at(name)).unwrap();
        }
    }
    home.run("page");
    symlink(home.at("elsewhere"), home.at("report.old")).unwrap();
    refused(home.open(), "is a symbolic link");
    std::fs::remove_file(home.at("report.old")).unwrap();
    // One that comes while the run goes on.
    let (output, _) = home.open().unwrap();
    symlink(home.at("elsewhere"), home.at("report.old")).unwrap();
    refused(output.finish("page 2", "{}"), "is a symbolic link");
    assert_eq!(home.read("report/index.html"), "page");
    assert_eq!(home.read("report.partial/index.html"), "page 2");
    std::fs::remove_file(home.at("report.old")).unwrap();
    // A file that is a link is not written through.
    std::fs::write(home.at("precious"), "mine").unwrap();
    std::fs::remove_file(home.at("report.partial/results.jsonl")).unwrap();
    symlink(home.at("precious"), home.at("report.partial/results.jsonl")).unwrap();
    assert!(home.open().is_err());
    assert!(Output::resume(&home.at("report")).is_err());
    assert_eq!(home.read("precious"), "mine");
    assert_eq!(std::fs::read_dir(home.at("elsewhere")).unwrap().count(), 0);
}

/// A FIFO that nobody reads or writes keeps whom waiting who opens it.
#[test]
fn a_fifo_in_the_place_of_a_file_is_refused() {
    let home = Home::new();
    for name in ["results.jsonl", "run.json"] {
        home.interrupted(2);
        let path = home.at("report.partial").join(name);
        std::fs::remove_file(&path).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        let error = Output::resume(&home.at("report")).err().unwrap();
        let told = error.to_string();
        assert!(told.contains("expected a regular file"), "{told}");
        let _ = home.open().map(|(output, _)| output.discard());
        let _ = std::fs::remove_dir_all(home.at("report.partial"));
        let _ = std::fs::remove_dir_all(home.at("report.partial.old"));
    }
    // One that comes while the run goes on.
    let (mut output, _) = home.open().unwrap();
    let path = output.unfinished();
    output.append(&sample(1)).unwrap();
    std::fs::remove_file(&path).unwrap();
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.unwrap().success());
    assert!(output.raw().is_err());
}

#[test]
fn a_place_that_cannot_be_written_is_named() {
    let home = Home::new();
    std::fs::write(home.at("file"), "").unwrap();
    let error = Output::open(&home.at("file/report"), record())
        .err()
        .unwrap();
    assert!(error.to_string().contains("file"), "{error}");
    let error = Output::open(Path::new("/proc/report"), record())
        .err()
        .unwrap();
    assert!(
        error
            .to_string()
            .contains("cannot make the directory /proc/report.partial"),
        "{error}"
    );
}

#[test]
fn another_machine_is_noticed() {
    let record = record();
    assert_eq!(record.other_machine(&record.machine), None);
    let mut other = record.machine.clone();
    other.cpus += 1;
    let text = record.other_machine(&other).unwrap();
    assert!(
        text.starts_with("Begun on ") && text.contains("processors"),
        "{text}"
    );
}

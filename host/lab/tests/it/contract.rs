//! The documents and Heddle's own experiments say what the code reads.

use heddle_lab::experiment::{Experiment, Form, Mode};
use heddle_lab::run::Earlier;
use heddle_results::Kind;
use std::path::{Path, PathBuf};

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The blocks of a language in docs/workloads.md.
fn examples(language: &str) -> Vec<String> {
    let text = std::fs::read_to_string(top().join("docs/workloads.md")).unwrap();
    let start = format!("```{language}\n");
    text.split(&start)
        .skip(1)
        .map(|rest| rest.split_once("```").expect("its end").0.to_owned())
        .collect()
}

/// The first of them.
fn example(language: &str) -> String {
    examples(language).swap_remove(0)
}

#[test]
fn the_documented_experiment_is_valid() {
    let experiment = Experiment::parse(&example("toml"), Path::new("/x/b1-switch.toml")).unwrap();
    assert_eq!(experiment.points(Mode::Quick).len(), 4);
    assert_eq!(experiment.points(Mode::Full).len(), 8);
    assert_eq!(experiment.claims().count(), 1);
    assert_eq!(
        experiment.models().collect::<Vec<_>>(),
        ["serial", "fiber/asm", "process/pipe", "goroutine"]
    );
}

#[test]
fn the_documented_table_and_series_are_valid() {
    let text = examples("toml").concat();
    let experiment = Experiment::parse(&text, Path::new("/x/b1-switch.toml")).unwrap();
    let claims: Vec<_> = experiment.claims().collect();
    let ids: Vec<_> = claims.iter().map(|claim| claim.id.as_str()).collect();
    assert_eq!(
        ids,
        ["b1.thread", "b1.table", "b1.goroutine-2", "b1.goroutine-8"]
    );
    let table = claims[1];
    assert_eq!(table.why, ["voluntary_switches", "strand_switches"]);
    assert_eq!(table.short.as_deref(), Some("Execution time ratio CM/CP"));
    let Form::Table(cells) = &table.form else {
        panic!("a table");
    };
    assert_eq!(cells.len(), 3);
    let first = &cells[0].claim;
    assert_eq!(first.at["n"], 2);
    assert_eq!(first.at["opt"], "O2");
    assert_eq!(first.bound.to_string(), "0.827 … 1.027");
    assert_eq!(cells[2].claim.figure.as_deref(), Some("95.0"));
    let question = claims[3];
    assert_eq!(question.kind, Kind::Question);
    assert_eq!(
        question.words,
        "Is a goroutine faster than a process between 8, too?"
    );
}

#[test]
fn the_documented_line_makes_a_good_sample() {
    let home = tempfile::tempdir().unwrap();
    let line = example("json").replace('\n', " ");
    std::fs::write(home.path().join("line"), format!("{line}\n")).unwrap();
    let text = r#"
        id = "doc"
        title = "t"
        workload = "switch"
        metric = { name = "switch_ns", label = "time per switch", unit = "ns" }
        quick = {}
        program = [{ command = ["sh", "-c", "cat '{dir}/line' # {model}"], models = ["fiber/asm"] }]
    "#;
    std::fs::write(home.path().join("doc.toml"), text).unwrap();
    let experiments = [Experiment::read(&home.path().join("doc.toml")).unwrap()];
    let options = options(Some(1));
    let report = heddle_lab::compare(
        &experiments,
        &options,
        vec![],
        &Earlier::default(),
        &mut Quiet,
    )
    .unwrap();
    let cell = &report.experiments[0].groups[0].series[0].cells[0];
    assert_eq!(cell.failures, [], "{:?}", report.experiments[0].troubles);
    assert_eq!(cell.values, [2.06]);
    assert_eq!(cell.counters["strand_switches"], 200_000.0);
    assert!(
        cell.counters["peak_rss_bytes"] > 0.0,
        "the kernel's counters are added"
    );
    assert_eq!(report.builds[0]["compiler"], "GCC 12.2.0");
}

#[test]
fn heddles_own_experiments_are_valid() {
    let (mut count, mut wrong) = (0, Vec::new());
    for entry in std::fs::read_dir(top().join("lab/experiments")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        count += 1;
        match Experiment::read(&path) {
            Ok(experiment) => wrong.extend(own(&experiment)),
            Err(error) => wrong.push(error.to_string()),
        }
    }
    assert!(count >= 6, "{count} experiments");
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// What is wrong with an experiment of ours, though it may be right with a user's.
fn own(experiment: &Experiment) -> Vec<String> {
    let mut wrong = Vec::new();
    for model in experiment.models() {
        if !heddle_lab::models::KNOWN.contains(&model) {
            wrong.push(format!("{model} is not in the closed list"));
        }
    }
    // Our own suites reproduce no source. An explaining variant of ours says so, and may have no
    // claim.
    let place = experiment.source.as_ref().map(|source| &source.place);
    if place.is_none() && experiment.suite.is_none() {
        wrong.push("neither a source nor a suite".into());
    }
    let ours = place.is_some_and(|place| place.contains("ours"));
    if experiment.claims().count() == 0 && !ours {
        wrong.push("no claim".into());
    }
    let file = |message| format!("{}.toml: {message}", experiment.id);
    wrong.into_iter().map(file).collect()
}

pub fn options(samples: Option<u32>) -> heddle_lab::run::Options {
    heddle_lab::run::Options {
        mode: Mode::Quick,
        models: vec![],
        samples,
        timeout: None,
        budget: std::time::Duration::from_secs(240),
        seed: 1,
        shard: None,
        trace: None,
        lab: "/nowhere".into(),
    }
}

pub struct Quiet;

impl heddle_lab::run::Watcher for Quiet {
    fn step(&mut self, _: &heddle_lab::run::Step) -> heddle_lab::Result<()> {
        Ok(())
    }
    fn note(&mut self, _: &str) {}
}

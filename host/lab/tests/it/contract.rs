//! The documents and Heddle's own experiments say what the code reads.

use heddle_lab::experiment::{Experiment, Mode};
use heddle_lab::run::Earlier;
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
fn the_documented_series_is_valid() {
    let text = examples("toml").concat();
    let experiment = Experiment::parse(&text, Path::new("/x/b1-switch.toml")).unwrap();
    let claims: Vec<_> = experiment.claims().collect();
    let ids: Vec<_> = claims.iter().map(|claim| claim.id.as_str()).collect();
    assert_eq!(
        ids,
        ["b1.thread", "b1.table-2", "b1.table-8", "b1.table-32"]
    );
    let first = claims[1];
    assert_eq!(first.at["n"], 2);
    assert_eq!(first.at["opt"], "O2");
    assert_eq!(first.bound.to_string(), "0.827 … 1.027");
    assert_eq!(claims[3].figure.as_deref(), Some("95.0"));
    assert_eq!(first.why, ["voluntary_switches", "strand_switches"]);
    assert_eq!(first.short.as_deref(), Some("Execution time ratio CM/CP"));
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
    let mut count = 0;
    for entry in std::fs::read_dir(top().join("lab/experiments")).unwrap() {
        let path = entry.unwrap().path();
        let experiment = Experiment::read(&path).unwrap_or_else(|error| panic!("{error}"));
        for model in experiment.models() {
            assert!(
                heddle_lab::models::KNOWN.contains(&model),
                "{}: {model} is not in the closed list",
                path.display()
            );
        }
        // Our own suites reproduce no source. An explaining variant of ours says so, and may have
        // no claim.
        let place = experiment.source.as_ref().map(|source| &source.place);
        assert!(
            place.is_some() || experiment.suite.is_some(),
            "{}: neither a source nor a suite",
            path.display()
        );
        assert!(
            experiment.claims().count() > 0 || place.is_some_and(|place| place.contains("ours")),
            "{}: no claim",
            path.display()
        );
        count += 1;
    }
    assert!(count >= 6, "{count} experiments");
}

pub fn options(samples: Option<u32>) -> heddle_lab::run::Options {
    heddle_lab::run::Options {
        mode: Mode::Quick,
        models: vec![],
        samples,
        timeout: None,
        budget: std::time::Duration::from_secs(240),
        seed: 1,
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

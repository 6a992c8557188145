//! Models whose results differ: programs that print what the test says.

use super::contract::{Quiet, options};
use heddle_lab::experiment::Experiment;
use heddle_lab::run::{Earlier, Step, Watcher};
use heddle_results::{Report, Sample, Status};
use std::path::Path;

/// The experiment whose models `a`, `b`, `c` … print these members in their lines, with a parameter
/// `n` of their own where it is given.
fn experiment(models: &[(&str, Option<u32>)]) -> Experiment {
    let mut text = r#"
        id = "made-up"
        title = "t"
        workload = "w"
        metric = { name = "wall_ns", label = "time", unit = "ns" }
        quick = {}
    "#
    .to_owned();
    for (model, (members, n)) in ["a", "b", "c"].iter().zip(models) {
        let line = format!(
            r#"{{"model":"{model}","oracle":{{"ok":true}},{members}"metrics":{{"wall_ns":1}}}}"#
        );
        text.push_str(&format!(
            "[[program]]\nmodels = [\"{model}\"]\n\
             command = [\"sh\", \"-c\", 'echo \"$1\"', \"-\", '{line}']\n"
        ));
        if let Some(n) = n {
            text.push_str(&format!("[program.quick]\nn = {n}\n"));
        }
    }
    Experiment::parse(&text, Path::new("/made-up.toml")).unwrap()
}

/// Keeps what is revised.
#[derive(Default)]
struct Revised(Vec<Sample>);

impl Watcher for Revised {
    fn step(&mut self, _: &Step) -> heddle_lab::Result<()> {
        Ok(())
    }
    fn note(&mut self, _: &str) {}
    fn revised(&mut self, samples: &[&Sample]) -> heddle_lab::Result<()> {
        self.0 = samples.iter().copied().cloned().collect();
        Ok(())
    }
}

fn compared(models: &[(&str, Option<u32>)], watcher: &mut dyn Watcher) -> Report {
    let experiments = [experiment(models)];
    let (options, earlier) = (options(Some(2)), Earlier::default());
    heddle_lab::compare(&experiments, &options, vec![], &earlier, watcher).unwrap()
}

/// How many samples of each model are wrong.
fn wrong(report: &Report) -> Vec<usize> {
    let series = &report.experiments[0].groups[0].series;
    let failures = series.iter().map(|series| &series.cells[0].failures);
    failures
        .map(|failures| failures.iter().filter(|it| **it == Status::Wrong).count())
        .collect()
}

const FOUR: (&str, Option<u32>) = (r#""result":"4","#, None);
const FIVE: (&str, Option<u32>) = (r#""result":"5","#, None);
const ABSENT: (&str, Option<u32>) = ("", None);

#[test]
fn equal_results_and_absent_ones_are_right() {
    for models in [[FOUR, FOUR, FOUR], [FOUR, ABSENT, FOUR], [ABSENT; 3]] {
        let report = compared(&models, &mut Quiet);
        assert_eq!(wrong(&report), [0, 0, 0], "{models:?}");
        assert_eq!(heddle_lab::exit_code(&report), 0);
    }
}

#[test]
fn the_minority_is_wrong() {
    let mut revised = Revised::default();
    let report = compared(&[FOUR, FIVE, FOUR], &mut revised);
    assert_eq!(wrong(&report), [0, 2, 0]);
    assert_eq!(heddle_lab::exit_code(&report), 3);
    let troubles = report.experiments[0].troubles.concat();
    let expected = r#"its result is "5", that of a, c is "4""#;
    assert!(troubles.contains(expected), "{troubles}");
    let statuses = revised.0.iter().map(|it| (&*it.model, it.status));
    let bad: Vec<_> = statuses.filter(|(_, it)| *it != Status::Ok).collect();
    assert_eq!(bad, [("b", Status::Wrong); 2]);
}

#[test]
fn without_a_majority_all_are_wrong() {
    let report = compared(&[FOUR, FIVE], &mut Quiet);
    assert_eq!(wrong(&report), [2, 2]);
    let troubles = report.experiments[0].troubles.concat();
    for expected in [
        r#"its result is "4", that of b is "5""#,
        r#"its result is "5", that of a is "4""#,
    ] {
        assert!(troubles.contains(expected), "{troubles}");
    }
}

#[test]
fn other_parameters_may_have_another_result() {
    let report = compared(&[(FOUR.0, Some(1)), (FIVE.0, Some(2))], &mut Quiet);
    assert_eq!(wrong(&report), [0, 0]);
    let report = compared(&[(FOUR.0, Some(1)), (FIVE.0, Some(1))], &mut Quiet);
    assert_eq!(wrong(&report), [2, 2]);
}

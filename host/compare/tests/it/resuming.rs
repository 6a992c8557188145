//! How `heddle compare` keeps reports, and goes on with a run that was interrupted or killed.

use crate::house::{House, RATIO, TWICE};
use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;
use std::collections::BTreeMap;

/// Two models at three points, and a claim.
fn swept(house: &House, script: &str) {
    house.mine(script, "'fast', 'slow'", "");
    house.edit(
        "timeout_s = 20",
        "timeout_s = 20, sweep = [{ n = [1, 2, 3] }]",
    );
}

/// What a sample is, without what differs from run to run.
fn cells(house: &House, dir: &str) -> Vec<(String, String, u64, u64)> {
    let samples = house.samples_in(dir);
    let one = |sample: &serde_json::Value| {
        let number = |name: &str| sample[name].as_u64().unwrap();
        (
            sample["model"].as_str().unwrap().to_owned(),
            sample["point"].to_string(),
            number("sample"),
            number("order"),
        )
    };
    samples.iter().map(one).collect()
}

/// Ends the runner, by this signal, in the sample in which so many have been taken.
fn ends_at(samples: u32, signal: &str) -> String {
    format!(
        "echo >> taken; [ -e stop ] && [ $(wc -l < taken) = {samples} ] && {{ kill -{signal} $PPID; sleep 600; }}\n{TWICE}"
    )
}

/// A run of `own/` that is ended within the given sample; the warm-up is one, too.
fn ended(house: &House, samples: u32, signal: &str) {
    swept(house, &ends_at(samples + 1, signal));
    house.write("own/stop", "");
    let assert = house.compare(&["own/", "-n", "8"]).assert();
    match signal {
        "KILL" => assert.interrupted(),
        _ => assert.code(130),
    };
    std::fs::remove_file(house.path("own/stop")).unwrap();
}

/// Goes on; the seed is the run's own.
fn resume(house: &House, arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("heddle-compare").unwrap();
    command.arg("--resume").args(arguments);
    command
        .current_dir(house.home.path())
        .env("HEDDLE_LAB", house.path("lab"));
    command
}

#[test]
fn a_killed_or_interrupted_run_goes_on_as_if_nothing_had_happened() {
    let whole = House::new();
    swept(&whole, &ends_at(0, "KILL"));
    whole.compare(&["own/", "-n", "8"]).assert().code(0);
    let expected = cells(&whole, "report");
    assert_eq!(expected.len(), 6 * 8);
    // In the first round, at the end of a round, within a later one.
    for (samples, signal) in [(3, "KILL"), (13, "INT"), (21, "KILL"), (48, "KILL")] {
        let house = House::new();
        ended(&house, samples, signal);
        let there = house.samples_in("report.partial").len();
        assert_eq!(there, samples as usize - 1);
        assert!(!house.path("report").exists());
        resume(&house, &[])
            .assert()
            .code(0)
            .stderr(contains(format!(
                "going on with mine, {there} samples are there"
            )))
            .stdout(contains(format!(
                "Interrupted after {there} samples, and resumed"
            )));
        // The same cells, in the same order.
        assert_eq!(cells(&house, "report"), expected, "{samples} {signal}");
        assert!(!house.path("report.partial").exists());
        assert!(house.path("report/run.json").exists());
    }
}

#[test]
fn a_run_may_be_interrupted_again_and_again() {
    let house = House::new();
    ended(&house, 5, "INT");
    for more in [6, 7] {
        let taken = house.samples_in("report.partial").len();
        let script = ends_at(more, "INT").replace("taken", &format!("taken-{more}"));
        house.write("own/stop", "");
        let prog = std::fs::read_to_string(house.path("own/prog")).unwrap();
        let preamble = prog.split("echo >> taken").next().unwrap().to_owned();
        house.write("own/prog", &format!("{preamble}{script}"));
        resume(&house, &[]).assert().code(130);
        assert!(house.samples_in("report.partial").len() > taken);
        assert!(
            house
                .page_in("report.partial")
                .contains("Partial: interrupted")
        );
        std::fs::remove_file(house.path("own/stop")).unwrap();
    }
    resume(&house, &[]).assert().code(0);
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    for (model, point, ..) in cells(&house, "report") {
        *counts.entry((model, point)).or_default() += 1;
    }
    assert_eq!(counts.into_values().collect::<Vec<_>>(), [8; 6]);
}

#[test]
fn a_line_that_was_not_finished_is_taken_again() {
    let house = House::new();
    ended(&house, 20, "KILL");
    let path = house.path("report.partial/results.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, &text[..text.len() - 30]).unwrap();
    resume(&house, &[])
        .assert()
        .code(0)
        .stderr(contains("is not whole, and is dropped").and(contains("18 samples are there")));
    assert_eq!(house.samples().len(), 6 * 8);
}

#[test]
fn a_resumed_run_is_as_it_was_begun() {
    let house = House::new();
    resume(&house, &[])
        .assert()
        .code(2)
        .stderr(contains("there is no interrupted run in report.partial"));
    ended(&house, 5, "INT");
    for (arguments, left_out) in [
        (&["own/"][..], "names of experiments"),
        (&["-n", "9"], "--samples"),
        (&["--seed", "2"], "--seed"),
        (&["--full"], "--full"),
        (&["--all"], "--all"),
        (&["-m", "fast"], "--model"),
        (&["--budget", "9"], "--budget"),
    ] {
        resume(&house, arguments).assert().code(2).stderr(
            contains("--resume goes on with the experiments, options and seed")
                .and(contains(format!("leave {left_out} out"))),
        );
    }
    resume(&house, &["--suite", "speed", "-o", "report"])
        .assert()
        .code(2)
        .stderr(contains("of another suite: none"));
    house.edit("A fifth workload", "Another workload");
    resume(&house, &[]).assert().code(2).stderr(
        contains("own/mine.toml has changed since this run began").and(contains("begin anew")),
    );
    house.edit("Another workload", "A fifth workload");
    // The run began elsewhere.
    let path = house.path("report.partial/run.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut record: serde_json::Value = serde_json::from_str(&text).unwrap();
    record["machine"]["kernel"] = "Linux 2.4".into();
    std::fs::write(&path, record.to_string()).unwrap();
    resume(&house, &[])
        .assert()
        .code(0)
        .stderr(contains("warning: Begun on Linux 2.4, resumed on "))
        .stdout(contains("Begun on Linux 2.4, resumed on "));
}

#[test]
fn the_time_that_was_spent_counts() {
    let house = House::new();
    swept(&house, TWICE);
    house.edit("timeout_s = 20", "timeout_s = 20, expected_s = 100");
    // All of the budget was spent, so that no more than the fewest samples are taken.
    let mut command = house.compare(&["own/", "--budget", "30"]);
    let script = std::fs::read_to_string(house.path("own/prog")).unwrap();
    let ends = "echo >> taken; [ $(wc -l < taken) = 20 ] && { kill -INT $PPID; sleep 600; }\n";
    house.write(
        "own/prog",
        &script.replace(TWICE, &format!("{ends}{TWICE}")),
    );
    command.assert().code(130);
    let path = house.path("report.partial/run.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut record: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert!(record["elapsed_ns"].as_u64().unwrap() > 0);
    record["elapsed_ns"] = 40_000_000_000_u64.into();
    std::fs::write(&path, record.to_string()).unwrap();
    resume(&house, &[]).assert().code(0).stdout(contains(
        "10 samples a cell instead of 20, to end within 30 s",
    ));
    assert_eq!(house.samples().len(), 60);
}

#[test]
fn more_samples_for_open_claims_are_decided_once() {
    let house = House::new();
    // 3.5 % apart with noise of 6 %, which is large for one model where it is small for the other,
    // against a bound of 3.4 %.
    let script = "echo >> taken; [ -e stop ] && [ $(wc -l < taken) = 46 ] && { kill -KILL $PPID; sleep 600; }\n\
                  d=$(( (s * s * 7) % 61 )); b=$(( 1000 + d )); [ $m = slow ] && b=$(( 1095 - d )); line $b\n";
    house.mine(
        script,
        "'fast', 'slow'",
        &RATIO.replace("min = 1.8, max = 2.2", "min = 1.034"),
    );
    house.write("own/stop", "");
    house.compare(&["own/"]).assert().interrupted();
    let text = std::fs::read_to_string(house.path("report.partial/run.json")).unwrap();
    let record: serde_json::Value = serde_json::from_str(&text).unwrap();
    let target = record["second_look"]["targets"][0].as_u64().unwrap();
    assert!(
        target > 22 && record["second_look"]["first"] == 20,
        "{text}"
    );
    std::fs::remove_file(house.path("own/stop")).unwrap();
    resume(&house, &["--verbose"])
        .assert()
        .code(0)
        .stdout(contains(format!(
            "Additional samples, for claims that the first 20 a cell left inconclusive: {}.",
            2 * (target - 20)
        )));
    assert_eq!(house.count("model", "fast") as u64, target);
}

#[test]
fn a_run_of_one_experiment_keeps_the_report_of_many() {
    let house = House::new();
    house.mine(TWICE, "'fast', 'slow'", "");
    house.compare(&["own/", "-n", "9"]).assert().code(0);
    house
        .compare(&["own/mine.toml", "-n", "1"])
        .assert()
        .code(0)
        .stderr(contains(
            "the report that was in report is kept in report.old\n",
        ));
    assert_eq!(house.samples_in("report.old").len(), 18);
    assert_eq!(house.samples().len(), 2);
    // An interrupted one touches neither.
    ended(&house, 5, "INT");
    assert_eq!(house.samples_in("report.old").len(), 18);
    assert_eq!(house.samples().len(), 2);
    // The next one keeps what was interrupted, too.
    house
        .compare(&["own/", "-n", "1"])
        .assert()
        .code(0)
        .stderr(contains(
            "4 samples of an interrupted run, with which --resume would have gone on, are kept in report.partial.old\n",
        ));
    assert_eq!(house.samples_in("report.partial.old").len(), 4);
    assert_eq!(house.samples_in("report.old.1").len(), 18);
}

#[test]
fn a_suite_has_a_report_of_its_own() {
    let house = House::new();
    house.mine(TWICE, "'fast', 'slow'", "");
    let text = std::fs::read_to_string(house.path("own/mine.toml")).unwrap();
    let text = text.replace("'./prog'", "'{lab}/../own/prog'");
    house.write(
        "lab/experiments/mine.toml",
        &format!("suite = 'speed'\n{text}"),
    );
    let mut command = house.compare(&["--suite", "speed", "-n", "6"]);
    command.env("HEDDLE_FRONT_DOOR", "./dev");
    command.assert().code(0).stdout(
        contains("REPORT   report-speed/index.html\n").and(contains("./dev bench --show mine\n")),
    );
    assert!(house.path("report-speed/report.json").exists());
    assert!(!house.path("report").exists());
}

#[test]
fn a_directory_that_is_a_link_is_refused() {
    let house = House::new();
    house.mine(TWICE, "'fast'", "");
    house.write("elsewhere/mine.txt", "mine");
    for name in ["report", "report.partial"] {
        std::os::unix::fs::symlink(house.path("elsewhere"), house.path(name)).unwrap();
        house
            .compare(&["own/", "-n", "1"])
            .assert()
            .code(2)
            .stderr(contains(format!("{name} is a symbolic link")));
        std::fs::remove_file(house.path(name)).unwrap();
    }
    let left = std::fs::read_dir(house.path("elsewhere")).unwrap();
    assert_eq!(left.count(), 1);
}

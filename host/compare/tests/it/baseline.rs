//! `--save` and `--against`: a change that makes a program slower is told, with exit code 3.

use crate::house::House;
use predicates::prelude::{PredicateBooleanExt, predicate::str::contains};

/// `fast` takes 1000 and `slow` 2000, and a little more from sample to sample.
const PROGRAM: &str = "b=1000; [ $m = slow ] && b=2000; line $(( b + noise ))\n";

#[test]
fn a_program_that_has_become_slower_is_told() {
    let house = House::new();
    house.mine(PROGRAM, "'fast', 'slow'", "");
    let none = ["own/", "-n", "12", "--against", "main"];
    house.compare(&none).assert().code(2).stderr(contains(
        "there is no saved run in baselines/main.jsonl: `--save main` instead of `--against main`",
    ));
    assert!(!house.path("report").exists(), "nothing was run");

    for name in ["mian", "release-2"] {
        house.write(&format!("baselines/{name}.jsonl"), "");
    }
    house.compare(&none).assert().code(2).stderr(contains(
        "no saved run in baselines/main.jsonl; did you mean `mian`? (saved here: mian, release-2)",
    ));

    let save = house.compare(&["own/", "-n", "12", "--save", "main"]);
    { save }.assert().success().stderr(contains(
        "saved as run 1 of baselines/main.jsonl; two halves of this run differ by up to 0.",
    ));
    let same = ["own/", "-n", "12", "--against", "main", "--save", "main"];
    house
        .compare(&same)
        .assert()
        .success()
        .stdout(
            contains("AGAINST   main, the last of 1 saved runs: ").and(contains(
                "SAME      2 of 2 cells: no significant change larger than that",
            )),
        )
        .stderr(contains("saved as run 2 of baselines/main.jsonl\n"));

    let slower = PROGRAM.replace("b=2000", "b=2200");
    house.mine(&slower, "'fast', 'slow'", "");
    let against = ["own/", "-n", "12", "--against", "main"];
    let mut here = house.compare(&against);
    here.env("GITHUB_ACTIONS", "true")
        .env("GITHUB_STEP_SUMMARY", house.path("summary.md"));
    here.assert().code(3).stdout(
        contains("WORSE     mine slow: 1.10× worse (95 % ")
            .and(contains("::error title=heddle compare::mine slow: 1.10×"))
            .and(contains("the last of 2 saved runs")),
    );
    let summary = std::fs::read_to_string(house.path("summary.md")).unwrap();
    assert!(summary.contains("| mine slow | 1.10× worse"), "{summary}");

    // The user grants more noise, or another model is asked about.
    let wide = [&against[..], &["--noise", "20"]].concat();
    house.compare(&wide).assert().success();
    let other = [&against[..], &["--model", "fast"]].concat();
    house.compare(&other).assert().success();
    // Standard output is JSON, and nothing else.
    let json = [&against[..], &["--json"]].concat();
    let output = house.compare(&json).assert().code(3).get_output().clone();
    serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("1.10× worse"));
}

#[test]
fn a_check_that_compares_nothing_does_not_pass() {
    let house = House::new();
    house.mine(PROGRAM, "'fast', 'slow'", "");
    let save = ["own/", "-n", "6", "--model", "fast", "--save", "main"];
    house.compare(&save).assert().success();
    let other = ["own/", "-n", "6", "--model", "slow", "--against", "main"];
    house.compare(&other).assert().code(1).stderr(
        contains("nothing was compared with `main`, whose last run was quick")
            .and(contains("1 are not in the saved run")),
    );
}

#[test]
fn a_parameter_that_is_fixed_otherwise_makes_other_work() {
    let house = House::new();
    house.mine(PROGRAM, "'fast', 'slow'", "");
    house.edit("timeout_s = 20", "timeout_s = 20, params = { work = 10 }");
    let save = ["own/", "-n", "12", "--save", "main"];
    house.compare(&save).assert().success();
    house.edit("work = 10", "work = 20");
    let against = ["own/", "-n", "12", "--against", "main"];
    house
        .compare(&against)
        .assert()
        .code(1)
        .stderr(contains("2 fix other parameters than in the saved run"));
    // What an earlier Heddle saved has no parameters, and is compared.
    let path = house.path("baselines/main.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let earlier = text.replace("\"fixed\":{\"work\":10},", "");
    assert_ne!(text, earlier);
    std::fs::write(&path, earlier).unwrap();
    house.compare(&against).assert().success();
}

#[test]
fn an_earlier_checkout_is_measured_in_turns_and_compared_in_pairs() {
    let house = House::new();
    // The machine is slow for a while: a sample takes up to four times as long, and so does the one
    // after it. The file is of both programs.
    let script = |base: u32| {
        format!(
            "echo >> ../taken; t=$(wc -l < ../taken); b={base}; [ $m = slow ] && b=$(( 2 * b ))\n\
             line $(( b * (1 + ((t - 1) / 2 * 7) % 4) + noise ))\n"
        )
    };
    house.mine(&script(100000), "'fast', 'slow'", "");
    let status = std::process::Command::new("cp")
        .args(["-r", "own", "before"])
        .current_dir(house.home.path())
        .status();
    assert!(status.unwrap().success());
    // The warm-up has run each program once.
    let same = ["own/", "-n", "12", "--beside", "before"];
    let stdout = contains("AGAINST   before, measured in turns with this: in pairs")
        .and(contains(
            "NOISE     changes up to 5.0 % are not told; what lasts longer",
        ))
        .and(contains("SAME      2 of 2 cells: no significant change"));
    house.compare(&same).assert().code(0).stdout(stdout);
    // Pairs are next to each other.
    let samples = house.samples();
    for pair in samples.chunks(2) {
        let id = |at: usize| pair[at]["experiment"].as_str().unwrap().to_owned();
        let ids = std::collections::BTreeSet::from([id(0), id(1)]);
        assert_eq!(ids.into_iter().collect::<Vec<_>>(), ["mine", "mine@before"]);
        assert_eq!(pair[0]["model"], pair[1]["model"]);
    }
    let first = samples.iter().step_by(2);
    let firsts = first.filter(|it| it["experiment"] == "mine").count();
    assert!((4..=20).contains(&firsts), "{firsts} of 24 begin with ours");

    std::fs::remove_file(house.path("taken")).unwrap();
    house.mine(&script(110000), "'fast', 'slow'", "");
    house.compare(&same).assert().code(3).stdout(
        contains("WORSE     mine slow: 1.10× worse").and(contains("mine fast: 1.10× worse")),
    );
    for (place, error) in [
        ("own", "mine is the same file"),
        ("nowhere", "nowhere does not exist"),
        (
            "lab/experiments",
            "mine is not there, but a1-matrix, b1-switch",
        ),
    ] {
        let wrong = ["own/", "--beside", place];
        house
            .compare(&wrong)
            .assert()
            .code(2)
            .stderr(contains(error));
    }
    let lab = ["b1-switch", "--beside", "elsewhere"];
    let text = std::fs::read_to_string(house.path("lab/experiments/b1-switch.toml")).unwrap();
    house.write("elsewhere/b1-switch.toml", &text);
    let error = "b1-switch runs a program of the lab ({lab}), of which there is one for both";
    house.compare(&lab).assert().code(2).stderr(contains(error));
}

#[test]
fn a_damaged_file_of_saved_runs_is_told_before_anything_runs() {
    let house = House::new();
    house.mine(PROGRAM, "'fast', 'slow'", "");
    house.write("mine/main.jsonl", "half a li");
    let save = ["own/", "--save", "main", "--baselines", "mine"];
    house
        .compare(&save)
        .assert()
        .code(2)
        .stderr(contains("mine/main.jsonl:1: not a saved run").and(contains("remove that line")));
    assert!(!house.path("report").exists(), "nothing was run");
    house
        .compare(&["own/", "--save", "../main"])
        .assert()
        .code(2)
        .stderr(contains("a baseline cannot be called `../main`"));
    house
        .compare(&["own/", "--noise", "5"])
        .assert()
        .code(2)
        .stderr(contains("--against"));
}

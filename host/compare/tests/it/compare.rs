//! How `heddle compare` runs: what it chooses, takes, writes and survives.

use crate::house::{House, RATIO, TWICE, is_match};
use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;
use std::path::Path;

#[test]
fn a_time_budget_is_kept_by_taking_fewer_samples() {
    let house = House::new();
    // 40 samples of 0.1 s and more do not fit into 5.5 s, 20 do, beside a hang of 1.5 s.
    house.mine(
        "[ $m = hangs ] && sleep 60; sleep 0.1; line $(( 1000 + noise ))\n",
        "'one', 'other', 'hangs'",
        "",
    );
    house.edit("timeout_s = 20", "timeout_s = 1.5, expected_s = 4");
    house
        .compare(&["own/", "--budget", "5.5"])
        .assert()
        .code(0)
        .stdout(contains("samples a cell instead of 20, to end within 6 s"))
        .stderr(
            contains("comparing mine, 20 samples a cell, about 4 s (seed 1)\n").and(contains(
                " samples a cell instead of 20, to end within 6 s\n",
            )),
        );
    let count = house.count("model", "one");
    assert!((10..20).contains(&count), "{count}");
    house
        .compare(&["own/", "--list"])
        .assert()
        .code(0)
        .stdout(contains(
            "workload fifth, 3 cells, about 4 s: A fifth workload",
        ));
}

#[test]
fn a_wrong_result_fails_the_comparison() {
    let house = House::new();
    house.mine(
        "[ $m = slow ] && ok=false; line 1000\n",
        "'fast', 'slow', 'third'",
        RATIO,
    );
    house.verbose(&["own/", "-n", "6"]).assert().code(3).stdout(
        contains("mine: slow: 3 of 3 samples had a wrong result: wrong result: the sum; no more were taken")
            .and(contains("slow had a wrong result at its only point"))
            .and(contains("no significant difference between fast and third; not compared, because samples failed: slow.")),
    );
}

#[test]
fn a_hang_is_a_result_and_its_children_are_gone() {
    let house = House::new();
    house.mine(
        "[ $m = slow ] && { sleep 987 & echo $! >> children; wait; }; line 1000\n",
        "'slow', 'fast'",
        "",
    );
    house
        .verbose(&["own/", "-n", "10", "--timeout", "0.5"])
        .assert()
        .code(0)
        .stdout(contains(
            "mine: slow: 2 of 2 samples hung: stopped at the time limit; no more were taken",
        ));
    let children = std::fs::read_to_string(house.path("own/children")).unwrap();
    assert_eq!(
        children.lines().count(),
        3,
        "the warm-up's and two samples'"
    );
    for child in children.lines() {
        let state = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
        assert!(
            !state.contains("(sleep)") || state.contains(") Z "),
            "{child} still runs: {state}"
        );
    }
    assert_eq!(house.count("status", "hung"), 2);
}

#[test]
fn crashes_and_garbage_are_reported_and_fail_the_comparison() {
    for (script, text) in [
        (
            "echo out of luck >&2; kill -SEGV $$",
            "crashed: killed by SIGSEGV; stderr: out of luck",
        ),
        (
            "echo no such file >&2; exit 7",
            "crashed: exit code 7; stderr: no such file",
        ),
        (
            "echo hello",
            "printed garbage: it printed no line that begins with {, but \"hello\"",
        ),
        (
            "yes { | head -c 3000000",
            "printed garbage: it printed more than 1024 KiB",
        ),
        (
            "m=other; line 5",
            "printed garbage: it was asked for model slow and ran \"other\"",
        ),
    ] {
        let house = House::new();
        house.mine(
            &format!("[ $m = slow ] && {{ {script}; exit 0; }}; line 1000\n"),
            "'fast', 'slow'",
            "",
        );
        house
            .verbose(&["own/", "-n", "6"])
            .assert()
            .code(1)
            .stdout(contains(text).and(contains("there is nothing to compare fast with")));
        // The summary has the reason, too, as far as its line goes.
        let (verb, reason) = text.split_once(": ").unwrap();
        let reason: String = reason.chars().take(40).collect();
        let end = reason.rfind(' ').map_or("", |end| &reason[..end]);
        house
            .compare(&["own/", "-n", "6"])
            .assert()
            .stdout(is_match(&format!(
                "(?m)^TROUBLE +mine: slow {verb}\n +first: {}",
                regex::escape(end)
            )));
    }
}

#[test]
fn unknown_names_are_answered_with_the_nearest() {
    let house = House::new();
    house.compare(&["b1-swich"]).assert().code(2).stderr(
        contains("unknown experiment `b1-swich`; did you mean `b1-switch`?")
            .and(contains("a1-matrix, b1-switch")),
    );
    house.mine(TWICE, "'fast', 'slow'", "");
    house
        .compare(&["own/", "--model", "fst"])
        .assert()
        .code(2)
        .stderr(
            contains("a model `fst`; did you mean `fast`?").and(contains("models: fast, slow")),
        );
    house
        .compare(&["./nowhere"])
        .assert()
        .code(2)
        .stderr(contains("./nowhere does not exist"));
    house.compare(&["-n", "0"]).assert().code(2);
    house
        .compare(&["--timeout", "never"])
        .assert()
        .code(2)
        .stderr(contains("expected seconds"));
    assert!(!house.path("report").exists(), "nothing was begun");
}

#[test]
fn a_broken_experiment_file_is_named_with_its_line() {
    let house = House::new();
    house.mine(
        TWICE,
        "'fast', 'slow'",
        &RATIO.replacen("denominator = \"fast\"", "denominator = \"fats\"", 1),
    );
    house.compare(&["own/"]).assert().code(2).stderr(contains(
        "own/mine.toml:21: claim twice: no program runs `fats`; did you mean `fast`?",
    ));
}

#[test]
fn what_is_not_built_is_skipped_with_its_reason() {
    let house = House::new();
    house
        .verbose(&["b1-switch"])
        .assert()
        .code(1)
        .stdout(
            contains("serial in b1-switch: it is not built here (")
                .and(contains("lab/not-built does not exist)")),
        )
        .stderr(contains("no program could be run"));
    assert!(house.page().contains("it is not built here"));
    let text = std::fs::read_to_string(house.path("lab/experiments/b1-switch.toml")).unwrap();
    let text = text.replace("missing = 'it is not built here'\n", "");
    house.write("lab/experiments/b1-switch.toml", &text);
    house
        .verbose(&["b1-switch"])
        .assert()
        .code(1)
        .stdout(contains(
            "not-built does not exist: `./dev compare b1-switch` builds it",
        ))
        .stderr(contains(
            "programs of b1-switch are not built: `./dev compare b1-switch` in a clone of Heddle builds and runs them\n",
        ));
    let mut through_door = house.verbose(&["b1-switch"]);
    through_door.env("HEDDLE_FRONT_DOOR", "./dev");
    let asked_again = contains("builds and runs them").not();
    through_door.assert().code(1).stderr(asked_again);
    std::fs::create_dir_all(house.path("empty/experiments")).unwrap();
    for lab in ["nowhere", "empty"] {
        let mut command = house.verbose(&[]);
        command.env("HEDDLE_LAB", house.path(lab));
        command
            .assert()
            .code(2)
            .stderr(contains("./dev compare").and(contains("HEDDLE_LAB")));
    }
}

#[test]
fn names_choose_among_heddles_own_and_the_users() {
    let house = House::new();
    house.mine(TWICE, "'fast', 'slow'", "");
    for (arguments, ids) in [
        (&[][..], &["a1-matrix", "b1-switch"][..]),
        (&["matrix"], &["a1-matrix"]),
        (&["own/"], &["mine"]),
        (&["own"], &["mine"]),
        (&["own/mine.toml", "own/"], &["mine"]),
        (&["own/", "switch", "fifth"], &["b1-switch", "mine"]),
    ] {
        let output = house.compare(arguments).arg("--list").output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let heads = text.lines().filter(|line| !line.starts_with(' '));
        let found: Vec<&str> = heads.filter_map(|line| line.split("  ").next()).collect();
        assert_eq!(found, ids, "{arguments:?}: {text}");
    }
}

#[test]
fn only_the_models_asked_for_run() {
    let house = House::new();
    house.mine(TWICE, "'fast', 'slow', 'slow/er'", RATIO);
    house
        .verbose(&["own/", "-n", "6", "-m", "slow"])
        .assert()
        .code(0)
        .stdout(contains("fast did not run: left out by --model").and(contains("Skipped:").not()));
    // The model of that very name, and not its family.
    assert_eq!(house.count("model", "slow"), 6);
    assert_eq!(house.samples().len(), 6);
    house
        .verbose(&["own/", "-n", "6", "-m", "slow/*"])
        .assert()
        .code(0);
    assert_eq!(house.count("model", "fast"), 0);
    assert_eq!(house.count("model", "slow/er"), 6);
    assert_eq!(house.samples().len(), 12);
}

#[test]
fn json_is_the_report_and_nothing_else() {
    let house = House::new();
    house.mine(TWICE, "'fast', 'slow'", RATIO);
    let run = || -> heddle_results::Report {
        let output = house
            .compare(&["own/", "-n", "6", "--json", "-o", "elsewhere"])
            .output()
            .unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let (report, again) = (run(), run());
    assert_eq!((report.seed, report.mode.as_str()), (1, "quick"));
    let winner =
        |report: &heddle_results::Report| report.experiments[0].groups[0].winners[0].clone();
    assert_eq!(winner(&report).models, ["fast"]);
    assert!(house.path("elsewhere/index.html").exists() && !house.path("report").exists());
    // The same samples and the same seed say the same to the last digit.
    assert_eq!(
        winner(&report).lead.unwrap().times,
        winner(&again).lead.unwrap().times
    );
}

#[test]
fn somebody_elses_directory_is_left_alone() {
    let house = House::new();
    house.mine(TWICE, "'fast', 'slow'", "");
    house.write("site/index.html", "mine");
    house
        .compare(&["own/", "-o", "site"])
        .assert()
        .code(2)
        .stderr(contains("choose another place with `-o DIR`"));
    assert_eq!(
        std::fs::read_to_string(house.path("site/index.html")).unwrap(),
        "mine"
    );
    assert_eq!(std::fs::read_dir(house.path("site")).unwrap().count(), 1);
}

#[test]
fn what_leaves_its_group_is_gone_before_the_next_sample() {
    let house = House::new();
    // A daemon's way: a session of its own, and a parent that ends.
    house.mine(
        "setsid sh -c 'echo $$ >> pids; exec sleep 600' >/dev/null 2>&1 &\n\
         until [ $(cat pids | wc -l) -gt $s ]; do sleep 0.01; done\n\
         for pid in $(head -n $s pids); do kill -0 $pid 2>/dev/null && ok=false; done; line 1000\n",
        "'fast'",
        "",
    );
    house.write("own/pids", "");
    house.compare(&["own/", "-n", "3"]).assert().code(0);
    assert_eq!(house.samples().len(), 3);
}

#[test]
fn a_sample_has_no_terminal() {
    let house = House::new();
    house.mine(
        "(: >/dev/tty) 2>/dev/null && ok=false; line 1000\n",
        "'fast'",
        "",
    );
    let heddle = Command::cargo_bin("heddle-compare").unwrap();
    let path = heddle.get_program().to_string_lossy().into_owned();
    // The shell that `script` starts has one.
    let inside = format!("(: >/dev/tty) && '{path}' own/ -n 2");
    let output = std::process::Command::new("script")
        .args(["-qec", &inside, "/dev/null"])
        .current_dir(house.home.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}");
}

#[test]
fn a_full_disk_behind_standard_output_is_named() {
    let house = House::new();
    house.mine("line 1000\n", "'fast'", "");
    let heddle = Command::cargo_bin("heddle-compare").unwrap();
    let output = std::process::Command::new(heddle.get_program())
        .args(["own/", "-n", "1"])
        .current_dir(house.home.path())
        .stdout(std::fs::File::create("/dev/full").unwrap())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("cannot write to standard output"), "{text}");
}

#[test]
fn a_sweep_of_a_million_points_is_refused_at_once() {
    let house = House::new();
    house.mine("line 1000\n", "'fast'", "");
    let values: Vec<String> = (0..1000).map(|value| value.to_string()).collect();
    let values = values.join(", ");
    house.edit(
        "quick = { timeout_s = 20 }",
        &format!("quick = {{ sweep = [{{ n = [{values}], k = [{values}] }}] }}"),
    );
    house
        .compare(&["own/"])
        .assert()
        .code(2)
        .stderr(contains("the sweep has 1000000 points"));
}

#[test]
fn a_sample_sees_a_stable_environment() {
    let house = House::new();
    house.mine(
        "env > seen-$s; pwd >> seen-$s; [ -t 0 ] || [ -n \"$(cat)\" ] || line 1000\n",
        "'fast'",
        "",
    );
    let mut command = house.compare(&["own/", "-n", "2"]);
    command
        .env("LANG", "de_DE.UTF-8")
        .env("SECRET", "y")
        .write_stdin("something");
    command.assert().code(0);
    let seen = std::fs::read_to_string(house.path("own/seen-1")).unwrap();
    for line in [
        "LC_ALL=C",
        "HEDDLE_SAMPLE=1",
        "HEDDLE_SEED=1",
        "HEDDLE_EXPERIMENT=mine",
    ] {
        assert!(seen.lines().any(|other| other == line), "{line}: {seen}");
    }
    assert!(
        !seen.contains("SECRET") && !seen.contains("LANG="),
        "{seen}"
    );
    let directory = seen.lines().last().map(Path::new);
    assert_eq!(
        directory,
        Some(house.path("own").canonicalize().unwrap().as_path())
    );
}

#[test]
fn nobody_listening_is_no_reason_to_stop() {
    let house = House::new();
    house.mine(TWICE, "'fast', 'slow'", "");
    let heddle = Command::cargo_bin("heddle-compare")
        .unwrap()
        .get_program()
        .to_owned();
    let status = std::process::Command::new("bash")
        .args([
            "-c",
            "\"$0\" own/ -n 6 2> >(true) | true; exit ${PIPESTATUS[0]}",
        ])
        .arg(heddle)
        .current_dir(house.home.path())
        .status();
    assert_eq!(status.unwrap().code(), Some(0));
    assert_eq!(house.samples().len(), 12);
}

#[test]
fn a_suite_runs_only_when_it_or_its_experiment_is_named() {
    let house = House::new();
    let text = std::fs::read_to_string(house.path("lab/experiments/b1-switch.toml")).unwrap();
    let text = text.replace("b1-switch", "s1-record");
    house.write(
        "lab/experiments/s1-record.toml",
        &format!("suite = 'speed'\n{text}"),
    );
    for (arguments, own, suite) in [
        (&["--list"][..], true, false),
        (&["--list", "--suite", "speed"], false, true),
        (&["--list", "s1-record"], false, true),
        // Both have the workload `switch`.
        (&["--list", "switch"], true, false),
        (&["--list", "switch", "--suite", "speed"], false, true),
    ] {
        let output = house.compare(arguments).assert().code(0);
        let text = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
        assert_eq!(text.contains("b1-switch"), own, "{arguments:?}: {text}");
        assert_eq!(
            text.contains("s1-record  suite speed"),
            suite,
            "{arguments:?}: {text}"
        );
    }
    house
        .compare(&["--suite", "sped"])
        .assert()
        .code(2)
        .stderr(contains("unknown suite `sped`; did you mean `speed`?"));
}

#[test]
fn what_cannot_run_here_is_skipped_where_it_says_so() {
    let house = House::new();
    house.mine(
        "[ $m = ring ] && [ $n = 2 ] && { echo 'error: no ring in this kernel: get a newer one' >&2; exit 77; }\n\
         [ $m = gone ] && { echo 'error: no such device' >&2; exit 77; }\n\
         [ $s = 3 ] && [ $m = late ] && exit 77; line $(( 1000 + noise ))\n",
        "'ring', 'gone', 'late', 'plain'",
        "[[claim]]\nid = 'c'\nwords = 'w'\nreading = 'r'\nsays = 'sameness'\nform = 'ratio'\nnumerator = 'ring'\ndenominator = 'plain'\n\
         over = { n = { min = 1 } }\nbound = { max = 2 }\n",
    );
    house.edit("timeout_s = 20", "timeout_s = 20, sweep = [{ n = [1, 2] }]");
    house.verbose(&["own/", "-n", "6"]).assert().code(1).stdout(
        contains("ring in mine: no ring in this kernel: get a newer one (at 1 of 2 points)")
            .and(contains("gone in mine: no such device\n"))
            .and(contains("ring did not run: no ring in this kernel"))
            // What ran before can run: this is a failure.
            .and(contains(
                "late ×2, first at n=1: 2 of 12 samples crashed: exit code 77",
            )),
    );
    assert_eq!(house.count("model", "ring"), 6);
    assert_eq!(house.count("model", "gone"), 0);
}

#[test]
fn a_model_without_what_it_needs_is_skipped_with_the_reason() {
    let house = House::new();
    house.mine("line 1000\n", "'here'", "");
    let more = "[[program]]\ncommand = ['./prog']\nneeds = ['sh', './no-such-{n}']\nmodels = ['gone']\n\
                missing = 'the peer is missing: install it'\n";
    let text = std::fs::read_to_string(house.path("own/mine.toml")).unwrap();
    house.write("own/mine.toml", &format!("{text}{more}"));
    house.edit("timeout_s = 20", "timeout_s = 20, params = { n = 3 }");
    house.verbose(&["own/", "-n", "1"]).assert().code(0).stdout(
        contains("gone in mine: the peer is missing: install it (")
            .and(contains("no-such-3 does not exist)")),
    );
    assert_eq!(house.count("model", "gone"), 0);
}

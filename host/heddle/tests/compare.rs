//! `heddle compare` with lab programs that are shell scripts: values are computed from the sample's number, so no timing
//! decides a test.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::contains;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A lab whose experiments are `b1-switch` and `a1-matrix` in name only and not built, and, outside of it, `own/` with an
/// experiment of the user's and the script that it runs.
struct House {
    home: TempDir,
}

/// `$m` is the model, `$n` a parameter, `$s` the sample's number; `line VALUE` prints a good line.
const PREAMBLE: &str = r#"#!/bin/sh
n=1 ok=true
for a; do case $a in --model=*) m=${a#*=};; --n=*) n=${a#*=};; esac; done
s=$HEDDLE_SAMPLE
noise=$(( (s * 7) % 13 ))
line() {
    echo "{\"workload\":\"fifth\",\"model\":\"$m\",\"oracle\":{\"ok\":$ok,\"checked\":\"the sum\"},\"metrics\":{\"wall_ns\":$1},\"counters\":{\"strand_switches\":$n}}"
}
"#;

const EXPERIMENT: &str = r#"
title = "A fifth workload"
workload = "fifth"
metric = { name = "wall_ns", label = "time per item", unit = "ns" }
quick = { timeout_s = 20 }
"#;

impl House {
    fn new() -> Self {
        let house = Self {
            home: tempfile::tempdir().unwrap(),
        };
        for (id, workload) in [("b1-switch", "switch"), ("a1-matrix", "matrix")] {
            let text = EXPERIMENT.replace("\"fifth\"", &format!("\"{workload}\""));
            let text = format!(
                "id = \"{id}\"\n{text}{}",
                program("'{lab}/not-built'", "'serial'")
            );
            house.write(&format!("lab/experiments/{id}.toml"), &text);
        }
        house
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// An experiment `mine` that runs a script as the given models.
    fn mine(&self, script: &str, models: &str, more: &str) {
        let text = format!(
            "id = \"mine\"\n{EXPERIMENT}{}{more}",
            program("'./prog'", models)
        );
        self.write("own/mine.toml", &text);
        self.write("own/prog", &format!("{PREAMBLE}{script}"));
        std::fs::set_permissions(self.path("own/prog"), PermissionsExt::from_mode(0o755)).unwrap();
    }

    /// Changes the text of that experiment.
    fn edit(&self, from: &str, to: &str) {
        let text = std::fs::read_to_string(self.path("own/mine.toml")).unwrap();
        assert!(text.contains(from), "{from} is in {text}");
        self.write("own/mine.toml", &text.replace(from, to));
    }

    fn compare(&self, arguments: &[&str]) -> Command {
        let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin("heddle"));
        // Whoever starts the tests in the background has some of these ignored, and they would stay so.
        let set = || {
            for signal in [libc::SIGINT, libc::SIGHUP, libc::SIGTERM] {
                // SAFETY: signal is async-signal-safe.
                unsafe { libc::signal(signal, libc::SIG_DFL) };
            }
            Ok(())
        };
        // SAFETY: between fork and exec only `signal` is called.
        unsafe { std::os::unix::process::CommandExt::pre_exec(&mut command, set) };
        let mut command = Command::from_std(command);
        command.arg("compare").args(arguments).args(["--seed", "1"]);
        command
            .current_dir(self.home.path())
            .env("HEDDLE_LAB", self.path("lab"));
        command
    }

    /// The page's text, without its markup.
    fn page(&self) -> String {
        let html = std::fs::read_to_string(self.path("report/index.html")).unwrap();
        html.split('<')
            .filter_map(|part| part.split_once('>'))
            .map(|(_, text)| text)
            .collect()
    }

    fn samples(&self) -> Vec<serde_json::Value> {
        let text = std::fs::read_to_string(self.path("report/results.jsonl")).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    fn count(&self, field: &str, value: &str) -> usize {
        self.samples()
            .iter()
            .filter(|sample| sample[field] == value)
            .count()
    }
}

fn program(command: &str, models: &str) -> String {
    format!(
        "\n[[program]]\ncommand = [{command}]\nmodels = [{models}]\nmissing = 'it is not built here'\n"
    )
}

const TWICE: &str = "b=1000; [ $m = slow ] && b=2000; line $(( b + noise ))\n";

const RATIO: &str = r#"
[[claim]]
id = "twice"
words = "half as fast"
form = "ratio"
numerator = "slow"
denominator = "fast"
bound = { min = 1.8, max = 2.2 }
why = ["strand_switches"]
[[claim]]
id = "same"
words = "no difference"
form = "ratio"
numerator = "slow"
denominator = "fast"
bound = { min = 0.8, max = 1.25 }
"#;

#[test]
fn a_planted_factor_of_two_is_found_without_touching_rust() {
    let house = House::new();
    house.mine(TWICE, "'fast', 'slow'", RATIO);
    house
        .compare(&["own/", "-n", "10"])
        .assert()
        .code(0)
        .stdout(
            contains("mine: fast wins at 1.01 µs an item, 1.99× (95 % ")
                .and(contains(" ahead of slow."))
                .and(contains("Claims: 1 reproduced, 1 not reproduced"))
                .and(contains("report/index.html")),
        );
    assert!(
        house.page().contains("fast wins at 1.01"),
        "the page says it, too"
    );
    assert!(
        house.page().contains("Both had 1 strand switch."),
        "and why"
    );
    let samples = house.samples();
    assert_eq!(samples.len(), 20);
    for sample in &samples {
        for field in [
            "machine",
            "seed",
            "command",
            "params",
            "process",
            "started_ns",
        ] {
            assert!(!sample[field].is_null(), "each line says {field}");
        }
        assert!(
            sample["machine"]["host"]
                .as_str()
                .is_some_and(|host| !host.is_empty())
        );
    }
    // Each round has every model once, and the order differs from round to round.
    let order: Vec<&str> = samples
        .iter()
        .map(|sample| sample["model"].as_str().unwrap())
        .collect();
    assert!(
        order.chunks(2).all(|round| round[0] != round[1]),
        "{order:?}"
    );
    assert!(
        order.chunks(2).any(|round| round != &order[..2]),
        "{order:?}"
    );
}

#[test]
fn a_pair_of_the_same_reads_no_significant_difference() {
    let house = House::new();
    house.mine(
        "line $(( 1000 + (s * 7 + ${#m}) % 13 ))\n",
        "'one', 'other'",
        "",
    );
    house
        .compare(&["own/"])
        .assert()
        .code(0)
        .stdout(contains("mine: no significant difference between ").and(contains("wins").not()));
    assert!(house.page().contains("no significant difference"));
    assert_eq!(
        house.samples().len(),
        40,
        "20 samples a cell unless asked otherwise"
    );
}

#[test]
fn an_inconclusive_claim_gets_more_samples_and_a_reference_never_wins() {
    let house = House::new();
    // 3.5 % apart with noise of 6 %, against a bound of 2.6 %.
    let script = "b=1000; [ $m = slow ] && b=1035; line $(( b + (s * s * 7) % 61 ))\n";
    house.mine(
        script,
        "'fast', 'slow', 'serial'",
        &RATIO.replace("min = 1.8, max = 2.2", "min = 1.026"),
    );
    house.edit("workload =", "reference = ['serial']\nworkload =");
    house.compare(&["own/"]).assert().code(0).stdout(
        contains("Additional samples, for claims that the first 20 a cell left inconclusive: ")
            .and(contains("serial").not()),
    );
    let counts = ["fast", "slow", "serial"].map(|model| house.count("model", model));
    assert!(counts[0] > 20 && counts[0] == counts[1], "{counts:?}");
    assert_eq!(counts[2], 20, "no claim speaks of it");
}

#[test]
fn a_sweep_makes_an_axis_groups_and_slopes() {
    let house = House::new();
    let claim = "[[claim]]\nid = 'linear'\nwords = 'w'\nform = 'slope'\nmodel = 'slow'\nalong = 'n'\nat = { opt = 'O2' }\n\
                 bound = { min = 0.9, max = 1.1 }\n[[claim]]\nid = 'swap'\nwords = 'w'\nform = 'crossover'\n\
                 numerator = 'slow'\ndenominator = 'fast'\nalong = 'n'\nat = { opt = 'O2' }\nbound = { min = 9, max = 11 }\n";
    // slow costs 100 an n, fast 500 and 50 an n: they swap at n = 10.
    let script = "v=$(( (100 * n) * 1000 )); [ $m = fast ] && v=$(( (500 + 50 * n) * 1000 )); line $(( v + noise ))\n";
    house.mine(script, "'fast', 'slow'", claim);
    house.edit(
        "timeout_s = 20",
        "timeout_s = 20, sweep = [{ n = [1, 8, 12, 64], opt = ['O0', 'O2'] }]",
    );
    house.edit("workload =", "axis = 'n'\nworkload =");
    let lead = "1.73× (95 % 1.73–1.73) ahead of slow at n=64";
    house.compare(&["own/mine.toml", "-n", "6"]).assert().code(0).stdout(
        contains("reproduced      linear")
            .and(contains("slope 1.000"))
            .and(contains("reproduced      swap"))
            .and(contains("mine, -O0: slow wins up to n=8, "))
            .and(contains(format!("mine, -O2: slow wins up to n=8, 1.12× (95 % 1.12–1.13) ahead of fast at n=8; fast wins from n=12 on, {lead}."))),
    );
}

#[test]
fn two_runs_of_the_same_agree_within_their_intervals() {
    let house = House::new();
    // The noise is of the run and the sample, 5 % wide.
    house.mine(
        "run=$(cat run); line $(( 1000 + (run * 7919 + s * s * 31 + s * 17 + ${#m} * run) % 53 ))\n",
        "'fast', 'slow'",
        RATIO,
    );
    let run = |number: &str| -> heddle_results::Report {
        house.write("own/run", number);
        let output = house.compare(&["own/", "-n", "20", "--json"]).output();
        serde_json::from_slice(&output.unwrap().stdout).unwrap()
    };
    let (a, again) = (run("1"), run("2"));
    let values = |report: &heddle_results::Report, series: usize| {
        let cell = &report.experiments[0].groups[0].series[series].cells[0];
        (cell.values.clone(), cell.median.unwrap())
    };
    for series in 0..2 {
        let ((first, one), (second, other)) = (values(&a, series), values(&again, series));
        assert_ne!(first, second, "the runs are two");
        assert!(one.low < one.high && one.low <= other.high && other.low <= one.high);
    }
    let ratio = |report: &heddle_results::Report| report.experiments[0].claims[1].estimate.unwrap();
    let (one, other) = (ratio(&a), ratio(&again));
    assert!(
        one.low <= other.high && other.low <= one.high,
        "{one:?} {other:?}"
    );
    assert_eq!(
        a.experiments[0].claims[1].verdict,
        again.experiments[0].claims[1].verdict
    );
}

#[test]
fn an_open_claim_says_in_the_terminal_what_would_settle_it_and_why_it_stands_so() {
    let house = House::new();
    // On the bound of 1.8, give or take; slow counts 2 switches, fast 1.
    let script = "b=1000; [ $m = slow ] && { b=1810; n=2; }; line $(( b + (s * s * 7) % 61 ))\n";
    house.mine(script, "'fast', 'slow'", RATIO);
    let output = house.compare(&["own/", "-n", "10"]).assert().code(0);
    let text = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
    let mut lines = text
        .lines()
        .skip_while(|line| !line.contains("inconclusive    twice"));
    let (claim, settles, why) = (lines.next(), lines.next(), lines.next());
    assert!(claim.is_some_and(|line| line.contains("1.8")), "{text}");
    assert!(
        settles.is_some_and(|line| line.contains("samples a cell would settle it (`-n ")
            && line.ends_with("), 10 were taken")),
        "{text}"
    );
    let sentence = "slow had 2 strand switches; fast had 1 strand switch.";
    assert_eq!(why.map(str::trim), Some(sentence), "{text}");
    assert!(house.page().contains(sentence), "the page says it, too");
}

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
        .stdout(contains(
            "samples a cell instead of 20, so that the run takes 6 s if it can",
        ))
        .stderr(
            contains("about 4 s are expected, 6 s are the limit")
                .and(contains("3 cells, 1").and(contains(" samples each: about "))),
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
fn costs_once_and_each_are_told_apart_and_a_model_is_set_against_itself() {
    let house = House::new();
    let claims = "[[claim]]\nid = 'model'\nwords = 'w'\nform = 'lines'\nnumerator = 'many'\ndenominator = 'large'\n\
                  without = 'bare'\nterms = ['switch', 'small', 'others', 'big']\nalong = 'n'\nat = { opt = 'O2' }\n\
                  bound = { min = 30, max = 40 }\n\
                  [[claim]]\nid = 'optimised'\nwords = 'w'\nform = 'ratio'\nmodel = 'many'\n\
                  at = { n = 100, opt = 'O0' }\nagainst = { opt = 'O2' }\nbound = { min = 1.9, max = 2.1 }\n\
                  why = ['strand_switches']\n";
    // At -O2 many costs 200 + 30 n, without its memory 200 + 12 n, large 1100 + 5 n: they meet at n = 36. At -O0 twice that.
    let script = "for a; do case $a in --opt=*) opt=${a#*=};; esac; done\n\
                  case $m in many) v=$(( 200 + 30 * n ));; bare) v=$(( 200 + 12 * n ));; *) v=$(( 1100 + 5 * n ));; esac\n\
                  [ $opt = O0 ] && v=$(( 2 * v )) n=7; line $(( v * 1000 + noise ))\n";
    house.mine(script, "'many', 'large', 'bare'", claims);
    house.edit(
        "timeout_s = 20",
        "timeout_s = 20, sweep = [{ n = [1, 10, 100], opt = ['O0', 'O2'] }]",
    );
    let output = house
        .compare(&["own/", "-n", "6", "--json"])
        .assert()
        .code(0);
    let report: heddle_results::Report =
        serde_json::from_slice(&output.get_output().stdout).unwrap();
    let [model, optimised] = &report.experiments[0].claims[..] else {
        panic!("two claims")
    };
    assert_eq!(model.verdict, heddle_results::Verdict::Reproduced);
    let found: Vec<(&str, f64)> = model
        .coefficients
        .iter()
        .map(|term| (term.name.as_str(), (term.estimate.value / 1000.0).round()))
        .collect();
    let expected = [
        ("switch", 200.0),
        ("small", 18.0),
        ("others", 7.0),
        ("big", 1100.0),
        ("each in large", 5.0),
    ];
    assert_eq!(found, expected, "{}", model.ours);
    assert!(
        model.ours.starts_with("n 36.0 (95 % 36.0–36.0)"),
        "{}",
        model.ours
    );
    let small = &model.coefficients[1].text;
    assert!(small.starts_with("18.0 µs (95 % 18.0–18.0 µs)"), "{small}");
    assert!(
        house.page().contains("each in large"),
        "the page has them, too"
    );
    assert_eq!(optimised.verdict, heddle_results::Verdict::Reproduced);
    assert_eq!(optimised.computed, "many ÷ the same with -O2 at n=100, -O0");
    assert_eq!(
        optimised.why,
        "At n=100, many with -O0 had 7 strand switches; many with -O2 had 100 strand switches."
    );
    for (from, to, error) in [
        (
            "against = { opt = 'O2' }",
            "against = { opt = 'O3' }",
            "quick has no such point to set against n=100, opt=\"O0\"",
        ),
        (
            "against = { opt = 'O3' }",
            "against = { k = 1 }",
            "`against` changes k, so `at` must say it",
        ),
        (
            "'others', 'big'",
            "'others'",
            "terms are four, and need `without`",
        ),
    ] {
        house.edit(from, to);
        house
            .compare(&["own/"])
            .assert()
            .code(2)
            .stderr(contains(error));
    }
}

#[test]
fn a_wrong_result_fails_the_comparison() {
    let house = House::new();
    house.mine(
        "[ $m = slow ] && ok=false; line 1000\n",
        "'fast', 'slow', 'third'",
        RATIO,
    );
    house.compare(&["own/", "-n", "6"]).assert().code(3).stdout(
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
        .compare(&["own/", "-n", "10", "--timeout", "0.5"])
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
            .compare(&["own/", "-n", "6"])
            .assert()
            .code(1)
            .stdout(contains(text).and(contains("there is nothing to compare fast with")));
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
        "own/mine.toml:18: claim twice: no program runs `fats`; did you mean `fast`?",
    ));
}

#[test]
fn what_is_not_built_is_skipped_with_its_reason() {
    let house = House::new();
    house
        .compare(&["b1-switch"])
        .assert()
        .code(1)
        .stdout(
            contains("serial in b1-switch: it is not built here (")
                .and(contains("/lab/not-built does not exist)")),
        )
        .stderr(contains("no program could be run"));
    assert!(house.page().contains("it is not built here"));
    let text = std::fs::read_to_string(house.path("lab/experiments/b1-switch.toml")).unwrap();
    let text = text.replace("missing = 'it is not built here'\n", "");
    house.write("lab/experiments/b1-switch.toml", &text);
    house
        .compare(&["b1-switch"])
        .assert()
        .code(1)
        .stdout(contains("not-built does not exist: build it with `./dev"));
    std::fs::create_dir_all(house.path("empty/experiments")).unwrap();
    for lab in ["nowhere", "empty"] {
        let mut command = house.compare(&[]);
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
        .compare(&["own/", "-n", "6", "-m", "slow"])
        .assert()
        .code(0)
        .stdout(contains("fast did not run: left out by --model").and(contains("Skipped:").not()));
    assert_eq!(house.count("model", "fast"), 0);
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
fn an_interrupted_comparison_writes_what_it_has() {
    let house = House::new();
    for signal in ["INT", "HUP", "TERM"] {
        // The third sample sends the signal that Ctrl-C or a closed terminal sends, then never ends.
        house.mine(
            &format!("[ $s = 2 ] && {{ kill -{signal} $PPID; sleep 600; }}; line 1000\n"),
            "'fast'",
            "",
        );
        house.compare(&["own/"]).assert().code(130).stdout(contains(
            "Partial: interrupted after 2 of at least 20 samples.",
        ));
        assert_eq!(house.samples().len(), 2);
        assert!(house.page().contains("Partial: interrupted"));
        assert!(!house.path("report/results.jsonl.new").exists());
    }
}

#[test]
fn what_nohup_ignores_stays_ignored() {
    let house = House::new();
    house.mine("kill -HUP $PPID; line 1000\n", "'fast'", "");
    let heddle = Command::cargo_bin("heddle").unwrap();
    let status = std::process::Command::new("sh")
        .args(["-c", "trap '' HUP; \"$0\" compare own/ -n 2"])
        .arg(heddle.get_program())
        .current_dir(house.home.path())
        .status();
    assert_eq!(status.unwrap().code(), Some(0));
    assert_eq!(house.samples().len(), 2);
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
    let heddle = Command::cargo_bin("heddle").unwrap();
    let path = heddle.get_program().to_string_lossy().into_owned();
    // The shell that `script` starts has one.
    let inside = format!("(: >/dev/tty) && '{path}' compare own/ -n 2");
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
    let heddle = Command::cargo_bin("heddle").unwrap();
    let output = std::process::Command::new(heddle.get_program())
        .args(["compare", "own/", "-n", "1"])
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
fn too_few_samples_say_nothing() {
    let house = House::new();
    house.mine(TWICE, "'fast', 'slow'", RATIO);
    house.compare(&["own/", "-n", "3"]).assert().code(0).stdout(
        contains("too few samples to tell the models apart: 3 in a cell, at least 6 are needed")
            .and(contains("Claims: 2 inconclusive")),
    );
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
    let heddle = Command::cargo_bin("heddle")
        .unwrap()
        .get_program()
        .to_owned();
    let status = std::process::Command::new("bash")
        .args([
            "-c",
            "\"$0\" compare own/ -n 6 2> >(true) | true; exit ${PIPESTATUS[0]}",
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
fn goals_are_reached_or_not_and_a_table_sets_models_against_its_base() {
    let house = House::new();
    let goals = RATIO.replace("[[claim]]", "[[goal]]");
    let value = "[[goal]]\nid = 'switches'\nwords = 'w'\nform = 'value'\nmetric = 'strand_switches'\nmodel = 'slow'\n\
                 bound = { max = 1 }\n";
    house.mine(TWICE, "'fast', 'slow'", &format!("{goals}{value}"));
    house.edit(
        "workload =",
        "base = 'fast'\ncolumns = ['strand_switches']\nworkload =",
    );
    house
        .compare(&["own/", "-n", "10"])
        .assert()
        .code(0)
        .stdout(
            contains("\nGoals: 2 reached, 1 not reached\n")
                .and(contains("Claims:").not())
                .and(contains("slow ÷ fast: 1.99× (95 % "))
                .and(contains(
                    "strand switches of slow: 1 (95 % 1–1); wanted ≤ 1",
                ))
                .and(contains("\nmine: A fifth workload\n"))
                .and(contains(
                    "time per item          95 %  ÷ fast       95 %  strand switches\n",
                ))
                .and(
                    predicates::str::is_match(
                        r"\n  slow +2\.01 µs  2\.\d\d–2\.\d\d µs   1\.99×  1\.\d\d–2\.\d\d +1\n",
                    )
                    .unwrap(),
                ),
        );
    assert!(
        house.page().contains("not reached"),
        "the page says it, too"
    );
}

#[test]
fn what_cannot_run_here_is_skipped_where_it_says_so() {
    let house = House::new();
    house.mine(
        "[ $m = ring ] && [ $n = 2 ] && { echo 'error: no ring in this kernel: get a newer one' >&2; exit 77; }\n\
         [ $m = gone ] && { echo 'error: no such device' >&2; exit 77; }\n\
         [ $s = 3 ] && [ $m = late ] && exit 77; line $(( 1000 + noise ))\n",
        "'ring', 'gone', 'late', 'plain'",
        "[[claim]]\nid = 'c'\nwords = 'w'\nform = 'ratio'\nnumerator = 'ring'\ndenominator = 'plain'\n\
         over = { n = { min = 1 } }\nbound = { max = 2 }\n",
    );
    house.edit("timeout_s = 20", "timeout_s = 20, sweep = [{ n = [1, 2] }]");
    house.compare(&["own/", "-n", "6"]).assert().code(1).stdout(
        contains("ring in mine: no ring in this kernel: get a newer one (at 1 of 2 points)")
            .and(contains("gone in mine: no such device\n"))
            .and(contains("ring did not run: no ring in this kernel"))
            // What ran before can run: this is a failure.
            .and(contains(
                "late at n=1: 1 of 6 samples crashed: exit code 77",
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
    house.compare(&["own/", "-n", "1"]).assert().code(0).stdout(
        contains("gone in mine: the peer is missing: install it (")
            .and(contains("no-such-3 does not exist)")),
    );
    assert_eq!(house.count("model", "gone"), 0);
}

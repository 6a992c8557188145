//! What `heddle compare` asks by default, prints at the end, and shows of the last report.

use crate::house::{House, RATIO, TWICE, is_match};
use predicates::prelude::*;
use predicates::str::contains;

/// An experiment of Heddle's own that runs, with or without a row in the summary.
fn own(house: &House, id: &str, more: &str) {
    house.mine(TWICE, "'fast', 'slow'", more);
    let text = std::fs::read_to_string(house.path("own/mine.toml")).unwrap();
    let text = text
        .replace("id = \"mine\"", &format!("id = \"{id}\""))
        .replace("'./prog'", "'{lab}/../own/prog'");
    house.write(&format!("lab/experiments/{id}.toml"), &text);
}

/// A lab with two main experiments and two others.
fn lab() -> House {
    let house = House::new();
    let answer = |label: &str, order: u32| {
        format!("[[answer]]\nlabel = '{label}'\nwhy = 'strand_switches'\norder = {order}\n")
    };
    own(&house, "c1-first", &answer("the first question", 2));
    own(&house, "c2-second", &answer("the second question", 1));
    house
}

#[test]
fn the_main_questions_are_asked_unless_more_is_wanted() {
    let house = lab();
    let ids = |arguments: &[&str]| -> Vec<String> {
        let _ = house.compare(arguments).arg("-n1").assert();
        let mut ids: Vec<String> = house
            .samples()
            .iter()
            .map(|sample| sample["experiment"].as_str().unwrap().to_owned())
            .collect();
        ids.sort();
        ids.dedup();
        ids
    };
    assert_eq!(ids(&[]), ["c1-first", "c2-second"]);
    own(&house, "c3-other", "");
    assert_eq!(ids(&[]), ["c1-first", "c2-second"]);
    for all in [&["--all"][..], &["--full"]] {
        assert_eq!(ids(all), ["c1-first", "c2-second", "c3-other"], "{all:?}");
    }
    assert_eq!(ids(&["c3-other"]), ["c3-other"]);
    house.compare(&["--all", "c3-other"]).assert().code(2);
    // The list has all of them.
    house.compare(&["--list"]).assert().code(0).stdout(
        contains("2 of 5 are main: they run when none is named.\n")
            .and(contains("c1-first  main, workload fifth, 2 cells: "))
            .and(contains("c3-other  workload fifth, 2 cells: ")),
    );
}

#[test]
fn it_ends_with_a_line_a_question() {
    let house = lab();
    let output = house.compare(&["-n", "10"]).assert().code(0);
    let output = output.get_output();
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(text.lines().count() <= 40, "{text}");
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    let mut lines = text
        .lines()
        .skip_while(|line| !line.starts_with("WHICH MODEL?"));
    assert_eq!(
        lines.next(),
        Some("WHICH MODEL?         FASTEST (and ties)  OTHERS (times worse)")
    );
    assert_eq!(
        lines.next(),
        Some("the second question  fast 1.01 µs        slow 1.99×")
    );
    assert_eq!(
        lines.next(),
        Some("the first question   fast 1.01 µs        slow 1.99×")
    );
    assert!(text.contains("heddle compare --all"), "{text}");
    assert!(text.ends_with("REPORT   report/index.html\n"), "{text}");
    // And few lines beside it.
    let notes = String::from_utf8(output.stderr.clone()).unwrap();
    assert!(notes.lines().count() <= 6, "{notes}");
    assert!(
        notes.starts_with("comparing 2 experiments, 10 samples a cell (seed 1)\n25 %: "),
        "{notes}"
    );
}

#[test]
fn an_experiment_of_the_last_report_is_shown_without_running_it() {
    let house = lab();
    house
        .compare(&["--show", "c1-first"])
        .assert()
        .code(2)
        .stderr(contains(
            "there is no finished report in report: `heddle compare c1-first` makes one",
        ));
    own(&house, "c3-other", RATIO);
    let _ = house.compare(&["--all", "-n", "10"]).assert();
    let before = house.samples().len();
    house
        .compare(&["--show", "c3-other,c1-first"])
        .assert()
        .code(0)
        .stdout(
            contains("c3-other: A fifth workload\n")
                .and(contains("c3-other: fast wins at 1.01 µs an item"))
                .and(contains("Claims: 1 reproduced, 1 not reproduced\n"))
                .and(contains("reproduced      twice: slow ÷ fast: 1.99× (95 % "))
                .and(contains("Counters, medians of a sample:\n"))
                .and(is_match(r"\n +.*strand switches.*\n  fast .* 1.*\n  slow "))
                .and(contains("A sample again:\n"))
                .and(contains("own/prog --model=fast\n"))
                .and(contains("\nc1-first: A fifth workload\n")),
        );
    assert_eq!(house.samples().len(), before);
    house
        .compare(&["--show", "c3-othr"])
        .assert()
        .code(2)
        .stderr(
            contains("the last report has no experiment `c3-othr`; did you mean `c3-other`?")
                .and(contains("c1-first, c2-second, c3-other")),
        );
    // One that cannot be read is told as one that is not there.
    house.write("report/report.json", "{");
    house
        .compare(&["--show", "c1-first"])
        .assert()
        .code(2)
        .stderr(contains("report.json is not a report of this version: `heddle compare c1-first` makes a new one"));
    // A report of an earlier version has none.
    std::fs::remove_file(house.path("report/report.json")).unwrap();
    let mut command = house.compare(&["--show", "c1-first", "-o", "report"]);
    command.env("HEDDLE_FRONT_DOOR", "./dev");
    command
        .assert()
        .code(2)
        .stderr(contains("`./dev compare c1-first -o report` makes one"));
}

#[test]
fn on_a_terminal_no_line_is_wider_than_it() {
    let house = lab();
    let heddle = assert_cmd::cargo::cargo_bin("heddle-compare");
    let inside = format!(
        "stty cols 66 rows 24; '{}' -n 6 --verbose; '{}' --show c1-first; '{}' --list",
        heddle.display(),
        heddle.display(),
        heddle.display()
    );
    let output = std::process::Command::new("script")
        .args(["-qec", &inside, "/dev/null"])
        .current_dir(house.home.path())
        .env("HEDDLE_LAB", house.path("lab"))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let seen = without_sequences(&text);
    assert!(
        seen.contains("WHICH MODEL?") && seen.contains("Counters"),
        "{seen}"
    );
    for line in seen
        .lines()
        .filter(|line| !line.contains("own/prog --model"))
    {
        // A bar is drawn over the one before.
        let last = line
            .trim_end_matches('\r')
            .rsplit('\r')
            .next()
            .unwrap_or("");
        assert!(last.chars().count() <= 66, "{last:?}");
    }
}

/// Without the sequences that colour a text or move the cursor.
fn without_sequences(text: &str) -> String {
    let mut seen = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\x1b[") {
        seen.push_str(before);
        let end = after.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(0);
        // What is cleared or drawn above begins a line of its own.
        if !after[..=end].ends_with('m') {
            seen.push('\n');
        }
        rest = &after[end + 1..];
    }
    seen + rest
}
